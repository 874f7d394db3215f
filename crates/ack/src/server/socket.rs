//! A connection's socket, as the processes of that connection use it.
//!
//! Nothing here blocks a thread. [`Socket::read`] and [`Socket::write`] do what
//! can be done at once; [`Socket::ready`] waits. One process may read while
//! another writes, each with a clone of the `Socket`; both have one descriptor, so
//! a connection that was accepted needs no more to be served.
//!
//! WHY it is known to tokio only while somebody waits: tokio's thread is woken
//! for every segment that comes to a socket it knows, whether or not anybody
//! waits for it, and the sender pays for that wake. A connection that always has
//! something to read never waits, and so costs nobody anything.
//!
//! Tokio knows a descriptor once, so where both processes wait at the same time, as
//! they may for a client that does not read, who came second has a descriptor more
//! for as long. Where there is none it looks again after [`PAUSE`].
//!
//! With TLS there is a channel between: one for all of them, behind a lock that is
//! held for a read or a write and never while somebody waits.
//!
//! COST: a read or a write is one system call. A wait is two more, and a block of
//! memory, to make the socket known and unknown again.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

use super::shortage::{PAUSE, is_for_want};
use crate::attempt::at_once;
use crate::tls::Channel;
use crate::tls::server::Tls;

/// One end of a connection. A clone is the same end, for another process.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    stream: Arc<TcpStream>,
    tls: Option<Arc<Mutex<Channel>>>,
}

impl Socket {
    /// Takes a stream that was accepted, and has it send at once what is written.
    pub(crate) fn new(stream: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let channel = tls.map(Tls::accept).transpose()?;
        let tls = channel.map(|channel| Arc::new(Mutex::new(channel)));
        Ok(Self { stream: Arc::new(stream), tls })
    }

    /// Reads what there is; `None` if there is nothing now, 0 if there will be nothing more.
    pub(crate) fn read(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.tls {
            None => at_once(|| (&*self.stream).read(room)),
            Some(tls) => lock(tls).read(&mut &*self.stream, room),
        }
    }

    /// Writes what there is room for; `None` if there is no room now. What is written is on its way
    /// when it is [flushed](Self::flush).
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match &self.tls {
            None => at_once(|| (&*self.stream).write(bytes)),
            Some(tls) => lock(tls).write(&mut &*self.stream, bytes),
        }
    }

    /// Whether all that was written is on its way; if not, there is no room now.
    pub(crate) fn flush(&self) -> io::Result<bool> {
        match &self.tls {
            None => Ok(true),
            Some(tls) => lock(tls).flush(&mut &*self.stream),
        }
    }

    /// Says to the other side that nothing more will be written; `false` if there is no room now to
    /// say so. What is read afterwards is of no meaning: it is not decrypted any more.
    pub(crate) fn finish(&mut self) -> io::Result<bool> {
        if let Some(tls) = &self.tls
            && !lock(tls).finish(&mut &*self.stream)?
        {
            return Ok(false);
        }
        self.tls = None;
        self.stream.shutdown(Shutdown::Write)?;
        Ok(true)
    }

    /// Gives memory back until there is something to read again.
    pub(crate) fn rest(&self) {
        if let Some(tls) = &self.tls {
            lock(tls).rest();
        }
    }

    /// Has the operating system give up what the client does not take within that time, also when the
    /// connection has been closed.
    pub(crate) fn give_up_after(&self, time: Duration) {
        // Where that cannot be set it gives up in its own time.
        #[cfg(target_os = "linux")]
        let _ = SockRef::from(&*self.stream).set_tcp_user_timeout(Some(time));
        #[cfg(not(target_os = "linux"))]
        let _ = time;
    }

    /// Has the last close of it end the connection at once, and drop what has not been sent.
    pub(crate) fn reset(&self) {
        // Where that cannot be set it is closed like any other.
        let _ = SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Waits until it can be read from or written to, as far as is known.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<()> {
        let interest = match &self.tls {
            None => interest,
            Some(tls) => lock(tls).awaits(interest),
        };
        match known_until(&self.stream, interest).await {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                ready_again(self.stream.try_clone(), interest).await
            }
            waited => waited,
        }
    }
}

/// The same for a process that comes second, with a descriptor more, if there is one.
async fn ready_again(stream: io::Result<TcpStream>, interest: Interest) -> io::Result<()> {
    match stream {
        Ok(stream) => known_until(&stream, interest).await,
        Err(error) if is_for_want(&error) => {
            sleep(PAUSE).await;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Has tokio know the stream until it can be read from or written to.
async fn known_until(stream: &TcpStream, interest: Interest) -> io::Result<()> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe; what that demands holds here, since the descriptor is \
                  borrowed from a stream for as long as tokio knows it"
    )]
    let known = AsyncFd::with_interest(Descriptor(stream), interest)?;
    drop(known.ready(interest).await?);
    Ok(())
}

/// What tokio is told of a socket that somebody waits for.
struct Descriptor<'a>(&'a TcpStream);

impl AsRawFd for Descriptor<'_> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    // WHY: who panics while it is locked takes all processes of the connection along.
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    use super::*;

    /// The server's end of a connection, and the client's.
    pub(in crate::server) fn connected() -> (Socket, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let address = listener.local_addr().expect("it is bound");
        let client = TcpStream::connect(address).expect("somebody listens");
        let (stream, _) = listener.accept().expect("somebody has come");
        (Socket::new(stream, None).expect("it is connected"), client)
    }

    #[test]
    fn who_finds_no_descriptor_looks_again_and_other_errors_are_told() {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().start_paused(true).build().expect("it starts");
        let again = |number| {
            let error = io::Error::from_raw_os_error(number);
            runtime.block_on(ready_again(Err(error), Interest::READABLE))
        };
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
            while let Some(count) = writes.write(&[0; 1 << 16]).expect("it is connected") {
                written += count;
            }
            let mut room = std::pin::pin!(writes.ready(Interest::WRITABLE));
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
            assert!(writes.write(&[2]).expect("it is connected").is_some(), "there is room");
        });
    }
}
