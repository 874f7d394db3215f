//! A connection, with the timeouts of the protocol.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use may::io::{SplitIo, SplitReader, SplitWriter};
use may::net::TcpStream;

/// How long a client may stay idle, or leave its acks unread.
const SILENCE: Duration = Duration::from_secs(5);

/// A connection or its reading half, and whether the server is stopped. Its stream then ends after
/// the pending read, which ends at the idle timeout at the latest.
pub(super) struct Connection<S = TcpStream> {
    pub(super) stream: S,
    stopped: Arc<AtomicBool>,
}

impl<S: Read> Read for Connection<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // ORDER: relaxed, as the store in `stop`: no other data depends on it.
        if self.stopped.load(Ordering::Relaxed) { Ok(0) } else { self.stream.read(buffer) }
    }
}

impl Connection {
    /// Sets the timeouts and `TCP_NODELAY`.
    pub(super) fn new(stream: TcpStream, stopped: &Arc<AtomicBool>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(Some(SILENCE))?;
        Ok(Connection { stream, stopped: Arc::clone(stopped) })
    }

    /// Returns the reading half and the writing half, for two coroutines.
    pub(super) fn split(
        self,
    ) -> io::Result<(Connection<SplitReader<TcpStream>>, SplitWriter<TcpStream>)> {
        let (stream, writer) = self.stream.split()?;
        Ok((Connection { stream, stopped: self.stopped }, writer))
    }
}
