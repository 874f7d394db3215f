//! The socket of one connection of a load, and TLS above it if the plan says so.
//!
//! Belongs to the connection, on whatever thread that is. Writes never wait; a read
//! waits if it is told to, for the time that is set, and for one thing to come. Over
//! TLS that may be a part of a record, in which there is nothing to read yet.
//!
//! COST: a read or a write is one call of the system, over TLS as over TCP; TLS writes
//! no more than 64 KiB at a time.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

use crate::attempt::at_once;
use crate::tls::Channel;

/// How everything is written.
const AT_ONCE: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

#[derive(Debug)]
pub(super) struct Socket {
    stream: Arc<TcpStream>,
    tls: Option<Box<Channel>>,
}

/// What has become of an attempt to read.
#[derive(Debug)]
pub(super) enum Came {
    /// So many bytes; none if there will be nothing more.
    Bytes(usize),
    Nothing,
    /// It has waited for as long as it may.
    Late,
}

impl Socket {
    /// Takes a stream of tokio's.
    pub(super) fn new(stream: tokio::net::TcpStream) -> io::Result<Self> {
        let stream = stream.into_std()?;
        stream.set_nonblocking(false)?;
        Ok(Self { stream: Arc::new(stream), tls: None })
    }

    /// The same, and TLS, of which the handshake is done.
    pub(super) fn secured((stream, tls): (tokio::net::TcpStream, Channel)) -> io::Result<Self> {
        Ok(Self { tls: Some(Box::new(tls)), ..Self::new(stream)? })
    }

    /// How long a read waits.
    pub(super) fn set_patience(&self, time: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(time))
    }

    /// What is below, to shut it down from elsewhere.
    pub(super) fn stream(&self) -> Arc<TcpStream> {
        Arc::clone(&self.stream)
    }

    /// Writes what there is room for; `None` if there is no room now.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let mut lent = Lent { stream: &self.stream, waits: false };
        match &mut self.tls {
            None => at_once(|| lent.write(bytes)),
            Some(tls) => tls.write(&mut lent, bytes),
        }
    }

    /// Whether all that was written is on its way; if not, there is no room now.
    pub(super) fn flush(&mut self) -> io::Result<bool> {
        match &mut self.tls {
            None => Ok(true),
            Some(tls) => tls.flush(&mut Lent { stream: &self.stream, waits: false }),
        }
    }

    /// Reads what there is, or waits for it. Who waits has flushed.
    pub(super) fn read(&mut self, room: &mut [u8], waits: bool) -> io::Result<Came> {
        let mut lent = Lent { stream: &self.stream, waits };
        let read = match &mut self.tls {
            None => at_once(|| lent.read(room))?,
            Some(tls) => tls.read(&mut lent, room)?,
        };
        Ok(match read {
            Some(count) => Came::Bytes(count),
            None if lent.waits => Came::Late,
            None => Came::Nothing,
        })
    }

    /// Waits until there is room, or for so long.
    pub(super) fn wait_for_room(&self, most: Duration) -> io::Result<()> {
        let most = Timespec::try_from(most).ok();
        match poll(&mut [PollFd::new(&self.stream, PollFlags::OUT)], most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Says that nothing more will be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.finish(&mut Lent { stream: &self.stream, waits: false })?;
        }
        self.stream.shutdown(Shutdown::Write)
    }
}

/// The stream, for one read or write.
struct Lent<'a> {
    stream: &'a TcpStream,
    /// It has to wait for something to come, and nothing has.
    waits: bool,
}

impl Read for Lent<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let flags = if self.waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let (count, _) = recv(self.stream, room, flags)?;
        // WHY no second wait: a record that comes byte by byte would be waited for for ever.
        self.waits = false;
        Ok(count)
    }
}

impl Write for Lent<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.stream, bytes, AT_ONCE)?)
    }

    // WHY: TLS has a record in each slice, and all of them go with one call.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(sendmsg(self.stream, slices, &mut SendAncillaryBuffer::default(), AT_ONCE)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
