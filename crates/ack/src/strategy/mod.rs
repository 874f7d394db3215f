//! Strategies: six ways to read and acknowledge messages.
//!
//! [`Strategy::Best`] is the one to use; the five classic strategies reproduce the experiments
//! on which this crate is based, with their intended performance. Each strategy is a function that
//! serves a connection and returns its close reason.
//!
//! | module | role |
//! |---|---|
//! | `kind` | names, ports and byte orders |
//! | `best` | reads what is available, in large reads; acknowledges each batch; supports sessions |
//! | `session_handshake` | start of a connection of `best` |
//! | `classic` | the strategies of 2015 |
//! | `handle_batch` | shared code: passes a batch to the handler and adds the pending acks |

mod best;
mod classic;
mod handle_batch;
mod kind;
mod session_handshake;

use std::convert::Infallible;
use std::sync::Arc;

use self::classic::{async_ack, collected, request_reply, sync_ack};
pub use self::kind::{Strategy, UnknownStrategy};
use crate::connection::close_reason::CloseReason;
use crate::connection::reader::{Amount, Reader};
use crate::connection::shared::Shared;
use crate::handler::Handler;

/// Serves a connection until it ends.
///
/// WHY boxed: the future of a connection is then as large as its strategy needs, not as the
/// largest.
pub(crate) async fn run<H: Handler>(
    strategy: Strategy,
    reader: &mut Reader,
    handler: H,
    shared: &Arc<Shared>,
) -> CloseReason {
    let Err(end): Result<Infallible, CloseReason> = match strategy {
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
