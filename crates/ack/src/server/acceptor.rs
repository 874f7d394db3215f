//! A process that lets clients in.
//!
//! There are some of them for each server. Each takes room, accepts, and has the
//! supervisor of the connections start a process for the connection. What it does
//! not do: read, write, or hold more than one connection.
//!
//! *Told to end.* It traps exits and looks at them only where it has accepted
//! nothing, so a connection that was accepted is always handed over. The
//! supervisor of the connections ends after the acceptors.
//!
//! *Out of descriptors.* Then one of them says so, once, and they try again after
//! [`PAUSE`], until there are some. Whoever wants to connect waits meanwhile.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use purlin::supervisor::{SimpleRef, StartChildError};
use purlin::{Exit, ExitReason, Process};

use super::permits::Room;
use super::shared::{Newcomer, Shared};
use super::shortage::{PAUSE, is_for_want};
use super::waiting::receive_within;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What goes wrong ends the acceptor, and its supervisor starts another.
pub(crate) async fn acceptor(
    mut me: Process<Exit>,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
) -> Result<ExitReason, Failure> {
    me.trap_exit(true);
    let connections = SimpleRef::<Newcomer>::whereis(&shared.connections)?;
    let listener = loop {
        // WHY its own: a descriptor is known to tokio once.
        match listener.try_clone().and_then(tokio::net::TcpListener::from_std) {
            Ok(own) => break own,
            Err(error) if is_for_want(&error) => {
                if let Some(exit) = shortage(&mut me, &shared, &error).await {
                    return Ok(exit.reason);
                }
            }
            Err(error) => return Err(error.into()),
        }
    };
    let mut room: Option<Room> = None;
    loop {
        let next = async {
            let room = match room.take() {
                Some(room) => room,
                None => shared.permits.room().await,
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
                    // ORDER: relaxed, here and where it is set, because it carries nothing but itself.
                    shared.short.store(false, Ordering::Relaxed);
                    let stream = stream.into_std()?;
                    hand_over(&connections, Newcomer { stream, peer, permit }).await?;
                }
            },
            Err(error) => {
                room = Some(free);
                if is_for_want(&error) {
                    if let Some(exit) = shortage(&mut me, &shared, &error).await {
                        return Ok(exit.reason);
                    }
                } else if !is_of_the_client(&error) {
                    return Err(error.into());
                }
            }
        }
    }
}

/// Has a process started for the connection.
async fn hand_over(connections: &SimpleRef<Newcomer>, newcomer: Newcomer) -> Result<(), Failure> {
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

/// Lets some time pass in which there may be descriptors again; why it is to end, if it is.
async fn shortage(me: &mut Process<Exit>, shared: &Shared, error: &io::Error) -> Option<Exit> {
    shared.counters.exhausted();
    if !shared.short.swap(true, Ordering::Relaxed) {
        tracing::warn!(%error, "no connection can be accepted for now");
    }
    receive_within(me, PAUSE).await
}

/// Whether a connection has gone wrong before it was accepted, which is no matter of the listener's.
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
