//! `bounded-buffer`: producers and consumers at the manager of a buffer.

use std::collections::VecDeque;
use std::time::Instant;

use purlin_contender::{Sample, WORK_START, work};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::request::call;

/// Messages of the manager. It answers when there is room, or an item; no item at the end.
enum ToManager {
    Put(u64, oneshot::Sender<()>),
    Get(oneshot::Sender<Option<u64>>),
}

pub(crate) async fn buffer(
    [producers, consumers]: [u64; 2],
    room: usize,
    cost: u64,
    n: u64,
) -> Sample {
    let total = producers * n;

    let start = Instant::now();
    let (manager, mailbox) = unbounded_channel();
    tokio::spawn(manage(mailbox, room, total));
    let consumers: Vec<_> =
        (0..consumers).map(|_| tokio::spawn(consumer(manager.clone(), cost))).collect();
    let producers: Vec<_> =
        (0..producers).map(|_| tokio::spawn(producer(manager.clone(), cost, n))).collect();
    drop(manager);
    let (mut consumed, mut sink) = (0, 0);
    for consumer in consumers {
        let (items, sum) = consumer.await.unwrap_or_default();
        consumed += items;
        sink = (sink + sum) & 0x7fff_ffff;
    }
    let elapsed = start.elapsed();

    let mut produced = 0;
    for producer in producers {
        produced += producer.await.unwrap_or(0);
    }
    Sample::new(elapsed, total, produced, consumed).with("sink", sink)
}

async fn producer(manager: UnboundedSender<ToManager>, cost: u64, n: u64) -> u64 {
    let (mut item, mut produced) = (WORK_START, 0);
    for _ in 0..n {
        item = work(item, cost);
        let accepted = call(&manager, |reply| ToManager::Put(item, reply)).await;
        produced += u64::from(accepted.is_some());
    }
    produced
}

async fn consumer(manager: UnboundedSender<ToManager>, cost: u64) -> (u64, u64) {
    let (mut items, mut sum) = (0, 0);
    while let Some(Some(item)) = call(&manager, ToManager::Get).await {
        sum = (sum + work(item, cost)) & 0x7fff_ffff;
        items += 1;
    }
    (items, sum)
}

/// Passes on `total` items; then answers that there are no more.
async fn manage(mut mailbox: UnboundedReceiver<ToManager>, room: usize, total: u64) {
    let mut items = VecDeque::with_capacity(room);
    let mut producers: VecDeque<oneshot::Sender<()>> = VecDeque::new();
    let mut idle: VecDeque<oneshot::Sender<Option<u64>>> = VecDeque::new();
    let mut left = total;
    // A reply can only be lost if its receiver was dropped, that is, if its task has failed.
    while let Some(message) = mailbox.recv().await {
        match message {
            ToManager::Put(item, reply) => {
                match idle.pop_front() {
                    Some(consumer) => {
                        let _ = consumer.send(Some(item));
                        left -= 1;
                    }
                    None => items.push_back(item),
                }
                if items.len() < room {
                    let _ = reply.send(());
                } else {
                    producers.push_back(reply);
                }
            }
            ToManager::Get(reply) => match items.pop_front() {
                Some(item) => {
                    let _ = reply.send(Some(item));
                    left -= 1;
                    if let Some(producer) = producers.pop_front() {
                        let _ = producer.send(());
                    }
                }
                None => idle.push_back(reply),
            },
        }
        if left == 0 {
            for consumer in idle.drain(..) {
                let _ = consumer.send(None);
            }
        }
    }
}
