//! Requests to run an experiment: one variant of [`Run`] per experiment.
//!
//! Constructed only by `parse.rs`, from checked parameters, so contenders may multiply the counts:
//! no total reaches 2^63.

use crate::savina::{SAVINA, Savina};
use crate::variants::{Callee, Children, Flow};

/// The experiments of the protocol, in the order of its table.
pub const EXPERIMENTS: [&str; 37] = [
    "call-vs-send",
    "tail-call",
    "spawn-chain",
    "exchange",
    "message-size",
    "bandwidth",
    "message-moved",
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
    "reply-deep",
    "selective",
    "timers",
    "timer-expiry",
    "idle-memory",
    "hog",
    "monitor-churn",
    "link-churn",
    "exit-cascade",
    "restart",
    "signals",
    "banking",
    "bounded-buffer",
    "chameneos",
    "dictionary",
    "logistic-map",
    "philosophers",
    "sieve",
    "big",
    "spread",
];

/// An experiment with its parameters. All counts are checked: see [`Run::parse`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Count down from `n`; in mode `remote`, also send a message at each step.
    CallVsSend {
        /// Whether to send messages.
        mode: Mode,
        /// Number of steps.
        n: u64,
        /// The receiver's mailbox.
        flow: Flow,
    },
    /// Count down from `n`, `reps` times.
    TailCall {
        /// Number of steps.
        n: u64,
        /// Repetitions within the timing.
        reps: u64,
    },
    /// A chain of `n` processes, each spawned by the previous one; at least 1.
    SpawnChain {
        /// Processes in the chain.
        n: u64,
        /// Repetitions within the timing.
        reps: u64,
    },
    /// Two processes that work and send each other short messages.
    Exchange(Exchange),
    /// Like `Exchange`, with lists as messages, which the sender deep-copies for each send.
    MessageSize(Payload),
    /// Like `MessageSize`; the lab reports elements per second.
    Bandwidth(Payload),
    /// Like `MessageSize`, with lists whose ownership is transferred.
    MessageMoved(Payload),
    /// `m` concurrent chains with `total` processes altogether; `1 <= m <= total`.
    SerialSpawn {
        /// Number of chains.
        m: u64,
        /// Number of processes in all chains.
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
        /// The receiver's mailbox.
        flow: Flow,
    },
    /// Many senders, one receiver.
    FanIn {
        /// Number of senders, at least 1.
        senders: u64,
        /// Total number of messages.
        n: u64,
        /// The receiver's mailbox.
        flow: Flow,
    },
    /// A token that makes `n` hops around a ring.
    ThreadRing {
        /// Number of processes in the ring, at least 1.
        processes: u64,
        /// Number of hops, at least 1.
        n: u64,
    },
    /// One process spawns `n` others; each reports to it and ends.
    ForkJoin {
        /// Processes.
        n: u64,
        /// Their lifetime.
        children: Children,
    },
    /// A tree of ten children per node.
    Skynet {
        /// Leaves, a power of ten.
        leaves: u64,
    },
    /// One sender, many receivers in turn.
    FanOut {
        /// Number of receivers, at least 1.
        processes: u64,
        /// Total number of messages.
        n: u64,
    },
    /// One process calls another repeatedly.
    Call {
        /// Calls.
        n: u64,
        /// The called process.
        callee: Callee,
    },
    /// Like `Call`, while unmatched messages are queued in the caller's mailbox.
    CallDeep {
        /// Number of queued messages.
        waiting: u64,
        /// Calls.
        n: u64,
    },
    /// Requests with a fresh reference, and a receive by pattern for each reply, while unmatched
    /// messages are queued in the mailbox.
    ReplyDeep {
        /// Number of queued messages.
        waiting: u64,
        /// Requests.
        n: u64,
    },
    /// `reps` times: a selective receive of a message behind `k` messages that do not match.
    Selective {
        /// Number of messages that do not match.
        k: u64,
        /// Number of receives.
        reps: u64,
    },
    /// Cancel a timer and set another, while a window of timers is alive.
    Timers(Timers),
    /// Set timers that all expire.
    TimerExpiry(Expiry),
    /// Spawn `n` processes that wait for a message that is never sent, and keep them alive.
    IdleMemory {
        /// Processes.
        n: u64,
    },
    /// Round trips while other processes compute without yielding.
    Hog(Hog),
    /// Repeatedly spawn a process with a monitor and receive its down message.
    MonitorChurn {
        /// Rounds.
        n: u64,
    },
    /// Repeatedly spawn a process with a link and receive its exit message.
    LinkChurn {
        /// Rounds.
        n: u64,
    },
    /// A chain of `n` linked processes, at least 1, the first of which is ended.
    ExitCascade {
        /// Number of processes in the chain.
        n: u64,
        /// Number of chains, one after the other.
        reps: u64,
    },
    /// A supervisor that restarts its child `n` times.
    Restart {
        /// Restarts per supervisor.
        n: u64,
        /// Number of supervisors, one after the other.
        reps: u64,
    },
    /// Many senders to one receiver, for a given time, with messages and exit signals.
    Signals(Signals),
    /// A Savina program.
    Savina(Savina),
}

