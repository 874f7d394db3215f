//! Non-blocking TCP socket, registered with tokio only during a wait.
//!
//! [`Socket::read`] and [`Socket::write`] do what is possible immediately; [`Socket::ready`] waits.
//! One task may read while another writes, each with a clone of the `Socket`. The clones share one
//! descriptor, so an accepted connection needs no further descriptor.
//!
//! WHY it is not registered at all times: tokio's I/O thread is woken for every segment that arrives
//! at a registered socket, whether or not a task waits for it, and the sender pays for that wakeup.
//! A connection that always has data to read never waits and causes no wakeups.
//!
//! COST: a read or a write is one system call. A wait is two more and an allocation, to register
//! and deregister the socket.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::nonblocking::now_or_would_block;

/// A TCP socket. Clones refer to the same descriptor, for other tasks.
#[derive(Clone, Debug)]
pub struct Socket(Arc<TcpStream>);

impl Socket {
    /// Makes a connected stream non-blocking and sets `TCP_NODELAY`.
    ///
    /// # Errors
    /// The system refuses an option.
    pub fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self(Arc::new(stream)))
    }

    /// Returns the stream.
    #[must_use]
    pub fn stream(&self) -> &TcpStream {
        &self.0
    }

    /// Reads what is available. Returns `None` if nothing is available now, 0 at the end of the
    /// stream.
    ///
    /// # Errors
    /// The connection broke.
    pub fn read(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        now_or_would_block(|| self.stream().read(room))
    }

    /// Writes what fits. Returns `None` if the socket buffer is full.
    ///
    /// # Errors
    /// The connection broke.
    pub fn write(&self, bytes: &[u8]) -> io::Result<Option<usize>> {
        now_or_would_block(|| self.stream().write(bytes))
    }

    /// As [`Socket::write`], from several parts.
    ///
    /// # Errors
    /// The connection broke.
    pub fn write_vectored(&self, parts: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        now_or_would_block(|| self.stream().write_vectored(parts))
    }

    /// Duplicates the descriptor, so that two tasks can wait at the same time. Tokio registers a
    /// descriptor once.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn duplicate(&self) -> io::Result<Self> {
        Ok(Self(Arc::new(self.0.try_clone()?)))
    }

    /// Waits until the socket is readable or writable. Spurious wakeups are possible. Must be called
    /// within a tokio runtime.
    ///
    /// *Cancellation*: dropping the future has no effect.
    ///
    /// # Errors
    /// Another task waits on the same descriptor.
    pub async fn ready(&self, interest: Interest) -> io::Result<()> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe; what that demands holds here, since the descriptor \
                      is borrowed from a stream for as long as tokio knows it"
        )]
        let known = AsyncFd::with_interest(Descriptor(&self.0), interest)?;
        drop(known.ready(interest).await?);
        Ok(())
    }
}

/// Descriptor of a stream, for registration with tokio.
struct Descriptor<'a>(&'a TcpStream);

impl AsRawFd for Descriptor<'_> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
