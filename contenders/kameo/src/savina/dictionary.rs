//! `dictionary`: reads and writes of a map that one actor owns.

use std::collections::HashMap;
use std::convert::Infallible;
use std::time::Instant;

use kameo::prelude::*;
use purlin_contender::{Sample, Tally, is_value_of, lookups};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Owner of the map.
#[derive(Actor)]
struct Dictionary {
    map: HashMap<u64, u64>,
    tally: Tally,
    writes: u64,
}

/// Reply with the value of this key.
struct Read(u64);

/// Set the value of this key, and reply with it.
struct Write(u64, u64);

/// Reply with the counts and the number of writes.
struct Report;

/// Reply to `Report`.
#[derive(Reply)]
struct Served(Tally, u64);

impl Dictionary {
    fn reply(&mut self, value: u64) -> u64 {
        self.tally.received += 1;
        self.tally.sent += 1;
        value
    }
}

impl Message<Read> for Dictionary {
    type Reply = u64;

    async fn handle(&mut self, Read(key): Read, _: &mut Context<Self, u64>) -> u64 {
        // The value of no key is `u64::MAX`: all keys are in the map.
        let value = self.map.get(&key).copied().unwrap_or(u64::MAX);
        self.reply(value)
    }
}

impl Message<Write> for Dictionary {
    type Reply = u64;

    async fn handle(&mut self, Write(key, value): Write, _: &mut Context<Self, u64>) -> u64 {
        self.map.insert(key, value);
        self.writes += 1;
        self.reply(value)
    }
}

impl Message<Report> for Dictionary {
    type Reply = Served;

    async fn handle(&mut self, _: Report, _: &mut Context<Self, Served>) -> Served {
        Served(self.tally, self.writes)
    }
}

/// Reads and writes, reports its counts, and stops.
struct Worker;

struct Requests {
    number: u64,
    writes: u64,
    n: u64,
    dictionary: ActorRef<Dictionary>,
    root: UnboundedSender<Tally>,
}

impl Actor for Worker {
    type Args = Requests;
    type Error = Infallible;

    async fn on_start(asked: Requests, _: ActorRef<Self>) -> Result<Self, Infallible> {
        let mut tally = Tally::default();
        for lookup in lookups(asked.number, asked.writes, asked.n) {
            tally.sent += 1;
            let answer = match lookup.value {
                None => asked.dictionary.ask(Read(lookup.key)).send().await.ok(),
                Some(value) => asked.dictionary.ask(Write(lookup.key, value)).send().await.ok(),
            };
            tally.received += u64::from(answer.is_some_and(|value| is_value_of(lookup.key, value)));
        }
        // Cannot fail: the root waits for this report.
        let _ = asked.root.send(tally);
        Ok(Worker)
    }
}

pub(crate) async fn dictionary(workers: u64, writes: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut tally = Tally::default();
    let map = purlin_contender::dictionary();
    let dictionary = Dictionary::spawn(Dictionary { map, tally, writes: 0 });
    dictionary.wait_for_startup().await;

    let start = Instant::now();
    for number in 0..workers {
        let (dictionary, root) = (dictionary.clone(), root.clone());
        Worker::spawn(Requests { number, writes, n, dictionary, root });
    }
    for _ in 0..workers {
        tally += reports.recv().await.unwrap_or_default();
    }
    let elapsed = start.elapsed();

    let Served(served, written) = dictionary.ask(Report).send().await?;
    tally += served;
    Ok(Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", written))
}
