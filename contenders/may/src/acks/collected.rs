//! Strategies throttle and head-rest: the reader passes each message to a collector by a call, and
//! a ticker acknowledges every 5 ms.

use std::convert::Infallible;
use std::io::Write;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use may::coroutine::JoinHandle;
use may::go;
use may::io::{SplitReader, SplitWriter};
use may::net::TcpStream;
use may::sync::{mpsc, spsc};

use super::buffer::Buffer;
use super::connection::Connection;
use super::direct::USUAL;
use super::wire::{HEAD, Pending, size};
use crate::channels::receive;

/// Period of the acks.
const TICK: Duration = Duration::from_millis(5);

/// Requests to the collector.
enum Collect {
    /// Handle the first message of this buffer and return the buffer.
    Message(Buffer),
    Take(spsc::Sender<Pending>),
    /// End, because the client does not read its acks.
    Unread,
}

/// Reads exactly a header, and then exactly its payload.
pub(super) fn throttle(connection: Connection) -> u64 {
    collected(connection, |reader, helpers| {
        let mut buffer = Buffer::new(USUAL);
        loop {
            buffer.exactly(reader, HEAD)?;
            let size = size(buffer.filled().first_chunk()?, u32::from_le_bytes)?;
            buffer.exactly(reader, HEAD + size)?;
            buffer = helpers.hand_over(buffer)?;
            buffer.consume(HEAD + size);
        }
    })
}

/// Reads the available data and splits it into messages.
pub(super) fn head_rest(connection: Connection) -> u64 {
    collected(connection, |reader, helpers| {
        let mut buffer = Buffer::new(USUAL);
        let mut missing = HEAD;
        while buffer.fill(reader, missing).ok()? {
            missing = HEAD;
            while let Some((head, rest)) = buffer.filled().split_first_chunk() {
                let size = size(head, u32::from_le_bytes)?;
                if rest.len() < size {
                    missing = HEAD + size;
                    break;
                }
                buffer = helpers.hand_over(buffer)?;
                buffer.consume(HEAD + size);
            }
        }
        None
    })
}

/// Runs `read`, which ends with the connection, and the two helpers. Returns the number of
/// acknowledged messages.
fn collected(
    connection: Connection,
    read: impl FnOnce(&mut Connection<SplitReader<TcpStream>>, &Helpers) -> Option<Infallible>,
) -> u64 {
    let Ok((mut reader, writer)) = connection.split() else {
        return 0;
    };
    let helpers = Helpers::start(writer);
    read(&mut reader, &helpers);
    helpers.finish()
}

/// The two helper coroutines of a connection.
struct Helpers {
    collector: mpsc::Sender<Collect>,
    handled: spsc::Receiver<Buffer>,
    last: mpsc::Sender<()>,
    ticker: JoinHandle<u64>,
}

impl Helpers {
    fn start(writer: SplitWriter<TcpStream>) -> Self {
        let (collector, asked) = mpsc::channel();
        let (done, handled) = spsc::channel();
        let (last, ended) = mpsc::channel();
        go!(move || collect(&asked, &done));
        let from = collector.clone();
        let ticker = go!(move || tick(writer, &from, &ended));
        Helpers { collector, handled, last, ticker }
    }

    /// Passes the first message of a buffer to the collector and waits for its reply.
    fn hand_over(&self, buffer: Buffer) -> Option<Buffer> {
        self.collector.send(Collect::Message(buffer)).ok()?;
        self.handled.recv().ok()
    }

    /// Ends both coroutines after the last ack. Returns the number of acknowledged messages.
    fn finish(self) -> u64 {
        drop(self.last);
        self.ticker.join().unwrap_or(0)
    }
}

/// Accepts messages, and keeps the pending ack.
fn collect(asked: &mpsc::Receiver<Collect>, done: &spsc::Sender<Buffer>) {
    let mut pending = Pending::default();
    while let Some(request) = receive(asked) {
        match request {
            Collect::Message(buffer) => {
                if let Some([id @ .., _, _, _, _]) = buffer.filled().first_chunk::<HEAD>() {
                    pending.add(Pending::one(*id));
                }
                let _ = done.send(buffer);
            }
            Collect::Take(reply) => {
                let _ = reply.send(std::mem::take(&mut pending));
            }
            Collect::Unread => return,
        }
    }
}

/// Acknowledges what the collector has. Returns the number of acknowledged messages when the reader
/// has ended, or if the client does not read.
fn tick(
    mut writer: SplitWriter<TcpStream>,
    collector: &mpsc::Sender<Collect>,
    ended: &mpsc::Receiver<()>,
) -> u64 {
    let (mut received, mut last) = (0, false);
    while !last {
        last = ended.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected);
        let (reply, taken) = spsc::channel();
        let asked = collector.send(Collect::Take(reply));
        let pending = if asked.is_ok() { taken.recv().unwrap_or_default() } else { break };
        if let Some(ack) = pending.ack() {
            if writer.write_all(&ack).is_err() {
                let _ = collector.send(Collect::Unread);
                break;
            }
            received += pending.count();
        }
    }
    received
}
