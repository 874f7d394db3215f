//! Acceptor process.
//!
//! A server has several acceptors. Each takes a connection slot, accepts a connection and has the
//! connection supervisor start a process for it. An acceptor does no connection I/O and holds at
//! most one connection.
//!
//! *Exit signals.* The acceptor traps exits and reads them only when it holds no connection, so an
//! accepted connection is always handed over. The connection supervisor stops after the acceptors.
//!
//! *Connection limit.* While no slot is free, one of the acceptors checks every [`CHECK`] whether a
//! client is in the kernel's accept queue, and has the connection that has been idle longest give
//! way to it.
//!
//! *File descriptor exhaustion.* All acceptors retry every [`PAUSE`]. Clients wait in the accept
//! queue meanwhile.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use purlin::supervisor::{DynamicSupervisorRef, StartChildError};
use purlin::{Exit, ExitReason, Process};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::connection::Newcomer;
use super::permits::{Permits, Slot};
use crate::connection::counters::Counters;
use crate::connection::event_log::Event;
use crate::connection::resources::{PAUSE, is_resource_exhausted};
use crate::connection::timeout::receive_within;

/// Time between two checks for waiting clients at the connection limit.
///
/// WHY short: a client waits this long for each client before it in the accept queue.
const CHECK: Duration = Duration::from_millis(5);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// State shared by the acceptors of a server.
#[derive(Debug)]
pub(super) struct Acceptors {
    pub(super) listener: TcpListener,
    pub(super) permits: Arc<Permits>,
    pub(super) counters: Arc<Counters>,
    /// Held by the acceptor that makes room for waiting clients.
    pub(super) makes_room: Mutex<()>,
    /// Registered name of the connection supervisor.
    pub(super) connections: String,
}

/// Runs an acceptor. An error ends the process, and the supervisor restarts it.
pub(super) async fn acceptor(
    mut me: Process<Exit>,
    all: Arc<Acceptors>,
) -> Result<ExitReason, Failure> {
    me.trap_exit(true);
    let connections = DynamicSupervisorRef::<Newcomer>::whereis(&all.connections)?;
    let listener = loop {
        // WHY a clone: a descriptor can be registered with tokio only once.
        match all.listener.try_clone().and_then(tokio::net::TcpListener::from_std) {
            Ok(own) => break own,
            Err(error) if is_resource_exhausted(&error) => {
                if let Some(exit) = resources_exhausted(&mut me, &all, &error).await {
                    return Ok(exit.reason);
                }
            }
            Err(error) => return Err(error.into()),
        }
    };
    let mut unused: Option<Slot> = None;
    loop {
        let next = async {
            let slot = match unused.take() {
                Some(slot) => slot,
                None => acquire_slot(&all).await,
            };
            (slot, listener.accept().await)
        };
        let (free, accepted) = tokio::select! {
            biased;
            exit = me.receive() => return Ok(exit.reason),
            next = next => next,
        };
        match accepted {
            Ok((stream, peer)) => match all.permits.admit(free, peer.ip()) {
                Err(free) => {
                    let reached = "connection limit of the address reached";
                    all.counters.events.log(Event::OverAddress, &peer, &reached);
                    unused = Some(free);
                }
                Ok(permit) => {
                    let stream = stream.into_std()?;
                    hand_over(&connections, Newcomer { stream, peer, permit }).await?;
                }
            },
            Err(error) => {
                unused = Some(free);
                if is_resource_exhausted(&error) {
                    if let Some(exit) = resources_exhausted(&mut me, &all, &error).await {
                        return Ok(exit.reason);
                    }
                } else if !is_of_the_client(&error) {
                    return Err(error.into());
                }
            }
        }
    }
}

/// Waits for a connection slot, and meanwhile makes room for waiting clients.
async fn acquire_slot(all: &Acceptors) -> Slot {
    tokio::select! {
        biased;
        slot = all.permits.acquire_slot() => slot,
        never = make_room(all) => match never {},
    }
}

/// Makes room for the clients in the accept queue, unless another acceptor does.
async fn make_room(all: &Acceptors) -> Infallible {
    let _alone = all.makes_room.lock().await;
    loop {
        if has_waiting_client(&all.listener) {
            all.permits.make_room();
        }
        sleep(CHECK).await;
    }
}

/// Whether a client waits in the accept queue.
fn has_waiting_client(listener: &TcpListener) -> bool {
    let mut listener = [PollFd::new(listener, PollFlags::IN)];
    // On failure the next check decides.
    poll(&mut listener, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Has the supervisor start a process for the connection.
async fn hand_over(
    connections: &DynamicSupervisorRef<Newcomer>,
    newcomer: Newcomer,
) -> Result<(), Failure> {
    let peer = newcomer.peer;
    match connections.start_child(newcomer).await {
        Err(error @ StartChildError::NoSupervisor(_)) => Err(error.into()),
        Err(error) => {
            tracing::warn!(%peer, %error, "closed: there is no process for it");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

/// Waits [`PAUSE`] for descriptors to be freed. Returns the exit signal received meanwhile, if any.
async fn resources_exhausted(
    me: &mut Process<Exit>,
    all: &Acceptors,
    error: &io::Error,
) -> Option<Exit> {
    all.counters.resource_exhausted.add(1);
    all.counters.events.log(Event::ResourceExhausted, &"accept", error);
    receive_within(me, PAUSE).await
}

/// Whether the connection failed before it was accepted. The listener is unaffected.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ECONNABORTED
                | libc::EINTR
                | libc::EPROTO
                | libc::EPERM
                | libc::ENETDOWN
                | libc::ENETUNREACH
                | libc::EHOSTDOWN
                | libc::EHOSTUNREACH
                | libc::ENOPROTOOPT
                | libc::EOPNOTSUPP
        )
    )
}
