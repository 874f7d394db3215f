//! Runs the strategy of a server on a connection.

use std::convert::Infallible;
use std::sync::Arc;

use super::best;
use super::classic::{async_ack, collected, request_reply, sync_ack};
use super::kind::Strategy;
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
