//! `bounded-buffer`: producers and consumers at the manager of a buffer.

use std::collections::VecDeque;
use std::time::Instant;

use purlin::{Pid, Process, Reply, receive, spawn};
use purlin_contender::{Sample, WORK_START, work};

/// Messages of the manager. It answers when there is room, or an item; no item at the end.
enum ToManager {
    Put(u64, Reply<()>),
    Get(Reply<Option<u64>>),
}

/// Messages of the root.
pub(crate) enum Report {
    Produced(u64),
    Consumed { items: u64, sum: u64 },
}

pub(crate) async fn buffer(
    mut me: Process<Report>,
    [producers, consumers]: [u64; 2],
    room: usize,
    cost: u64,
    n: u64,
) -> Sample {
    let total = producers * n;

    let start = Instant::now();
    let manager = spawn(move |me| manager(me, room, total, consumers));
    for _ in 0..consumers {
        let (manager, root) = (manager.clone(), me.pid());
        spawn(move |_: Process<()>| consumer(manager, cost, root));
    }
    for _ in 0..producers {
        let (manager, root) = (manager.clone(), me.pid());
        spawn(move |_: Process<()>| producer(manager, cost, n, root));
    }
    let (mut consumed, mut sink) = (0, 0);
    for _ in 0..consumers {
        receive!(me, {
            Report::Consumed { items, sum } => {
                consumed += items;
                sink = (sink + sum) & 0x7fff_ffff;
            },
        });
    }
    let elapsed = start.elapsed();

    let mut produced = 0;
    for _ in 0..producers {
        produced += receive!(me, { Report::Produced(items) => items });
    }
    Sample::new(elapsed, total, produced, consumed).with("sink", sink)
}

async fn producer(manager: Pid<ToManager>, cost: u64, n: u64, root: Pid<Report>) {
    let (mut item, mut produced) = (WORK_START, 0);
    for _ in 0..n {
        item = work(item, cost);
        let accepted = manager.call(|reply| ToManager::Put(item, reply)).await;
        produced += u64::from(accepted.is_ok());
    }
    root.send(Report::Produced(produced));
}

async fn consumer(manager: Pid<ToManager>, cost: u64, root: Pid<Report>) {
    let (mut items, mut sum) = (0, 0);
    while let Ok(Some(item)) = manager.call(ToManager::Get).await {
        sum = (sum + work(item, cost)) & 0x7fff_ffff;
        items += 1;
    }
    root.send(Report::Consumed { items, sum });
}

/// Passes on `total` items and ends when all consumers know that there are no more.
async fn manager(mut me: Process<ToManager>, room: usize, total: u64, consumers: u64) {
    let mut items = VecDeque::with_capacity(room);
    let mut producers: VecDeque<Reply<()>> = VecDeque::new();
    let mut idle: VecDeque<Reply<Option<u64>>> = VecDeque::new();
    let (mut left, mut active) = (total, consumers);
    while active > 0 {
        match me.receive().await {
            ToManager::Put(item, reply) => {
                match idle.pop_front() {
                    Some(consumer) => {
                        consumer.send(Some(item));
                        left -= 1;
                    }
                    None => items.push_back(item),
                }
                if items.len() < room {
                    reply.send(());
                } else {
                    producers.push_back(reply);
                }
            }
            ToManager::Get(reply) => match items.pop_front() {
                Some(item) => {
                    reply.send(Some(item));
                    left -= 1;
                    if let Some(producer) = producers.pop_front() {
                        producer.send(());
                    }
                }
                None => idle.push_back(reply),
            },
        }
        if left == 0 {
            active -= idle.len() as u64;
            idle.drain(..).for_each(|consumer| consumer.send(None));
        }
    }
}
