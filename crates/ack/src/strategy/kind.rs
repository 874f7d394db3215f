//! Names, ports and byte orders of the strategies.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::wire::SizeOrder;

/// How a server reads and acknowledges messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One message, one answer.
    RequestReply,
    /// Two reads and a call per message; an ack every 5 ms.
    Throttle,
    /// A call per message; an ack every 5 ms.
    HeadRest,
    /// An ack per read.
    SyncAck,
    /// A separate process acknowledges, independently of the reads.
    AsyncAck,
    /// Reads all that is available, handles it in place and acknowledges it immediately; supports
    /// sessions.
    Best,
}

impl Strategy {
    /// All strategies, slowest first.
    pub const ALL: [Self; 6] = [
        Self::RequestReply,
        Self::Throttle,
        Self::HeadRest,
        Self::SyncAck,
        Self::AsyncAck,
        Self::Best,
    ];

    /// Returns the name: `request-reply`, `throttle`, `head-rest`, `sync-ack`, `async-ack` or
    /// `best`.
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

    /// Returns the default port: 8001 to 8006.
    #[must_use]
    pub fn port(self) -> u16 {
        8001 + self as u16
    }

    /// Returns the byte order in which clients write the size of a message.
    #[must_use]
    pub fn order(self) -> SizeOrder {
        match self {
            Self::RequestReply => SizeOrder::Big,
            _ => SizeOrder::Little,
        }
    }

    /// Returns the default idle timeout; [`Limits`](crate::server::Limits) can override it.
    #[must_use]
    pub fn idle_timeout(self) -> Duration {
        Duration::from_secs(if self == Self::Best { 60 } else { 5 })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Error for an unknown strategy name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStrategy(String);

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(f, "there is no strategy '{name}': choose from")?;
        for (number, strategy) in Strategy::ALL.into_iter().enumerate() {
            write!(f, "{} {strategy}", if number == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownStrategy {}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let found = Self::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| UnknownStrategy(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategy_name_is_parsed_and_port_matches() {
        for (number, strategy) in Strategy::ALL.into_iter().enumerate() {
            assert_eq!(strategy.name().parse(), Ok(strategy));
            assert_eq!(usize::from(strategy.port()), 8001 + number);
        }
        assert_eq!(
            "fast".parse::<Strategy>().unwrap_err().to_string(),
            "there is no strategy 'fast': choose from request-reply, throttle, head-rest, \
             sync-ack, async-ack, best"
        );
    }
}
