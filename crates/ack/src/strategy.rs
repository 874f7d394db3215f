//! The six servers by name, and what a client has to know of each. Pure.
//!
//! | strategy | port | sizes | answers |
//! |---|---|---|---|
//! | request-reply | 8001 | big-endian | 8 bytes for each message |
//! | throttle | 8002 | little-endian | acks |
//! | head-rest | 8003 | little-endian | acks |
//! | sync-ack | 8004 | little-endian | acks |
//! | async-ack | 8005 | little-endian | acks |
//! | best | 8006 | little-endian | acks, and refusals in a session |

use std::fmt;
use std::str::FromStr;

use crate::checked::Checked;
use crate::wire::SizeOrder;

/// How a server reads and when it answers.
///
/// ```
/// use purlin_ack::strategy::Strategy;
///
/// let strategy: Strategy = "sync-ack".parse().unwrap();
/// assert_eq!((strategy.port(), strategy.to_string().as_str()), (8004, "sync-ack"));
/// let unknown = "sync".parse::<Strategy>().unwrap_err();
/// assert_eq!(
///     unknown.to_string(),
///     "no strategy \"sync\", only request-reply, throttle, head-rest, sync-ack, async-ack and best"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One message at a time, each answered.
    RequestReply,
    /// Two reads for each message, an ack every 5 ms.
    Throttle,
    /// Whatever there is, an ack every 5 ms.
    HeadRest,
    /// Whatever there is, an ack for each read.
    SyncAck,
    /// Whatever there is, acks by another process.
    AsyncAck,
    /// Whatever there is, an ack for each batch that is taken responsibility for; sessions.
    Best,
}

impl Strategy {
    /// All of them, in the order of their ports.
    pub const ALL: [Self; 6] = [
        Self::RequestReply,
        Self::Throttle,
        Self::HeadRest,
        Self::SyncAck,
        Self::AsyncAck,
        Self::Best,
    ];

    /// Where it is found unless it is said otherwise.
    #[must_use]
    pub fn port(self) -> u16 {
        8001 + self as u16
    }

    /// How sizes are written to it.
    #[must_use]
    pub fn order(self) -> SizeOrder {
        if self == Self::RequestReply { SizeOrder::Big } else { SizeOrder::Little }
    }

    /// What its answers are, outside of a session.
    #[must_use]
    pub fn answers(self) -> Checked {
        if self == Self::RequestReply { Checked::replies() } else { Checked::acks() }
    }

    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestReply => "request-reply",
            Self::Throttle => "throttle",
            Self::HeadRest => "head-rest",
            Self::SyncAck => "sync-ack",
            Self::AsyncAck => "async-ack",
            Self::Best => "best",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| Unknown(name.to_owned()))
    }
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [most @ .., last] = Strategy::ALL.map(Strategy::name);
        write!(f, "no strategy {:?}, only {} and {last}", self.0, most.join(", "))
    }
}

impl std::error::Error for Unknown {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name_and_has_its_port() {
        for (strategy, port) in Strategy::ALL.into_iter().zip(8001..) {
            assert_eq!(strategy.name().parse(), Ok(strategy));
            assert_eq!(strategy.port(), port);
        }
    }
}
