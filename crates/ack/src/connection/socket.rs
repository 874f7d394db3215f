//! Socket of a connection, shared by the processes of that connection.
//!
//! No method blocks a thread. [`Socket::read`] and [`Socket::write`] do what is possible
//! immediately; [`Socket::ready`] waits. One process may read while another writes, each with a
//! clone of the `Socket`. The clones share one descriptor, so an accepted connection needs no
//! further descriptor.
//!
//! With TLS, the clones share one channel behind a lock, which is held for a read or a write and
//! never during a wait.
//!
//! COST: that of [`purlin_socket::Socket`].

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::SockRef;
use tokio::io::Interest;

use super::session_table::Fingerprint;
use crate::tls::Channel;
use crate::tls::server::Tls;

/// Server side of a connection. Clones refer to the same socket, for other processes.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    socket: purlin_socket::Socket,
    tls: Option<Arc<Mutex<Channel>>>,
}

impl Socket {
    /// Wraps an accepted stream and sets `TCP_NODELAY`.
    pub(crate) fn new(stream: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        let socket = purlin_socket::Socket::new(stream)?;
        let channel = tls.map(Tls::accept).transpose()?;
        let tls = channel.map(|channel| Arc::new(Mutex::new(channel)));
        Ok(Self { socket, tls })
    }

    /// Reads what is available. Returns `None` if nothing is available now, 0 at the end of the
    /// stream.
    pub(crate) fn read(&self, room: &mut [u8]) -> io::Result<Option<usize>> {
        match &self.tls {
            None => self.socket.read(room),
            Some(tls) => lock(tls).read(&mut self.socket.stream(), room),
        }
    }

    /// Writes and flushes what fits, and advances `bytes` past it. Returns whether everything was
    /// passed to the kernel; if not, the socket buffer is full.
    pub(crate) fn write(&self, bytes: &mut &[u8]) -> io::Result<bool> {
        while !bytes.is_empty() || !self.flush()? {
            let written = match &self.tls {
                None => self.socket.write(bytes)?,
                Some(tls) => lock(tls).write(&mut self.socket.stream(), bytes)?,
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
            Some(tls) => lock(tls).flush(&mut self.socket.stream()),
        }
    }

    /// Shuts down the writing half. Returns `false` if the socket buffer is full. Bytes read
    /// afterwards must be ignored: they are no longer decrypted.
    pub(crate) fn finish(&mut self) -> io::Result<bool> {
        if let Some(tls) = &self.tls
            && !lock(tls).finish(&mut self.socket.stream())?
        {
            return Ok(false);
        }
        self.tls = None;
        self.socket.stream().shutdown(Shutdown::Write)?;
        Ok(true)
    }

    /// Returns the address of the client.
    pub(crate) fn peer(&self) -> io::Result<SocketAddr> {
        self.socket.stream().peer_addr()
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

    /// Returns the capacity of the buffer for encrypted data.
    #[cfg(all(test, feature = "tls"))]
    pub(crate) fn buffered(&self) -> usize {
        self.tls.as_ref().map_or(0, |tls| lock(tls).buffered())
    }

    /// Sets the time after which the kernel gives up on unacknowledged data, also after a close.
    pub(crate) fn give_up_after(&self, time: Duration) {
        // On failure the system default applies.
        #[cfg(target_os = "linux")]
        let _ = SockRef::from(self.socket.stream()).set_tcp_user_timeout(Some(time));
        #[cfg(not(target_os = "linux"))]
        let _ = time;
    }

    /// Makes the last close reset the connection and discard unsent data.
    pub(crate) fn reset(&self) {
        // On failure the connection is closed normally.
        let _ = SockRef::from(self.socket.stream()).set_linger(Some(Duration::ZERO));
    }

    /// Duplicates the descriptor, so that two processes can wait at the same time. Tokio registers a
    /// descriptor once.
    pub(crate) fn duplicate(&self) -> io::Result<Self> {
        Ok(Self { socket: self.socket.duplicate()?, tls: self.tls.clone() })
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
        self.socket.ready(interest).await
    }
}

fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    // WHY poisoning is ignored: a panic under the lock ends all processes of the connection.
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}
