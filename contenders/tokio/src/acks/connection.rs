//! The two halves of a connection, with the timeouts of the protocol.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use bytes::BufMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How long a client may stay idle, or leave its acks unread.
const SILENCE: Duration = Duration::from_secs(5);

/// The reading half.
pub(super) struct Reader {
    stream: OwnedReadHalf,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
    idle: Pin<Box<Sleep>>,
    /// Time of the last read.
    heard: Instant,
}

impl Reader {
    pub(super) fn new(stream: OwnedReadHalf, mut stopped: watch::Receiver<()>) -> Self {
        Reader {
            stream,
            stopped: Box::pin(async move {
                let _ = stopped.changed().await;
            }),
            idle: Box::pin(sleep(SILENCE)),
            heard: Instant::now(),
        }
    }

    /// Reads available data into the free part of a buffer. Returns the number of bytes; `None` at
    /// the end of the stream, on an error, after the idle timeout, and if the server is stopped.
    pub(super) async fn read(&mut self, buffer: &mut impl BufMut) -> Option<usize> {
        loop {
            tokio::select! {
                biased;
                () = &mut self.stopped => return None,
                read = self.stream.read_buf(buffer) => {
                    self.heard = Instant::now();
                    return read.ok().filter(|read| *read > 0);
                }
                // WHY one timer that is set again when it fires: a timeout for each read would be
                // set and cancelled for each read.
                () = &mut self.idle => {
                    let due = self.heard + SILENCE;
                    if due <= Instant::now() {
                        return None;
                    }
                    self.idle.as_mut().reset(due);
                }
            }
        }
    }

    /// Reads until the buffer is full.
    pub(super) async fn read_exact(&mut self, mut buffer: &mut [u8]) -> Option<()> {
        while !buffer.is_empty() {
            self.read(&mut buffer).await?;
        }
        Some(())
    }
}

/// The writing half.
pub(super) struct Writer(OwnedWriteHalf);

impl Writer {
    pub(super) fn new(stream: OwnedWriteHalf) -> Self {
        Writer(stream)
    }

    /// Writes all bytes. Fails if the client does not read.
    pub(super) async fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        timeout(SILENCE, self.0.write_all(bytes)).await?
    }
}
