//! Strategies throttle and head-rest: the reader passes each message to a collector by a call, and
//! a ticker acknowledges every 5 ms.

use std::convert::Infallible;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::connection::{Reader, Writer};
use super::direct::USUAL;
use super::wire::{HEAD, Pending, size};

/// Period of the acks.
const TICK: Duration = Duration::from_millis(5);

/// Capacity of the collector's channel: a call of the reader and one of the ticker.
const CALLS: usize = 2;

/// Requests to the collector.
enum Collect {
    Message { id: [u8; 8], payload: Bytes, done: oneshot::Sender<()> },
    Take(oneshot::Sender<Pending>),
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
async fn exactly(reader: &mut Reader, collector: &mpsc::Sender<Collect>) -> Option<Infallible> {
    loop {
        let mut head = [0; HEAD];
        reader.read_exact(&mut head).await?;
        let mut payload = vec![0; size(&head, u32::from_le_bytes)?];
        reader.read_exact(&mut payload).await?;
        let [id @ .., _, _, _, _] = head;
        hand_over(collector, id, payload.into()).await?;
    }
}

/// Returns `None` when the connection has ended.
async fn available(reader: &mut Reader, collector: &mpsc::Sender<Collect>) -> Option<Infallible> {
    let mut buffer = BytesMut::new();
    loop {
        let mut needed = HEAD;
        while let Some((head, rest)) = buffer.split_first_chunk() {
            let size = size(head, u32::from_le_bytes)?;
            let [id @ .., _, _, _, _] = *head;
            if rest.len() < size {
                needed = HEAD + size;
                break;
            }
            let payload = buffer.split_to(HEAD + size).freeze().slice(HEAD..);
            hand_over(collector, id, payload).await?;
        }
        buffer.reserve(needed.max(USUAL) - buffer.len());
        reader.read(&mut buffer).await?;
    }
}

/// Passes a message to the collector and waits for its reply.
async fn hand_over(collector: &mpsc::Sender<Collect>, id: [u8; 8], payload: Bytes) -> Option<()> {
    let (done, replied) = oneshot::channel();
    collector.send(Collect::Message { id, payload, done }).await.ok()?;
    replied.await.ok()
}

/// The two tasks beside the reader of a connection.
struct Helpers {
    collector: mpsc::Sender<Collect>,
    last: oneshot::Sender<()>,
    ticker: JoinHandle<u64>,
}

impl Helpers {
    fn start(writer: Writer) -> Self {
        let (collector, asked) = mpsc::channel(CALLS);
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
async fn collect(mut asked: mpsc::Receiver<Collect>) {
    let mut pending = Pending::default();
    while let Some(request) = asked.recv().await {
        match request {
            Collect::Message { id, payload, done } => {
                pending.add(Pending::one(id));
                drop(payload);
                let _ = done.send(());
            }
            Collect::Take(reply) => {
                let _ = reply.send(std::mem::take(&mut pending));
            }
        }
    }
}

/// Acknowledges what the collector has. Returns the number of acknowledged messages when the reader
/// has ended, or if the client does not read.
async fn tick(
    mut writer: Writer,
    collector: mpsc::Sender<Collect>,
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
        let asked = collector.send(Collect::Take(reply)).await;
        let pending = if asked.is_ok() { taken.await.unwrap_or_default() } else { break };
        if let Some(ack) = pending.ack() {
            if writer.write_all(&ack).await.is_err() {
                break;
            }
            received += pending.count();
        }
    }
    received
}
