//! Load parameters and presets. Pure.
//!
//! The presets reproduce the experiments of 2015; the preset for `best` has no counterpart there.

use std::fmt;
use std::time::Duration;

use crate::strategy::Strategy;
use crate::tls::client::Tls;
use crate::wire::HEAD;
use crate::wire::session::Level;

/// Maximum memory of the prebuilt writes of all connections, in bytes.
const MOST: u64 = 1 << 30;

/// Parameters of a load.
///
/// ```
/// use purlin_ack::load::Plan;
/// use purlin_ack::strategy::Strategy;
///
/// let plan = Plan { rounds: 3, ..Plan::classic(Strategy::SyncAck) };
/// assert_eq!((plan.address.as_str(), plan.batch), ("127.0.0.1:8004", 50));
/// assert_eq!(plan.check(), Ok(()));
/// let plan = Plan { batch: 0, ..plan };
/// assert_eq!(plan.check().unwrap_err().to_string(), "no messages in a write; give 1 at least");
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// Strategy of the server; determines the byte order of sizes and the format of answers.
    pub strategy: Strategy,
    /// Host and port.
    pub address: String,
    /// Number of concurrent connections.
    pub connections: u32,
    /// Number of rounds. A round starts when the previous one is fully answered.
    pub rounds: u32,
    /// Messages per round and connection.
    pub messages: u64,
    /// Payload size in bytes.
    pub size: u32,
    /// Messages per write.
    pub batch: u32,
    /// Maximum number of unanswered messages per connection. `None`: limited only by the socket
    /// buffers.
    pub window: Option<u64>,
    /// Interval between reads of answers while there is something to write. Otherwise the
    /// connection waits for answers.
    pub poll_interval: Duration,
    /// Whether to set `TCP_NODELAY`.
    pub nodelay: bool,
    /// Opens a session with this acknowledgement level.
    pub level: Option<Level>,
    /// Timeout of every wait for the server.
    pub timeout: Duration,
    /// Connects over TLS and verifies the server's certificate. Without the feature `tls` the only
    /// value is `None`.
    pub tls: Option<Tls>,
}

impl Plan {
    /// Returns the load of 2015 for this strategy, with a server on this machine. For `best`: ten
    /// million messages per round in writes of 272 KiB.
    #[must_use]
    pub fn classic(strategy: Strategy) -> Self {
        let (rounds, messages, batch, window, nodelay) = match strategy {
            Strategy::RequestReply => (100, 10_000, 1, Some(1), false),
            Strategy::Throttle => (20, 100_000, 1, None, false),
            Strategy::HeadRest => (20, 200_000, 50, None, true),
            Strategy::SyncAck => (50, 1_000_000, 50, None, false),
            Strategy::AsyncAck => (20, 2_000_000, 150, None, false),
            Strategy::Best => (20, 10_000_000, 16_384, None, false),
        };
        Self {
            strategy,
            address: format!("127.0.0.1:{}", strategy.port()),
            connections: 1,
            rounds,
            messages,
            size: 5,
            batch,
            window,
            poll_interval: Duration::from_millis(1),
            nodelay,
            level: None,
            timeout: Duration::from_secs(10),
            tls: None,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// Returns [`BadPlan`], which states the problem and the fix.
    pub fn check(&self) -> Result<(), BadPlan> {
        for (number, what) in [
            (u64::from(self.connections), "no connections"),
            (u64::from(self.rounds), "no rounds"),
            (self.messages, "no messages in a round"),
            (u64::from(self.batch), "no messages in a write"),
            (self.window.unwrap_or(1), "no message may be unanswered"),
        ] {
            if number == 0 {
                return Err(BadPlan::Nothing(what));
            }
        }
        if self.timeout.is_zero() {
            return Err(BadPlan::ZeroTimeout);
        }
        if self.level.is_some() && self.strategy != Strategy::Best {
            return Err(BadPlan::NoSession(self.strategy));
        }
        if self.strategy == Strategy::RequestReply && self.window != Some(1) {
            return Err(BadPlan::NotInStep);
        }
        let all = u64::from(self.rounds).checked_mul(self.messages);
        let all = all.and_then(|all| all.checked_mul(self.connections.into()));
        if all.is_none_or(|all| all >= u64::MAX / 2) {
            return Err(BadPlan::TooMany);
        }
        match self.memory() {
            memory if memory > MOST => Err(BadPlan::TooLarge { memory }),
            _ => Ok(()),
        }
    }

    /// Returns the memory of the prebuilt writes of all connections, in bytes.
    fn memory(&self) -> u64 {
        let length = HEAD as u64 + u64::from(self.size);
        let in_a_write =
            u64::from(self.batch).min(self.messages).min(self.window.unwrap_or(u64::MAX));
        length.saturating_mul(in_a_write).saturating_mul(self.connections.into())
    }
}

/// Invalid load parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPlan {
    /// A number that must be at least 1 is 0.
    Nothing(&'static str),
    /// The timeout is zero.
    ZeroTimeout,
    /// A session was requested from a strategy other than `best`.
    NoSession(Strategy),
    /// Request-reply requires a window of 1.
    NotInStep,
    /// The total number of messages overflows.
    TooMany,
    /// The prebuilt writes need too much memory.
    TooLarge {
        /// Required memory in bytes.
        memory: u64,
    },
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(what) => write!(f, "{what}; give 1 at least"),
            Self::ZeroTimeout => {
                f.write_str("no time to wait for the server; give a timeout above 0")
            }
            Self::NoSession(strategy) => {
                write!(f, "{strategy} has no sessions; only best has")
            }
            Self::NotInStep => {
                f.write_str("request-reply is one message at a time; give a window of 1")
            }
            Self::TooMany => f.write_str("more messages than can be counted; give fewer"),
            Self::TooLarge { memory } => write!(
                f,
                "the writes of all connections would take {memory} bytes of memory, more than \
                 {MOST}; give fewer messages in a write, smaller ones or fewer connections"
            ),
        }
    }
}

