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
//! *Out of descriptors.* Then it says so once, and tries again after [`PAUSE`],
//! until there are some. Whoever wants to connect waits meanwhile.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use purlin::supervisor::{SimpleRef, StartChildError};
use purlin::{Exit, ExitReason, Process, receive};

use super::permits::Room;
use super::shared::{Newcomer, Shared};

/// How long it waits for the operating system to have what it had not.
const PAUSE: Duration = Duration::from_millis(100);

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What goes wrong ends the acceptor, and its supervisor starts another.
pub(crate) async fn acceptor(
    mut me: Process<Exit>,
    listener: Arc<TcpListener>,
    shared: Arc<Shared>,
) -> Result<ExitReason, Failure> {
    me.trap_exit(true);
    let connections = SimpleRef::<Newcomer>::whereis(&shared.connections)?;
    // WHY its own: a descriptor is known to tokio once.
    let listener = tokio::net::TcpListener::from_std(listener.try_clone()?)?;
    let mut room: Option<Room> = None;
    let mut told = false;
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
                    let stream = stream.into_std()?;
                    hand_over(&connections, Newcomer { stream, peer, permit }).await?;
                }
            },
            Err(error) => {
                room = Some(free);
                match error.raw_os_error() {
                    Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) => {
                        shared.counters.exhausted();
                        if !std::mem::replace(&mut told, true) {
                            tracing::warn!(%error, "no connection can be accepted for now");
                        }
                        if let Some(exit) = exit_within(&mut me, PAUSE).await {
                            return Ok(exit.reason);
                        }
                    }
                    _ if is_of_the_client(&error) => {}
                    _ => return Err(error.into()),
                }
                continue;
            }
        }
        told = false;
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

async fn exit_within(me: &mut Process<Exit>, time: Duration) -> Option<Exit> {
    receive!(me, {
        exit => Some(exit),
        after time => None,
    })
}
