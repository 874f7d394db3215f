//! Socket of a connection, shared by the processes of that connection.
//!
//! No method blocks a thread. [`Socket::read`] and [`Socket::write`] do what is possible
//! immediately; [`Socket::ready`] waits. One process may read while another writes, each with a
//! clone of the `Socket`. The clones share one descriptor, so an accepted connection needs no
//! further descriptor.
//!
//! WHY it is registered with tokio only during a wait: tokio's I/O thread is woken for every
//! segment that arrives at a registered socket, whether or not a process waits for it, and the
//! sender pays for that wakeup. A connection that always has data to read never waits and causes no
//! wakeups.
//!
//! With TLS, the clones share one channel behind a lock, which is held for a read or a write and
//! never during a wait.
//!
//! COST: a read or a write is one system call. A wait is two more and an allocation, to register
//! and deregister the socket.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::session_table::Fingerprint;
use crate::nonblocking::now_or_would_block;
use crate::tls::Channel;
use crate::tls::server::Tls;

/// Server side of a connection. Clones refer to the same socket, for other processes.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    stream: Arc<TcpStream>,
    tls: Option<Arc<Mutex<Channel>>>,
}

impl Socket {
    /// Wraps an accepted stream and sets `TCP_NODELAY`.
    pub(crate) fn new(stream: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let channel = tls.map(Tls::accept).transpose()?;
        let tls = channel.map(|channel| Arc::new(Mutex::new(channel)));
        Ok(Self { stream: Arc::new(stream), tls })
    }

    /// Reads what is available. Returns `None` if nothing is available now, 0 at the end of the
    /// stream.
    pub(crate) fn read(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.tls {
            None => now_or_would_block(|| (&*self.stream).read(room)),
            Some(tls) => lock(tls).read(&mut &*self.stream, room),
        }
    }

    /// Writes and flushes what fits, and advances `bytes` past it. Returns whether everything was
    /// passed to the kernel; if not, the socket buffer is full.
    pub(crate) fn write(&self, bytes: &mut &[u8]) -> io::Result<bool> {
        while !bytes.is_empty() || !self.flush()? {
            let written = match &self.tls {
                None => now_or_would_block(|| (&*self.stream).write(bytes))?,
                Some(tls) => lock(tls).write(&mut &*self.stream, bytes)?,
            };
            match written {
                Some(count) => *bytes = &bytes[count..],
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn flush(&self) -> io::Result<bool> {
        match &self.tls {
            None => Ok(true),
            Some(tls) => lock(tls).flush(&mut &*self.stream),
        }
    }

    /// Shuts down the writing half. Returns `false` if the socket buffer is full. Bytes read
    /// afterwards must be ignored: they are no longer decrypted.
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

    /// Returns the address of the client.
    pub(crate) fn peer(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }

    /// Returns the digest of the client's certificate, once something was read. Returns `None`
    /// without TLS or without a certificate.
    pub(crate) fn certificate(&self) -> Option<Fingerprint> {
        lock(self.tls.as_ref()?).certificate()
    }

    /// Frees memory until there is something to read.
    pub(crate) fn rest(&self) {
        if let Some(tls) = &self.tls {
            lock(tls).rest();
        }
    }

    /// Sets the time after which the kernel gives up on unacknowledged data, also after a close.
    pub(crate) fn give_up_after(&self, time: Duration) {
        // On failure the system default applies.
        #[cfg(target_os = "linux")]
        let _ = SockRef::from(&*self.stream).set_tcp_user_timeout(Some(time));
        #[cfg(not(target_os = "linux"))]
        let _ = time;
    }

    /// Makes the last close reset the connection and discard unsent data.
    pub(crate) fn reset(&self) {
        // On failure the connection is closed normally.
        let _ = SockRef::from(&*self.stream).set_linger(Some(Duration::ZERO));
    }

    /// Duplicates the descriptor, so that two processes can wait at the same time. Tokio registers a
    /// descriptor once.
    pub(crate) fn duplicate(&self) -> io::Result<Self> {
        Ok(Self { stream: Arc::new(self.stream.try_clone()?), tls: self.tls.clone() })
    }

    /// Waits until the socket is readable or writable. Spurious wakeups are possible. Fails if
    /// another process waits on the same descriptor.
    ///
    /// *Cancellation*: dropping the future has no effect.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<()> {
        let interest = match &self.tls {
            None => interest,
            Some(tls) => lock(tls).awaits(interest),
        };
        #[expect(
            deprecated,
            reason = "its successor is unsafe; what that demands holds here, since the descriptor \
                      is borrowed from a stream for as long as tokio knows it"
        )]
        let known = AsyncFd::with_interest(Descriptor(&self.stream), interest)?;
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

fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    // WHY poisoning is ignored: a panic under the lock ends all processes of the connection.
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}
