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
use std::sync::atomic::Ordering;

use purlin::supervisor::{DynamicSupervisorRef, StartChildError};
use purlin::{Exit, ExitReason, Process};

use super::permits::Slot;
use super::resources::{PAUSE, is_resource_exhausted};
use super::shared::{Newcomer, Shared};
use super::timeout::receive_within;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Runs an acceptor. An error ends the process, and the supervisor restarts it.
pub(crate) async fn acceptor(
    mut me: Process<Exit>,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
) -> Result<ExitReason, Failure> {
    me.trap_exit(true);
    let connections = DynamicSupervisorRef::<Newcomer>::whereis(&shared.connections)?;
    let listener = loop {
        // WHY a clone: a descriptor can be registered with tokio only once.
        match listener.try_clone().and_then(tokio::net::TcpListener::from_std) {
            Ok(own) => break own,
            Err(error) if is_resource_exhausted(&error) => {
                if let Some(exit) = resources_exhausted(&mut me, &shared, &error).await {
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
                None => shared.permits.acquire_slot().await,
            };
            (room, listener.accept().await)
        };
        let (free, accepted) = tokio::select! {
            biased;
            exit = me.receive() => return Ok(exit.reason),
            next = next => next,
        };
        match accepted {
            Ok((stream, peer)) => match shared.permits.admit(free, peer.ip()) {
                Err(free) => {
                    tracing::debug!(%peer, "closed: its address has too many connections");
                    room = Some(free);
                }
                Ok(permit) => {
                    // ORDER: relaxed, here and where the flag is set: it publishes no other data.
                    shared.short.store(false, Ordering::Relaxed);
                    let stream = stream.into_std()?;
                    hand_over(&connections, Newcomer { stream, peer, permit }).await?;
                }
            },
            Err(error) => {
                room = Some(free);
                if is_resource_exhausted(&error) {
                    if let Some(exit) = resources_exhausted(&mut me, &shared, &error).await {
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
    shared: &Shared,
    error: &io::Error,
) -> Option<Exit> {
    shared.counters.exhausted();
    if !shared.short.swap(true, Ordering::Relaxed) {
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
