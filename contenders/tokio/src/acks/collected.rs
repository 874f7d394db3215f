//! Strategies throttle and head-rest: the reader passes each message to a collector by a call, and
//! a ticker acknowledges every 5 ms.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::buffer::Buffer;
use super::connection::{Reader, Writer};
use super::direct::USUAL;
use super::wire::{HEAD, Pending, size};

/// Period of the acks.
const TICK: Duration = Duration::from_millis(5);

/// Requests to the collector.
enum Collect {
    /// Take the first message of this buffer, and return the buffer.
    Message(Buffer, oneshot::Sender<Buffer>),
    Take(oneshot::Sender<Pending>),
    /// End, because the client does not read its acks.
    Unread,
}

/// Reads exactly a header, and then exactly its payload.
pub(super) async fn throttle(mut reader: Reader, writer: Writer) -> u64 {
    let helpers = Helpers::start(writer);
    exactly(&mut reader, &helpers.collector).await;
    helpers.finish().await
}

/// Reads the available data and splits it into messages.
pub(super) async fn head_rest(mut reader: Reader, writer: Writer) -> u64 {
    let helpers = Helpers::start(writer);
    available(&mut reader, &helpers.collector).await;
    helpers.finish().await
}

/// Returns `None` when the connection has ended.
async fn exactly(reader: &mut Reader, collector: &UnboundedSender<Collect>) -> Option<Infallible> {
    let mut buffer = Buffer::new(USUAL);
    loop {
        buffer.exactly(reader, HEAD).await?;
        let size = size(buffer.filled().first_chunk()?, u32::from_le_bytes)?;
        buffer.exactly(reader, HEAD + size).await?;
        buffer = hand_over(collector, buffer).await?;
        buffer.consume(HEAD + size);
    }
}

/// Returns `None` when the connection has ended.
async fn available(
    reader: &mut Reader,
    collector: &UnboundedSender<Collect>,
) -> Option<Infallible> {
    let mut buffer = Buffer::new(USUAL);
    let mut missing = HEAD;
    loop {
        buffer.fill(reader, missing).await?;
        missing = HEAD;
        while let Some((head, rest)) = buffer.filled().split_first_chunk() {
            let size = size(head, u32::from_le_bytes)?;
            if rest.len() < size {
                missing = HEAD + size;
                break;
            }
            buffer = hand_over(collector, buffer).await?;
            buffer.consume(HEAD + size);
        }
    }
}

/// Passes the first message of a buffer to the collector and waits for its reply. The buffer moves
/// there and back, so the message is not copied.
async fn hand_over(collector: &UnboundedSender<Collect>, buffer: Buffer) -> Option<Buffer> {
    let (done, replied) = oneshot::channel();
    collector.send(Collect::Message(buffer, done)).ok()?;
    replied.await.ok()
}

/// The two helper tasks of a connection.
struct Helpers {
    collector: UnboundedSender<Collect>,
    last: oneshot::Sender<()>,
    ticker: JoinHandle<u64>,
}

impl Helpers {
    fn start(writer: Writer) -> Self {
        let (collector, asked) = unbounded_channel();
        let (last, ended) = oneshot::channel();
        tokio::spawn(collect(asked));
        let ticker = tokio::spawn(tick(writer, collector.clone(), ended));
        Helpers { collector, last, ticker }
    }

    /// Ends both tasks after the last ack. Returns the number of acknowledged messages.
    async fn finish(self) -> u64 {
        drop(self.last);
        self.ticker.await.unwrap_or(0)
    }
}

/// Accepts messages, and keeps the pending ack.
async fn collect(mut asked: UnboundedReceiver<Collect>) {
    let mut pending = Pending::default();
    while let Some(request) = asked.recv().await {
        match request {
            Collect::Message(buffer, done) => {
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
async fn tick(
    mut writer: Writer,
    collector: UnboundedSender<Collect>,
    mut ended: oneshot::Receiver<()>,
) -> u64 {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut received, mut last) = (0, false);
    while !last {
        last = tokio::select! {
            _ = ticks.tick() => false,
            _ = &mut ended => true,
        };
        let (reply, taken) = oneshot::channel();
        let asked = collector.send(Collect::Take(reply));
        let pending = if asked.is_ok() { taken.await.unwrap_or_default() } else { break };
        if let Some(ack) = pending.ack() {
            if writer.write_all(&ack).await.is_err() {
                let _ = collector.send(Collect::Unread);
                break;
            }
            received += pending.count();
        }
    }
    received
}
