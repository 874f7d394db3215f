//! Six ways to read messages and acknowledge them.
//!
//! The first five are those of the experiments that this crate goes back to, each
//! as slow or as fast as it was meant to be; [`Strategy::Best`] is the one to use.
//! Each is a function that is given a connection and returns why it ended; all of
//! it runs in the connection's process, and in helpers linked to that.
//!
//! | module | reads | acknowledges |
//! |---|---|---|
//! | `request_reply` | one message | each message |
//! | `collected` | for throttle exactly what a message needs, for head-rest whatever there is; hands each message to a `collector` by a call | its `ticker`, every 5 ms |
//! | `sync_ack` | whatever there is | each read |
//! | `async_ack` | whatever there is, and hands blocks to a `responder` | that, every 22nd block or after 5 ms of silence |
//! | `best` | whatever there is, a lot | each batch; knows sessions |
//!
//! `taking` has what is common: how a handler is given a batch, and what is owed then.

mod async_ack;
mod best;
mod collected;
mod collector;
mod opening;
mod request_reply;
mod responder;
mod sync_ack;
mod taking;
mod ticker;

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::Handler;
use crate::server::ending::End;
use crate::server::reader::{Amount, Reader};
use crate::server::shared::Shared;
use crate::wire::SizeOrder;

/// Where the classic strategies read to, in bytes, unless a message is larger.
const BLOCK: usize = 64 << 10;
/// Where those that read whatever there is begin to read to, as long as there is no more.
const LITTLE: usize = 4 << 10;

/// How a server reads messages and acknowledges them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// One message, one answer.
    RequestReply,
    /// Two reads and a call for each message; an ack every 5 ms.
    Throttle,
    /// A call for each message; an ack every 5 ms.
    HeadRest,
    /// An ack for each read.
    SyncAck,
    /// Another process acknowledges, when it finds the time.
    AsyncAck,
    /// Reads all there is, handles it where it lies, acknowledges it at once; knows sessions.
    Best,
}

impl Strategy {
    /// All of them, the slowest first.
    pub const ALL: [Self; 6] = [
        Self::RequestReply,
        Self::Throttle,
        Self::HeadRest,
        Self::SyncAck,
        Self::AsyncAck,
        Self::Best,
    ];

    /// What it is called: `request-reply`, `throttle`, `head-rest`, `sync-ack`, `async-ack`, `best`.
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

    /// The port on which its server listens, unless told: 8001 to 8006.
    #[must_use]
    pub fn port(self) -> u16 {
        8001 + self as u16
    }

    /// How its clients write the size of a message.
    #[must_use]
    pub fn order(self) -> SizeOrder {
        match self {
            Self::RequestReply => SizeOrder::Big,
            _ => SizeOrder::Little,
        }
    }

    /// How long a client may be silent, unless [limited](crate::server::Limits) otherwise.
    #[must_use]
    pub fn silence(self) -> Duration {
        Duration::from_secs(if self == Self::Best { 60 } else { 5 })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no strategy of that name.
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

/// Serves a connection until it ends.
///
/// WHY boxed: a connection is then as large as its own strategy needs, and not as the largest.
pub(crate) async fn run<H: Handler>(reader: &mut Reader, handler: H, shared: &Arc<Shared>) -> End {
    let Err(end): Result<Infallible, End> = match shared.strategy {
        Strategy::RequestReply => Box::pin(request_reply::run(reader, handler, shared)).await,
        Strategy::Throttle => {
            Box::pin(collected::run(reader, handler, shared, Amount::Exact)).await
        }
        Strategy::HeadRest => {
            Box::pin(collected::run(reader, handler, shared, Amount::Available)).await
        }
        Strategy::SyncAck => Box::pin(sync_ack::run(reader, handler, shared)).await,
        Strategy::AsyncAck => Box::pin(async_ack::run(reader, handler, shared)).await,
        Strategy::Best => Box::pin(best::run(reader, handler, shared)).await,
    };
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_found_by_its_name_and_listens_on_its_port() {
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
