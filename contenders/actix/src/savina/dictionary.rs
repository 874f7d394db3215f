//! `dictionary`: reads and writes of a map that one actor owns.

use std::collections::HashMap;
use std::time::Instant;

use actix::prelude::*;
use purlin_contender::{Sample, Tally, is_value_of, lookups};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Owner of the map.
struct Dictionary {
    map: HashMap<u64, u64>,
    tally: Tally,
    writes: u64,
}

/// Reply with the value of this key.
#[derive(Message)]
#[rtype(result = "u64")]
struct Read(u64);

/// Set the value of this key, and reply with it.
#[derive(Message)]
#[rtype(result = "u64")]
struct Write(u64, u64);

/// Reply with the counts and the number of writes.
#[derive(Message)]
#[rtype(result = "(Tally, u64)")]
struct Report;

impl Dictionary {
    fn reply(&mut self, value: u64) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        value
    }
}

impl Actor for Dictionary {
    type Context = Context<Self>;
}

impl Handler<Read> for Dictionary {
    type Result = u64;

    fn handle(&mut self, Read(key): Read, _: &mut Context<Self>) -> u64 {
        // The value of no key is `u64::MAX`: all keys are in the map.
        let value = self.map.get(&key).copied().unwrap_or(u64::MAX);
        self.reply(value)
    }
}

impl Handler<Write> for Dictionary {
    type Result = u64;

    fn handle(&mut self, Write(key, value): Write, _: &mut Context<Self>) -> u64 {
        self.map.insert(key, value);
        self.writes += 1;
        self.reply(value)
    }
}

impl Handler<Report> for Dictionary {
    type Result = MessageResult<Report>;

    fn handle(&mut self, _: Report, _: &mut Context<Self>) -> MessageResult<Report> {
        MessageResult((self.tally, self.writes))
    }
}

/// Reads and writes, and reports its counts.
struct Worker {
    number: u64,
    writes: u64,
    n: u64,
    dictionary: Addr<Dictionary>,
    root: UnboundedSender<Tally>,
}

impl Actor for Worker {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (dictionary, root) = (self.dictionary.clone(), self.root.clone());
        let asked = lookups(self.number, self.writes, self.n);
        let asking = async move {
            let mut tally = Tally::default();
            for lookup in asked {
                tally.sent += 1;
                let answer = match lookup.value {
                    None => dictionary.send(Read(lookup.key)).await,
                    Some(value) => dictionary.send(Write(lookup.key, value)).await,
                };
                tally.received +=
                    u64::from(answer.is_ok_and(|value| is_value_of(lookup.key, value)));
            }
            // Cannot fail: the root waits for this report.
            let _ = root.send(tally);
        };
        context.spawn(asking.into_actor(self));
    }
}

pub(crate) async fn dictionary(workers: u64, writes: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut tally = Tally::default();
    let map = purlin_contender::dictionary();
    let dictionary = Dictionary { map, tally, writes: 0 }.start();

    let start = Instant::now();
    for number in 0..workers {
        let (dictionary, root) = (dictionary.clone(), root.clone());
        Worker { number, writes, n, dictionary, root }.start();
    }
    for _ in 0..workers {
        tally += reports.recv().await.unwrap_or_default();
    }
    let elapsed = start.elapsed();

    let (served, written) = dictionary.send(Report).await?;
    tally += served;
    Ok(Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", written))
}
