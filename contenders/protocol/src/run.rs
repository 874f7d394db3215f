//! What a contender can be asked to run: one variant of [`Run`] per experiment.
//!
//! Built by `parse.rs` only, from parameters that were checked, so that a contender may multiply
//! its counts without fear: no total reaches 2^63.

/// The experiments of the protocol, in the order of its table.
pub const EXPERIMENTS: [&str; 25] = [
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
    "fan-out",
    "call",
    "call-deep",
    "selective",
    "timers",
    "idle-memory",
    "hog",
    "monitor-churn",
    "link-churn",
    "exit-cascade",
    "restart",
    "signals",
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
    /// One sender, many receivers in turn.
    FanOut {
        /// Receivers, at least one.
        processes: u64,
        /// Messages in all.
        n: u64,
    },
    /// One process calls another, again and again.
    Call {
        /// Calls.
        n: u64,
    },
    /// The same while messages that nobody wants wait in the caller's mailbox.
    CallDeep {
        /// Messages that wait.
        waiting: u64,
        /// Calls.
        n: u64,
    },
    /// `reps` times: receive by pattern what stands behind `k` messages that do not match.
    Selective {
        /// Messages that do not match.
        k: u64,
        /// Receives.
        reps: u64,
    },
    /// Set a timer and cancel it, while others are alive.
    Timers {
        /// The others.
        waiting: u64,
        /// Timers set and cancelled.
        n: u64,
    },
    /// Spawn `n` processes that wait for a message that never comes, and let them be.
    IdleMemory {
        /// Processes.
        n: u64,
    },
    /// Round trips while other processes compute for ever.
    Hog(Hog),
    /// Spawn a process under a monitor and receive its down message, again and again.
    MonitorChurn {
        /// Rounds.
        n: u64,
    },
    /// Spawn a process with a link and receive its exit message, again and again.
    LinkChurn {
        /// Rounds.
        n: u64,
    },
    /// A chain of `n` linked processes of which the first is ended; at least one.
    ExitCascade {
        /// Processes in the chain.
        n: u64,
        /// Chains, one after the other.
        reps: u64,
    },
    /// A supervisor that restarts its child `n` times.
    Restart {
        /// Restarts of each supervisor.
        n: u64,
        /// Supervisors, one after the other.
        reps: u64,
    },
    /// Many senders and one receiver, for a time, of messages and exit signals.
    Signals(Signals),
}

/// The parameters of `signals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// When its clock ends.
    pub end: End,
    /// Senders, at least one.
    pub senders: u64,
    /// How long they send, in milliseconds; at least one.
    pub ms: u64,
    /// How many of a hundred signals are exit signals; the others are messages.
    pub exit_percent: u64,
    /// Elements in the list that each signal carries.
    pub s: u64,
    /// 1 if one in 100 000 asks the receiver to keep its queue otherwise instead; 0 if none does.
    pub switch: u64,
    /// How long nobody does anything before the senders start, in milliseconds.
    pub rest_ms: u64,
    /// How many signals may be under way; senders that find more end early.
    pub room: u64,
    /// What the senders' draws begin with: the seed of the request, 0 if it gives none.
    pub seed: u64,
}

impl Signals {
    /// [`s`](Signals::s) as a length.
    #[must_use]
    pub fn length(&self) -> usize {
        usize::try_from(self.s).unwrap_or(usize::MAX)
    }
}

/// When the clock of `signals` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// When the last signal is sent.
    Send,
    /// When the last is received.
    Receive,
}

/// The parameters of `hog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hog {
    /// When a round trip starts.
    pub pace: Pace,
    /// Processes that compute.
    pub hogs: u64,
    /// How long round trips are started, in milliseconds; at least one.
    pub ms: u64,
}

/// When a round trip of `hog` starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every millisecond, whatever happened to the last.
    Open,
    /// When the last is back.
    Closed,
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
            Run::FanOut { .. } => 13,
            Run::Call { .. } => 14,
            Run::CallDeep { .. } => 15,
            Run::Selective { .. } => 16,
            Run::Timers { .. } => 17,
            Run::IdleMemory { .. } => 18,
            Run::Hog(_) => 19,
            Run::MonitorChurn { .. } => 20,
            Run::LinkChurn { .. } => 21,
            Run::ExitCascade { .. } => 22,
            Run::Restart { .. } => 23,
            Run::Signals(_) => 24,
        };
        EXPERIMENTS[place]
    }
}
