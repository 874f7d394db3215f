//! The process of one connection, from its first byte to its last.
//!
//! It is started by the supervisor of the connections with a socket that an
//! acceptor has accepted, makes the handler, does what the server's strategy does
//! until that says [why it ended](super::ending::End), and closes the socket when
//! the client has read everything. Killed, or with a handler that panics, it
//! closes the socket at once; what was not acknowledged by then never is.

use std::net::SocketAddr;
use std::sync::Arc;

use purlin::{Exit, ExitReason, Process};

use super::counts::Watched;
use super::ending::End;
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
    // WHY all of it is bound: the permit is kept until the connection has gone.
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
        End::Lost(_) | End::Replaced => {}
        End::Deaf => reader.reset(),
        _ => reader.close().await,
    }
    end.reason()
}
