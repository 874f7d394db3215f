//! What a contender can be asked to run: one variant of [`Run`] per experiment.
//!
//! Built by the parser only from parameters that were checked, so that a contender may multiply
//! its counts without fear: no total reaches 2^63.

use crate::params::{COUNT_MAX, LENGTH_MAX, PROCESSES_MAX, Params, REPS_MAX};

/// The experiments of the protocol, in the order of its table.
pub const EXPERIMENTS: [&str; 13] = [
    "call-vs-send",
    "tail-call",
    "spawn-chain",
    "exchange",
    "message-size",
    "bandwidth",
    "serial-spawn",
    "ping-pong",
    "throughput",
    "fan-in",
    "thread-ring",
    "fork-join",
    "skynet",
];

/// One experiment with its parameters. Every count is checked: see [`Run::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Count down from `n`; `remote` also sends a message at each step.
    CallVsSend {
        /// Whether to send.
        mode: Mode,
        /// Steps to count.
        n: u64,
    },
    /// `reps` times a count down from `n`.
    TailCall {
        /// Steps to count.
        n: u64,
        /// Repetitions within the clock.
        reps: u64,
    },
    /// A chain of `n` processes, each spawned by the one before; at least one.
    SpawnChain {
        /// Processes in the chain.
        n: u64,
        /// Repetitions within the clock.
        reps: u64,
    },
    /// Two processes that work and send each other short messages.
    Exchange(Exchange),
    /// The same with lists for messages.
    MessageSize(Payload),
    /// The same again; the lab reads it in elements per second.
    Bandwidth(Payload),
    /// `m` chains side by side of `total` processes in all; `1 <= m <= total`.
    SerialSpawn {
        /// Chains.
        m: u64,
        /// Processes in all chains together.
        total: u64,
    },
    /// Two processes in lock-step.
    PingPong {
        /// Round trips.
        n: u64,
    },
    /// One sender, one receiver.
    Throughput {
        /// Messages.
        n: u64,
    },
    /// Many senders, one receiver.
    FanIn {
        /// Senders, at least one.
        senders: u64,
        /// Messages in all.
        n: u64,
    },
    /// A token that makes `n` hops round a ring.
    ThreadRing {
        /// Processes in the ring, at least one.
        processes: u64,
        /// Hops, at least one.
        n: u64,
    },
    /// One process spawns `n`; each reports to it and ends.
    ForkJoin {
        /// Processes.
        n: u64,
    },
    /// A tree of ten children per node.
    Skynet {
        /// Leaves, a power of ten.
        leaves: u64,
    },
}

/// The two halves of `call-vs-send`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Count and do nothing else.
    Local,
    /// Count and send.
    Remote,
}

/// What happens to the payload of a message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// It changes hands.
    Moved,
    /// The sender deep-copies it for each send.
    Copied,
}

impl Variant {
    /// The name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Variant::Moved => "moved",
            Variant::Copied => "copied",
        }
    }
}

/// The parameters of `exchange`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Messages that each of the two sends.
    pub n: u64,
    /// Pieces of work that each of the two does, at least one.
    pub pieces: u64,
    /// Steps of work in one piece.
    pub work: u64,
    /// Repetitions within the clock.
    pub reps: u64,
}

impl Exchange {
    /// Messages that must be sent, and received, over all repetitions.
    #[must_use]
    pub fn messages(&self) -> u64 {
        2 * self.n * self.reps
    }
}

/// The parameters of `message-size` and `bandwidth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Who sends how much, and when.
    pub exchange: Exchange,
    /// Elements in each message's list.
    pub s: u64,
    /// What happens to the list on its way.
    pub variant: Variant,
}

impl Payload {
    /// [`s`](Payload::s) as a length.
    #[must_use]
    pub fn length(&self) -> usize {
        // `s` is at most LENGTH_MAX, which fits any usize that this can be built for.
        usize::try_from(self.s).unwrap_or(usize::MAX)
    }
}

