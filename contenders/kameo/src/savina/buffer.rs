//! `bounded-buffer`: producers and consumers at the manager of a buffer.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use kameo::reply::{DelegatedReply, ReplySender};
use purlin_contender::{Sample, WORK_START, work};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Manager of the buffer. It answers when there is room, or an item; no item at the end.
#[derive(Actor)]
struct Manager {
    items: VecDeque<u64>,
    /// Number of items from which producers wait.
    room: usize,
    /// Number of items that have not been handed out.
    due: u64,
    producers: VecDeque<ReplySender<()>>,
    consumers: VecDeque<ReplySender<Option<u64>>>,
}

struct Put(u64);

struct Get;

impl Manager {
    fn end_if_done(&mut self) {
        if self.due == 0 {
            self.consumers.drain(..).for_each(|consumer| consumer.send(None));
        }
    }
}

impl Message<Put> for Manager {
    type Reply = DelegatedReply<()>;

    async fn handle(
        &mut self,
        Put(item): Put,
        context: &mut Context<Self, Self::Reply>,
    ) -> Self::Reply {
        let (delegated, producer) = context.reply_sender();
        match self.consumers.pop_front() {
            Some(consumer) => {
                self.due -= 1;
                consumer.send(Some(item));
            }
            None => self.items.push_back(item),
        }
        self.producers.extend(producer);
        if self.items.len() < self.room {
            self.producers.drain(..).for_each(|producer| producer.send(()));
        }
        self.end_if_done();
        delegated
    }
}

impl Message<Get> for Manager {
    type Reply = DelegatedReply<Option<u64>>;

    async fn handle(&mut self, _: Get, context: &mut Context<Self, Self::Reply>) -> Self::Reply {
        let (delegated, consumer) = context.reply_sender();
        match self.items.pop_front() {
            Some(item) => {
                self.due -= 1;
                consumer.into_iter().for_each(|consumer| consumer.send(Some(item)));
                self.producers.pop_front().into_iter().for_each(|producer| producer.send(()));
            }
            None => self.consumers.extend(consumer),
        }
        self.end_if_done();
        delegated
    }
}

/// Puts its items, reports their number, and stops.
struct Producer;

impl Actor for Producer {
    type Args = (ActorRef<Manager>, u64, u64, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start(
        (manager, cost, n, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        let (mut item, mut produced) = (WORK_START, 0);
        for _ in 0..n {
            item = work(item, cost);
            produced += u64::from(manager.ask(Put(item)).send().await.is_ok());
        }
        // Cannot fail: the root waits for this report.
        let _ = root.send(produced);
        Ok(Producer)
    }
}

/// Gets items until there are no more, reports their number and sum, and stops.
struct Consumer;

impl Actor for Consumer {
    type Args = (ActorRef<Manager>, u64, UnboundedSender<(u64, u64)>);
    type Error = Infallible;

    async fn on_start(
        (manager, cost, root): Self::Args,
        _: ActorRef<Self>,
    ) -> Result<Self, Infallible> {
        let (mut consumed, mut sum) = (0, 0);
        while let Ok(Some(item)) = manager.ask(Get).send().await {
            sum = (sum + work(item, cost)) & 0x7fff_ffff;
            consumed += 1;
        }
        // Cannot fail: the root waits for this report.
        let _ = root.send((consumed, sum));
        Ok(Consumer)
    }
}

pub(crate) async fn buffer(
    [producers, consumers]: [u64; 2],
    room: usize,
    cost: u64,
    n: u64,
) -> Outcome {
    let total = producers * n;
    let (tell_produced, mut told_produced) = unbounded_channel();
    let (tell_consumed, mut told_consumed) = unbounded_channel();
    let (mut produced, mut consumed, mut sink) = (0, 0, 0);

    let start = Instant::now();
    let manager = Manager::spawn(Manager {
        items: VecDeque::new(),
        room,
        due: total,
        producers: VecDeque::new(),
        consumers: VecDeque::new(),
    });
    for _ in 0..producers {
        Producer::spawn((manager.clone(), cost, n, tell_produced.clone()));
    }
    for _ in 0..consumers {
        Consumer::spawn((manager.clone(), cost, tell_consumed.clone()));
    }
    for _ in 0..consumers {
        let (items, sum) = told_consumed.recv().await.unwrap_or_default();
        consumed += items;
        sink = (sink + sum) & 0x7fff_ffff;
    }
    let elapsed = start.elapsed();

    for _ in 0..producers {
        produced += told_produced.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(elapsed, total, produced, consumed).with("sink", sink))
}
