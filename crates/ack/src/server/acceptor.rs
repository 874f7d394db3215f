//! Acceptor process.
//!
//! A server has several acceptors. Each takes a connection slot, accepts a connection and has the
//! connection supervisor start a process for it. An acceptor does no connection I/O and holds at
//! most one connection.
//!
//! *Exit signals.* The acceptor traps exits and reads them only when it holds no connection, so an
//! accepted connection is always handed over. The connection supervisor stops after the acceptors.
//!
//! *File descriptor exhaustion.* One acceptor logs it, once, and all of them retry every [`PAUSE`].
//! Clients wait in the kernel's accept queue meanwhile.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use purlin::supervisor::{DynamicSupervisorRef, StartChildError};
use purlin::{Exit, ExitReason, Process};

use super::connection::Newcomer;
use super::permits::{Permits, Slot};
use crate::connection::counters::Counters;
use crate::connection::resources::{PAUSE, is_resource_exhausted};
use crate::connection::timeout::receive_within;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// State shared by the acceptors of a server.
#[derive(Debug)]
pub(super) struct Acceptors {
    pub(super) listener: TcpListener,
    pub(super) permits: Arc<Permits>,
    pub(super) counters: Arc<Counters>,
    /// Whether descriptor exhaustion was logged. Cleared by the next accepted connection.
    pub(super) short: AtomicBool,
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
    let mut room: Option<Slot> = None;
    loop {
        let next = async {
            let room = match room.take() {
                Some(room) => room,
                None => all.permits.acquire_slot().await,
            };
            (room, listener.accept().await)
        };
        let (free, accepted) = tokio::select! {
            biased;
            exit = me.receive() => return Ok(exit.reason),
            next = next => next,
        };
        match accepted {
            Ok((stream, peer)) => match all.permits.admit(free, peer.ip()) {
                Err(free) => {
                    tracing::debug!(%peer, "closed: its address has too many connections");
                    room = Some(free);
                }
                Ok(permit) => {
                    // ORDER: relaxed, here and where the flag is set: it publishes no other data.
                    all.short.store(false, Ordering::Relaxed);
                    let stream = stream.into_std()?;
                    hand_over(&connections, Newcomer { stream, peer, permit }).await?;
                }
            },
            Err(error) => {
                room = Some(free);
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
    all.counters.exhausted.add(1);
    if !all.short.swap(true, Ordering::Relaxed) {
        tracing::warn!(%error, "no connection can be accepted for now");
    }
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