impl Run {
    /// Reads the parameters of one experiment and checks every one of them.
    ///
    /// `variants` are those that this contender can run, the natural one first: that one is meant
    /// where a request names none. A contender without variants cannot run the experiments that
    /// have them.
    ///
    /// # Errors
    ///
    /// One line that says which experiment or parameter is wrong and what would be right.
    pub fn parse(
        experiment: &str,
        params: &serde_json::Map<String, serde_json::Value>,
        variants: &[Variant],
    ) -> Result<Run, String> {
        let mut p = Params::new(experiment, params);
        let run = match experiment {
            "call-vs-send" => Run::CallVsSend {
                mode: p.choice("mode", &[("local", Mode::Local), ("remote", Mode::Remote)])?,
                n: p.integer("n", 0, COUNT_MAX)?,
            },
            "tail-call" => Run::TailCall { n: p.integer("n", 0, COUNT_MAX)?, reps: p.reps()? },
            "spawn-chain" => Run::SpawnChain { n: p.integer("n", 1, COUNT_MAX)?, reps: p.reps()? },
            "exchange" => Run::Exchange(exchange(&mut p)?),
            "message-size" => Run::MessageSize(payload(&mut p, variants)?),
            "bandwidth" => Run::Bandwidth(payload(&mut p, variants)?),
            "serial-spawn" => {
                let total = p.integer("total", 1, COUNT_MAX)?;
                let m = p.integer("m", 1, PROCESSES_MAX)?;
                if m > total {
                    return Err(p.wrong(&format!("m is {m}, more than the total of {total}")));
                }
                Run::SerialSpawn { m, total }
            }
            "ping-pong" => Run::PingPong { n: p.integer("n", 0, COUNT_MAX)? },
            "throughput" => Run::Throughput { n: p.integer("n", 0, COUNT_MAX)? },
            "fan-in" => Run::FanIn {
                senders: p.integer("senders", 1, PROCESSES_MAX)?,
                n: p.integer("n", 0, COUNT_MAX)?,
            },
            "thread-ring" => Run::ThreadRing {
                processes: p.integer("processes", 1, PROCESSES_MAX)?,
                n: p.integer("n", 1, COUNT_MAX)?,
            },
            "fork-join" => Run::ForkJoin { n: p.integer("n", 0, PROCESSES_MAX)? },
            "skynet" => {
                let leaves = p.integer("leaves", 1, PROCESSES_MAX)?;
                if 10u64.pow(leaves.ilog10()) != leaves {
                    return Err(p.wrong(&format!("leaves is {leaves}, not a power of ten")));
                }
                Run::Skynet { leaves }
            }
            _ => {
                return Err(format!(
                    "unknown experiment {experiment:?}; this contender knows {}",
                    EXPERIMENTS.join(", ")
                ));
            }
        };
        p.finish()?;
        Ok(run)
    }

    /// The experiment's name in the protocol.
    #[must_use]
    pub fn experiment(&self) -> &'static str {
        let place = match self {
            Run::CallVsSend { .. } => 0,
            Run::TailCall { .. } => 1,
            Run::SpawnChain { .. } => 2,
            Run::Exchange(_) => 3,
            Run::MessageSize(_) => 4,
            Run::Bandwidth(_) => 5,
            Run::SerialSpawn { .. } => 6,
            Run::PingPong { .. } => 7,
            Run::Throughput { .. } => 8,
            Run::FanIn { .. } => 9,
            Run::ThreadRing { .. } => 10,
            Run::ForkJoin { .. } => 11,
            Run::Skynet { .. } => 12,
        };
        EXPERIMENTS[place]
    }
}

fn exchange(p: &mut Params<'_>) -> Result<Exchange, String> {
    Ok(Exchange {
        n: p.integer("n", 0, COUNT_MAX)?,
        pieces: p.integer("pieces", 1, COUNT_MAX)?,
        work: p.integer("work", 0, COUNT_MAX)?,
        reps: p.reps()?,
    })
}

fn payload(p: &mut Params<'_>, variants: &[Variant]) -> Result<Payload, String> {
    let exchange = exchange(p)?;
    let s = p.integer("s", 0, LENGTH_MAX)?;
    let known: Vec<_> = variants.iter().map(|v| (v.name(), *v)).collect();
    let variant = match known.first() {
        None => return Err(p.wrong("this contender has no variant of it to offer")),
        Some((_, natural)) => p.choice_or("variant", &known, *natural)?,
    };
    if exchange.messages().checked_mul(s).is_none_or(|elements| elements > i64::MAX as u64) {
        return Err(p.wrong("2·n·s·reps elements are more than can be counted; lower one of them"));
    }
    Ok(Payload { exchange, s, variant })
}

const _: () = assert!(REPS_MAX as u128 * COUNT_MAX as u128 * 2 < 1 << 63);