impl std::error::Error for BadPlan {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_presets_are_those_of_the_experiments() {
        let short = |strategy| {
            let plan = Plan::classic(strategy);
            assert_eq!(plan.check(), Ok(()));
            assert_eq!((plan.connections, plan.size, plan.level), (1, 5, None));
            (plan.rounds, plan.messages, plan.batch, plan.window, plan.nodelay)
        };
        assert_eq!(short(Strategy::RequestReply), (100, 10_000, 1, Some(1), false));
        assert_eq!(short(Strategy::Throttle), (20, 100_000, 1, None, false));
        assert_eq!(short(Strategy::HeadRest), (20, 200_000, 50, None, true));
        assert_eq!(short(Strategy::SyncAck), (50, 1_000_000, 50, None, false));
        assert_eq!(short(Strategy::AsyncAck), (20, 2_000_000, 150, None, false));
        assert_eq!(short(Strategy::Best), (20, 10_000_000, 16_384, None, false));
    }

    #[test]
    fn invalid_plan_is_rejected_with_a_one_line_error() {
        let best = Plan::classic(Strategy::Best);
        let step = Plan::classic(Strategy::RequestReply);
        for (plan, expected) in [
            (Plan { connections: 0, ..best.clone() }, "no connections;"),
            (Plan { rounds: 0, ..best.clone() }, "no rounds;"),
            (Plan { messages: 0, ..best.clone() }, "no messages in a round;"),
            (Plan { window: Some(0), ..best.clone() }, "no message may be unanswered;"),
            (Plan { timeout: Duration::ZERO, ..best.clone() }, "no time to wait"),
            (Plan { window: None, ..step.clone() }, "give a window of 1"),
            (Plan { level: Some(Level::Handled), ..step }, "request-reply has no sessions"),
            (Plan { messages: u64::MAX, ..best.clone() }, "than can be counted"),
            (Plan { size: 1 << 20, ..best }, "would take 17180065792 bytes"),
        ] {
            let bad = plan.check().unwrap_err().to_string();
            assert!(bad.contains(expected) && bad.lines().count() == 1, "{bad}");
        }
    }
}
