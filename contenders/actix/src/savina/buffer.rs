//! `bounded-buffer`: producers and consumers at the manager of a buffer.

use std::collections::VecDeque;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Sample, WORK_START, work};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Manager of the buffer. It answers when there is room, or an item; no item at the end.
struct Manager {
    items: VecDeque<u64>,
    /// Number of items from which producers wait.
    room: usize,
    /// Number of items that have not been handed out.
    due: u64,
    producers: VecDeque<Addr<Producer>>,
    consumers: VecDeque<Addr<Consumer>>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Put(u64, Addr<Producer>);

#[derive(Message)]
#[rtype(result = "()")]
struct Get(Addr<Consumer>);

impl Manager {
    fn end_if_done(&mut self) {
        if self.due == 0 {
            self.consumers.drain(..).for_each(|consumer| consumer.do_send(Item(None)));
        }
    }
}

impl Actor for Manager {
    type Context = Context<Self>;
}

impl Handler<Put> for Manager {
    type Result = ();

    fn handle(&mut self, Put(item, producer): Put, _: &mut Context<Self>) {
        match self.consumers.pop_front() {
            Some(consumer) => {
                self.due -= 1;
                consumer.do_send(Item(Some(item)));
            }
            None => self.items.push_back(item),
        }
        if self.items.len() < self.room {
            producer.do_send(Accepted);
        } else {
            self.producers.push_back(producer);
        }
        self.end_if_done();
    }
}

impl Handler<Get> for Manager {
    type Result = ();

    fn handle(&mut self, Get(consumer): Get, _: &mut Context<Self>) {
        match self.items.pop_front() {
            Some(item) => {
                self.due -= 1;
                consumer.do_send(Item(Some(item)));
                if let Some(producer) = self.producers.pop_front() {
                    producer.do_send(Accepted);
                }
            }
            None => self.consumers.push_back(consumer),
        }
        self.end_if_done();
    }
}

/// Puts its items and reports their number.
struct Producer {
    manager: Addr<Manager>,
    cost: u64,
    n: u64,
    item: u64,
    accepted: u64,
    root: UnboundedSender<u64>,
}

/// The item has been accepted.
#[derive(Message)]
#[rtype(result = "()")]
struct Accepted;

impl Producer {
    fn go_on(&mut self, context: &Context<Self>) {
        if self.accepted == self.n {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(self.accepted);
        } else {
            self.item = work(self.item, self.cost);
            self.manager.do_send(Put(self.item, context.address()));
        }
    }
}

impl Actor for Producer {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        self.go_on(context);
    }
}

impl Handler<Accepted> for Producer {
    type Result = ();

    fn handle(&mut self, _: Accepted, context: &mut Context<Self>) {
        self.accepted += 1;
        self.go_on(context);
    }
}

/// Gets items until there are no more, and reports their number and sum.
struct Consumer {
    manager: Addr<Manager>,
    cost: u64,
    consumed: u64,
    sum: u64,
    root: UnboundedSender<(u64, u64)>,
}

/// An item; `None` at the end.
#[derive(Message)]
#[rtype(result = "()")]
struct Item(Option<u64>);

impl Actor for Consumer {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        self.manager.do_send(Get(context.address()));
    }
}

impl Handler<Item> for Consumer {
    type Result = ();

    fn handle(&mut self, Item(item): Item, context: &mut Context<Self>) {
        match item {
            Some(item) => {
                self.sum = (self.sum + work(item, self.cost)) & 0x7fff_ffff;
                self.consumed += 1;
                self.manager.do_send(Get(context.address()));
            }
            // Cannot fail: the root waits for this report.
            None => drop(self.root.send((self.consumed, self.sum))),
        }
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
    let manager = Manager {
        items: VecDeque::new(),
        room,
        due: total,
        producers: VecDeque::new(),
        consumers: VecDeque::new(),
    }
    .start();
    for _ in 0..producers {
        let (manager, root) = (manager.clone(), tell_produced.clone());
        Producer { manager, cost, n, item: WORK_START, accepted: 0, root }.start();
    }
    for _ in 0..consumers {
        let (manager, root) = (manager.clone(), tell_consumed.clone());
        Consumer { manager, cost, consumed: 0, sum: 0, root }.start();
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
