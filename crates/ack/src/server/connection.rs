//! Connection process.
//!
//! The connection supervisor starts it with a socket from an acceptor. The process creates the
//! handler, runs the server's strategy until that returns the [close reason](CloseReason), and
//! closes the socket once the client has read everything. If the process is killed or its handler
//! panics, the socket is closed immediately, and unacknowledged messages stay unacknowledged.

use std::net::SocketAddr;
use std::sync::Arc;

use purlin::{Exit, ExitReason, Process};

use super::close_reason::CloseReason;
use super::counters::Watched;
use super::reader::Reader;
use super::shared::{Newcomer, Shared};
use super::socket::Socket;
use crate::handler::Handler;
use crate::strategy;

pub(crate) async fn connection<F, H>(
    me: Process<Exit>,
    newcomer: Newcomer,
    shared: Arc<Shared>,
    make: F,
) -> ExitReason
where
    F: Fn(SocketAddr) -> H + Send + 'static,
    H: Handler,
{
    me.trap_exit(true);
    // WHY all fields are bound: the permit must live until the connection is closed.
    let Newcomer { stream, peer, permit: _permit } = newcomer;
    let socket = match Socket::new(stream, shared.tls.as_ref()) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::debug!(%peer, %error, "connection ended before it began");
            return ExitReason::Normal;
        }
    };
    let _watched = Watched(&shared.counters);
    let mut reader = Reader::new(me, socket, shared.silence());
    let end = strategy::run(&mut reader, make(peer), &shared).await;
    tracing::debug!(%peer, %end, "connection ended");
    shared.counters.ended(&end);
    match end.cause() {
        CloseReason::Lost(_) | CloseReason::Replaced => {}
        CloseReason::SlowReader => reader.reset(),
        _ => reader.close().await,
    }
    end.reason()
}
