//! `bounded-buffer`: producers and consumers at the manager of a buffer.

use std::collections::VecDeque;
use std::time::Instant;

use purlin_contender::{Sample, WORK_START, work};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// Manager of the buffer. It answers when there is room, or an item; no item at the end.
struct Manager;

/// Messages of the manager.
enum ToManager {
    Put(u64, RpcReplyPort<()>),
    Get(RpcReplyPort<Option<u64>>),
}

struct Buffer {
    items: VecDeque<u64>,
    /// Number of items from which producers wait.
    room: usize,
    /// Number of items that have not been handed out.
    due: u64,
    producers: VecDeque<RpcReplyPort<()>>,
    consumers: VecDeque<RpcReplyPort<Option<u64>>>,
}

impl Buffer {
    fn put(&mut self, item: u64, producer: RpcReplyPort<()>) -> Result<(), ActorProcessingErr> {
        match self.consumers.pop_front() {
            Some(consumer) => {
                self.due -= 1;
                consumer.send(Some(item))?;
            }
            None => self.items.push_back(item),
        }
        if self.items.len() < self.room {
            producer.send(())?;
        } else {
            self.producers.push_back(producer);
        }
        Ok(())
    }

    fn get(&mut self, consumer: RpcReplyPort<Option<u64>>) -> Result<(), ActorProcessingErr> {
        let Some(item) = self.items.pop_front() else {
            self.consumers.push_back(consumer);
            return Ok(());
        };
        self.due -= 1;
        consumer.send(Some(item))?;
        if let Some(producer) = self.producers.pop_front() {
            producer.send(())?;
        }
        Ok(())
    }
}

impl Actor for Manager {
    type Msg = ToManager;
    type State = Buffer;
    type Arguments = (usize, u64);

    async fn pre_start(
        &self,
        _: ActorRef<ToManager>,
        (room, due): (usize, u64),
    ) -> Result<Buffer, ActorProcessingErr> {
        let (producers, consumers) = (VecDeque::new(), VecDeque::new());
        Ok(Buffer { items: VecDeque::new(), room, due, producers, consumers })
    }

    async fn handle(
        &self,
        _: ActorRef<ToManager>,
        message: ToManager,
        buffer: &mut Buffer,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToManager::Put(item, producer) => buffer.put(item, producer)?,
            ToManager::Get(consumer) => buffer.get(consumer)?,
        }
        if buffer.due == 0 {
            buffer.consumers.drain(..).try_for_each(|consumer| consumer.send(None))?;
        }
        Ok(())
    }
}

/// Puts its items and reports their number.
struct Producer;

struct Producing {
    manager: ActorRef<ToManager>,
    cost: u64,
    n: u64,
    root: UnboundedSender<u64>,
}

impl Actor for Producer {
    type Msg = ();
    type State = Producing;
    type Arguments = Producing;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        state: Producing,
    ) -> Result<Producing, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Producing,
    ) -> Result<(), ActorProcessingErr> {
        let (mut item, mut produced) = (WORK_START, 0);
        for _ in 0..state.n {
            item = work(item, state.cost);
            ask!(state.manager, ToManager::Put, item)?;
            produced += 1;
        }
        state.root.send(produced)?;
        myself.stop(None);
        Ok(())
    }
}

/// Gets items until there are no more, and reports their number and sum.
struct Consumer;

struct Consuming {
    manager: ActorRef<ToManager>,
    cost: u64,
    root: UnboundedSender<(u64, u64)>,
}

impl Actor for Consumer {
    type Msg = ();
    type State = Consuming;
    type Arguments = Consuming;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        state: Consuming,
    ) -> Result<Consuming, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Consuming,
    ) -> Result<(), ActorProcessingErr> {
        let (mut consumed, mut sum) = (0, 0);
        while let Some(item) = ask!(state.manager, ToManager::Get)? {
            sum = (sum + work(item, state.cost)) & 0x7fff_ffff;
            consumed += 1;
        }
        state.root.send((consumed, sum))?;
        myself.stop(None);
        Ok(())
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
    let (manager, _) = Actor::spawn(None, Manager, (room, total)).await?;
    for _ in 0..producers {
        let (manager, root) = (manager.clone(), tell_produced.clone());
        Actor::spawn(None, Producer, Producing { manager, cost, n, root }).await?;
    }
    for _ in 0..consumers {
        let (manager, root) = (manager.clone(), tell_consumed.clone());
        Actor::spawn(None, Consumer, Consuming { manager, cost, root }).await?;
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
    manager.stop(None);
    Ok(Sample::new(elapsed, total, produced, consumed).with("sink", sink))
}
