//! A connection's socket, as the processes of that connection use it.
//!
//! Nothing here blocks a thread. [`Socket::read`] and [`Socket::write`] do what
//! can be done at once; [`Socket::ready`] waits. One process may read while
//! another writes, each with a `Socket` of its own, made by [`Socket::try_clone`].
//!
//! WHY it is known to tokio only while somebody waits: tokio's thread is woken
//! for every segment that comes to a socket it knows, whether or not anybody
//! waits for it, and the sender pays for that wake. A connection that always has
//! something to read never waits, and so costs nobody anything.
//!
//! COST: a read or a write is one system call. A wait is two more, and a block of
//! memory, to make the socket known and unknown again.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use purlin::{Process, receive};
use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Socket(TcpStream);

impl Socket {
    /// Takes a stream that was accepted or connected, and has it send at once what is written.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    /// The same connection, for another process.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// Reads what there is; `None` if there is nothing now, 0 if there will be nothing more.
    pub(crate) fn read(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        at_once(|| (&self.0).read(room))
    }

    /// Writes what there is room for; `None` if there is no room now.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        at_once(|| (&self.0).write(bytes))
    }

    /// Says to the other side that nothing more will be written.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.0.shutdown(Shutdown::Write)
    }

    /// Has the operating system give up what the client does not take within that time, also when the
    /// connection has been closed.
    pub(crate) fn give_up_after(&self, time: Duration) {
        // Where that cannot be set it gives up in its own time.
        let _ = SockRef::from(&self.0).set_tcp_user_timeout(Some(time));
    }

    /// Has the last close of it end the connection at once, and drop what has not been sent.
    pub(crate) fn reset(&self) {
        // Where that cannot be set it is closed like any other.
        let _ = SockRef::from(&self.0).set_linger(Some(Duration::ZERO));
    }

    /// Waits until it can be read from or written to, as far as is known.
    ///
    /// *Cancellation*: dropping the future changes nothing.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<()> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe; what that demands holds here, since the descriptor is \
                      borrowed from a stream for as long as tokio knows it"
        )]
        let known = AsyncFd::with_interest(Descriptor(&self.0), interest)?;
        drop(known.ready(interest).await?);
        Ok(())
    }

    /// [`Socket::ready`], but no longer than that: `false` when the time is up. What comes to the
    /// process meanwhile stays in its mailbox.
    pub(crate) async fn ready_within<M: Send + 'static>(
        &self,
        me: &mut Process<M>,
        interest: Interest,
        time: Duration,
    ) -> io::Result<bool> {
        tokio::select! {
            biased;
            ready = self.ready(interest) => ready.map(|()| true),
            () = pass(me, time) => Ok(false),
        }
    }
}

/// Lets time pass, on the clock of the process's node.
pub(crate) async fn pass<M: Send + 'static>(me: &mut Process<M>, time: Duration) {
    receive!(me, { after time => {} });
}

/// What tokio is told of a socket that somebody waits for.
struct Descriptor<'a>(&'a TcpStream);

impl AsRawFd for Descriptor<'_> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn at_once(mut act: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match act() {
            Ok(count) => return Ok(Some(count)),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return Ok(None),
                ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}