/// The parameters of `signals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// Event that stops the clock.
    pub end: End,
    /// Number of senders, at least 1.
    pub senders: u64,
    /// Duration of sending, in milliseconds; at least 1.
    pub ms: u64,
    /// Percentage of exit signals; the others are messages.
    pub exit_percent: u64,
    /// Number of elements in the list each signal carries.
    pub s: u64,
    /// If 1, one draw in 100 000 asks the receiver to change its queue instead; if 0, none does.
    pub switch: u64,
    /// Duration of the idle period before the senders start, in milliseconds.
    pub rest_ms: u64,
    /// Maximum number of signals in flight; senders end early if it is reached.
    pub room: u64,
    /// Seed of the senders' draws: that of the request, or 0.
    pub seed: u64,
}

impl Signals {
    /// Returns [`s`](Signals::s) as a length.
    #[must_use]
    pub fn length(&self) -> usize {
        usize::try_from(self.s).unwrap_or(usize::MAX)
    }
}

/// Event that stops the clock of `signals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The last signal is sent.
    Send,
    /// The last signal is received.
    Receive,
}

/// The parameters of `timers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Number of timers that are alive, at least 1.
    pub window: u64,
    /// Number of timers cancelled and set.
    pub n: u64,
    /// Seed of the order of cancellation: that of the request, or 0.
    pub seed: u64,
}

/// The parameters of `timer-expiry`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// Number of timers, at least 1.
    pub n: u64,
    /// Time from the begin to the first due time, in milliseconds. All timers are set meanwhile.
    pub after_ms: u64,
    /// Time over which the due times are spread, in milliseconds; 0 for one due time.
    pub spread_ms: u64,
    /// Seed of the due times: that of the request, or 0.
    pub seed: u64,
}

/// The parameters of `hog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hog {
    /// The kind of loop that starts round trips.
    pub pace: LoopKind,
    /// Number of computing processes.
    pub hogs: u64,
    /// Duration of starting round trips, in milliseconds; at least 1.
    pub ms: u64,
}

/// The kind of loop that starts the round trips of `hog`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// Open loop: one start per millisecond, regardless of earlier trips.
    Open,
    /// Closed loop: a start when the previous trip completes.
    Closed,
}

/// The two modes of `call-vs-send`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Count only.
    Local,
    /// Count and send.
    Remote,
}

/// The parameters of `exchange`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Number of messages each of the two processes sends.
    pub n: u64,
    /// Number of pieces of work each of the two does, at least 1.
    pub pieces: u64,
    /// Number of steps in one piece of work.
    pub work: u64,
    /// Repetitions within the timing.
    pub reps: u64,
}

impl Exchange {
    /// Returns the number of messages that must be sent, and received, over all repetitions.
    #[must_use]
    pub fn messages(&self) -> u64 {
        2 * self.n * self.reps
    }
}

/// The parameters of `message-size`, `bandwidth` and `message-moved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Work and message counts.
    pub exchange: Exchange,
    /// Number of elements in each message's list.
    pub s: u64,
}

impl Payload {
    /// Returns [`s`](Payload::s) as a length.
    #[must_use]
    pub fn length(&self) -> usize {
        // `s` is at most LENGTH_MAX, which fits into `usize` on all supported targets.
        usize::try_from(self.s).unwrap_or(usize::MAX)
    }
}

impl Run {
    /// Returns the experiment's name in the protocol.
    #[must_use]
    pub fn experiment(&self) -> &'static str {
        let place = match self {
            Run::CallVsSend { .. } => 0,
            Run::TailCall { .. } => 1,
            Run::SpawnChain { .. } => 2,
            Run::Exchange(_) => 3,
            Run::MessageSize(_) => 4,
            Run::Bandwidth(_) => 5,
            Run::MessageMoved(_) => 6,
            Run::SerialSpawn { .. } => 7,
            Run::PingPong { .. } => 8,
            Run::Throughput { .. } => 9,
            Run::FanIn { .. } => 10,
            Run::ThreadRing { .. } => 11,
            Run::ForkJoin { .. } => 12,
            Run::Skynet { .. } => 13,
            Run::FanOut { .. } => 14,
            Run::Call { .. } => 15,
            Run::CallDeep { .. } => 16,
            Run::ReplyDeep { .. } => 17,
            Run::Selective { .. } => 18,
            Run::Timers(_) => 19,
            Run::TimerExpiry(_) => 20,
            Run::IdleMemory { .. } => 21,
            Run::Hog(_) => 22,
            Run::MonitorChurn { .. } => 23,
            Run::LinkChurn { .. } => 24,
            Run::ExitCascade { .. } => 25,
            Run::Restart { .. } => 26,
            Run::Signals(_) => 27,
            Run::Savina(savina) => return SAVINA[savina.place()],
        };
        EXPERIMENTS[place]
    }
}
