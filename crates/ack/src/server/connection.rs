//! Connection process.
//!
//! The connection supervisor starts it with a socket from an acceptor. The process creates the
//! handler, runs the server's strategy until that returns the [close reason](CloseReason), and
//! closes the socket once the client has read everything. If the process is killed or its handler
//! panics, the socket is closed immediately, and unacknowledged messages stay unacknowledged.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use purlin::{Exit, ExitReason, Process};

use super::permits::Permit;
use crate::connection::close_reason::CloseReason;
use crate::connection::counters::Watched;
use crate::connection::reader::Reader;
use crate::connection::shared::Shared;
use crate::connection::socket::Socket;
use crate::handler::Handler;
use crate::strategy::{self, Strategy};

/// An accepted connection that an acceptor hands over to a new process.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) permit: Permit,
}

pub(super) async fn connection<F, H>(
    me: Process<Exit>,
    newcomer: Newcomer,
    strategy: Strategy,
    shared: Arc<Shared>,
    make: F,
) -> ExitReason
where
    F: Fn(SocketAddr) -> H + Send + 'static,
    H: Handler,
{
    me.trap_exit(true);
    // WHY bound first: the permit is dropped after the socket, which is created later. The slot is
    // occupied until the connection is closed.
    let Newcomer { stream, peer, permit } = newcomer;
    let socket = match Socket::new(stream, shared.tls.as_ref()) {
        Ok(socket) => socket,
        Err(error) => {
            tracing::debug!(%peer, %error, "connection ended before it began");
            return ExitReason::Normal;
        }
    };
    let _watched = Watched(&shared.counters, peer);
    let charge = shared.counters.budget.charge(permit.register(me.pid()));
    let mut reader = Reader::new(me, socket, shared.idle_timeout, charge);
    let end = strategy::run(strategy, &mut reader, make(peer), &shared).await;
    shared.counters.ended(&end);
    shared.counters.events.closed(&peer, &end);
    match &end {
        CloseReason::Lost(_) | CloseReason::Replaced => {}
        // WHY it does not wait for the client: a new connection waits for the slot.
        CloseReason::GaveWay => reader.socket().give_up_after(shared.idle_timeout),
        // WHY: with an orderly close the kernel would keep the unread answers for minutes, and the
        // client would not learn of the end meanwhile.
        CloseReason::SlowReader => reader.socket().reset(),
        _ => reader.close().await,
    }
    end.reason()
}
