//! Helper process of a connection: start, end and writes.
//!
//! A helper is linked to its connection process and runs at the same time, so that one may write
//! while the other reads. If the helper finds the close reason of the connection, it ends with
//! `{shutdown, Found}`, which the connection process does not mistake for a request of another
//! connection to close.
//!
//! Both processes may wait for the socket at the same time, which happens if a client does not
//! read. Tokio registers a descriptor once, so a helper waits on a duplicate. If none is available,
//! it retries after [`PAUSE`].

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use purlin::{Exit, ExitReason, Pid, Process, SpawnError, SpawnOptions, receive};
use tokio::io::Interest;
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::connection::close_reason::CloseReason;
use crate::connection::reader::Reader;
use crate::connection::resources::{PAUSE, is_resource_exhausted};
use crate::connection::socket::Socket;

/// Spawns a helper that traps exits, linked to the connection process.
///
/// WHY it waits until the helper runs: a helper that does not trap exits yet ends when the node stops,
/// and messages that are read meanwhile would not be acknowledged.
pub(super) async fn start<M, F, Fut>(
    reader: &Reader,
    options: SpawnOptions,
    run: F,
) -> Result<Pid<M>, CloseReason>
where
    M: From<Exit> + Send + 'static,
    F: FnOnce(Process<M>) -> Fut + Send + 'static,
    Fut: Future<Output = ExitReason> + Send + 'static,
{
    let (begin, begun) = oneshot::channel();
    let helper = async move |me: Process<M>| {
        me.trap_exit(true);
        // The connection process may have been killed.
        let _ = begin.send(());
        run(me).await
    };
    let helper = match options.link(reader.process()).spawn(helper) {
        Ok(helper) => helper,
        Err(SpawnError::SystemLimit(_)) => {
            return Err(CloseReason::Failed(ExitReason::SystemLimit));
        }
        Err(_) => return Err(CloseReason::ExitSignal(ExitReason::Normal)),
    };
    match begun.await {
        Ok(()) => Ok(helper),
        Err(_) => Err(CloseReason::ExitSignal(helper.ended().await)),
    }
}

/// Close reason of a connection that its helper found.
#[derive(Debug)]
struct Found(CloseReason);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Found {}

/// Returns the exit reason of a helper that found the close reason of the connection.
pub(super) fn found(reason: CloseReason) -> ExitReason {
    ExitReason::shutdown_with(Found(reason))
}

/// Waits for the end of a helper. Fails with the close reason of the connection, unless the helper
/// ended with `normal`.
pub(super) async fn join<M: Send + 'static>(helper: &Pid<M>) -> Result<(), CloseReason> {
    match helper.ended().await {
        ExitReason::Normal => Ok(()),
        ExitReason::ShutdownWith(why) => {
            let found = why.downcast_ref().map(|Found(reason)| reason.clone());
            Err(found.unwrap_or(CloseReason::ExitSignal(ExitReason::Normal)))
        }
        // A handler panicked in the helper, or the helper was killed.
        reason => Err(CloseReason::Failed(reason)),
    }
}

/// Writes all bytes and flushes. Fails if the client makes no room for `timeout`, or if a message
/// for which `ends` returns `true` arrives.
///
/// After a failure nothing more may be written: half an ack may have been sent.
pub(super) async fn write_all<M: Send + 'static>(
    me: &mut Process<M>,
    socket: &Socket,
    mut bytes: &[u8],
    timeout: Duration,
    ends: impl Fn(&M) -> bool,
) -> Result<(), CloseReason> {
    while !socket.write(&mut bytes).map_err(CloseReason::lost)? {
        tokio::select! {
            biased;
            ready = writable(socket.duplicate()) => ready.map_err(CloseReason::lost)?,
            end = async { receive!(me, {
                message if ends(&message) => CloseReason::ExitSignal(ExitReason::Normal),
                after timeout => CloseReason::SlowReader,
            }) } => return Err(end),
        }
    }
    Ok(())
}

/// Waits until the duplicate is writable. Without a free descriptor, returns after [`PAUSE`].
async fn writable(duplicate: io::Result<Socket>) -> io::Result<()> {
    match duplicate {
        Ok(socket) => socket.ready(Interest::WRITABLE).await,
        Err(error) if is_resource_exhausted(&error) => {
            sleep(PAUSE).await;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    use purlin::Node;
    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    use super::*;

    /// Returns the server side and the client side of a connection.
    fn connected() -> (Socket, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let client = TcpStream::connect(address).expect("the listener is open");
        let (stream, _) = listener.accept().expect("the client has connected");
        (Socket::new(stream, None).expect("it is connected"), client)
    }

    #[test]
    fn blocked_write_ends_only_on_the_matching_message() {
        let (socket, _deaf) = connected();
        let node = Node::builder().workers(1).build().expect("a node starts");
        let ended = node.block_on(async move |_: Process<()>| {
            let writer = purlin::spawn(async move |mut me: Process<u8>| {
                let bytes = vec![0; 64 << 20];
                let day = Duration::from_secs(86_400);
                let written = write_all(&mut me, &socket, &bytes, day, |exit| *exit == 2).await;
                assert_eq!(me.flush(), [1, 3], "the others stay");
                written.map_or_else(found, |()| ExitReason::Normal)
            });
            (1..=3).for_each(|exit| writer.send(exit));
            join(&writer).await
        });
        node.stop_blocking();
        assert!(matches!(ended, Err(CloseReason::ExitSignal(ExitReason::Normal))), "{ended:?}");
    }

    #[test]
    fn wait_without_descriptor_retries_and_other_errors_are_returned() {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().expect("it starts");
        let again = |number| runtime.block_on(writable(Err(io::Error::from_raw_os_error(number))));
        assert!(again(libc::EMFILE).is_ok());
        assert_eq!(
            again(libc::EBADF).map_err(|error| error.raw_os_error()),
            Err(Some(libc::EBADF))
        );
    }

    #[test]
    fn two_processes_may_wait_at_the_same_time_for_different_things() {
        let (writes, client) = connected();
        let reads = writes.clone();
        let runtime = Builder::new_current_thread().enable_all().build().expect("it starts");
        runtime.block_on(async {
            let (mut written, mut sent) = (0, false);
            let block = [0; 1 << 16];
            let mut room = true;
            while room {
                let mut rest = &block[..];
                room = writes.write(&mut rest).expect("it is connected");
                written += block.len() - rest.len();
            }
            let mut room = std::pin::pin!(writable(writes.duplicate()));
            tokio::select! {
                biased;
                _ = &mut room => panic!("there is no room"),
                () = yield_now() => {}
            }
            tokio::select! {
                _ = &mut room => panic!("there is no room"),
                ready = reads.ready(Interest::READABLE) => ready.expect("both may wait"),
                () = async {
                    yield_now().await;
                    assert_eq!((&client).write(&[1]).expect("it is connected"), 1);
                    sent = true;
                    std::future::pending().await
                } => {}
            }
            assert!(sent, "it was ready before anything came");
            let mut taken = vec![0; written];
            (&client).read_exact(&mut taken).expect("it was written");
            room.await.expect("it is connected");
            assert!(writes.write(&mut &[2][..]).expect("it is connected"), "there is room");
        });
    }
}
