//! Socket of a load connection, with optional TLS.
//!
//! Owned by the connection, on any thread. Writes do not block. A read blocks if requested, for the
//! configured timeout and for one receive; over TLS that may be part of a record, which yields no
//! data yet.
//!
//! COST: one system call per read or write, with and without TLS; a TLS write takes at most 64 KiB.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use purlin_socket::now_or_would_block;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use crate::tls::Channel;

/// Flags of all sends.
const AT_ONCE: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

/// Socket of a connection, encrypted if it has a TLS channel.
#[derive(Debug)]
pub(super) struct Socket {
    stream: Arc<TcpStream>,
    tls: Option<Box<Channel>>,
}

/// Result of an attempt to read.
#[derive(Debug)]
pub(super) enum ReadOutcome {
    /// Number of bytes read; 0 at the end of the stream.
    Bytes(usize),
    Nothing,
    /// The read timed out.
    Late,
}

impl Socket {
    /// Converts a tokio stream into a blocking socket.
    pub(super) fn new(stream: tokio::net::TcpStream) -> io::Result<Self> {
        let stream = stream.into_std()?;
        stream.set_nonblocking(false)?;
        Ok(Self { stream: Arc::new(stream), tls: None })
    }

    /// Like [`new`](Self::new), with a TLS session whose handshake is done.
    pub(super) fn secured((stream, tls): (tokio::net::TcpStream, Channel)) -> io::Result<Self> {
        Ok(Self { tls: Some(Box::new(tls)), ..Self::new(stream)? })
    }

    /// Sets the read timeout.
    pub(super) fn set_read_timeout(&self, time: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(time))
    }

    /// Returns the TCP stream, so that another thread can shut it down.
    pub(super) fn stream(&self) -> Arc<TcpStream> {
        Arc::clone(&self.stream)
    }

    /// Writes as much as fits into the socket buffer. Returns `None` if it is full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let mut lent = Lent { stream: &self.stream, waits: false };
        match &mut self.tls {
            None => now_or_would_block(|| lent.write(bytes)),
            Some(tls) => tls.write(&mut lent, bytes),
        }
    }

    /// Whether everything written was passed to the kernel; if not, the socket buffer is full.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        match &mut self.tls {
            None => Ok(true),
            Some(tls) => tls.flush(&mut Lent { stream: &self.stream, waits: false }),
        }
    }

    /// Reads what is available, or waits for it if `waits` is set. Before waiting, the caller must
    /// flush.
    pub(super) fn read(&mut self, room: &mut [u8], waits: bool) -> io::Result<ReadOutcome> {
        let mut lent = Lent { stream: &self.stream, waits };
        let read = match &mut self.tls {
            None => now_or_would_block(|| lent.read(room))?,
            Some(tls) => tls.read(&mut lent, room)?,
        };
        Ok(match read {
            Some(count) => ReadOutcome::Bytes(count),
            None if lent.waits => ReadOutcome::Late,
            None => ReadOutcome::Nothing,
        })
    }

    /// Waits until the socket is writable, for at most `most`.
    pub(super) fn wait_writable(&self, most: Duration) -> io::Result<()> {
        let most = Timespec::try_from(most).ok();
        match poll(&mut [PollFd::new(&self.stream, PollFlags::OUT)], most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Shuts down the writing half.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.finish(&mut Lent { stream: &self.stream, waits: false })?;
        }
        self.stream.shutdown(Shutdown::Write)
    }
}

/// The stream, borrowed for one read or write.
struct Lent<'a> {
    stream: &'a TcpStream,
    /// Whether the next receive blocks. Still set afterwards if nothing was received.
    waits: bool,
}

impl Read for Lent<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let flags = if self.waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let (count, _) = recv(self.stream, room, flags)?;
        // WHY no second blocking receive: a record that arrives byte by byte would block forever.
        self.waits = false;
        Ok(count)
    }
}

impl Write for Lent<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.stream, bytes, AT_ONCE)?)
    }

    // WHY: TLS passes one record per slice; one call sends all of them.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(sendmsg(self.stream, slices, &mut SendAncillaryBuffer::default(), AT_ONCE)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
