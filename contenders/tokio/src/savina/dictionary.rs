//! `dictionary`: workers that call the task which owns a map.

use std::collections::HashMap;
use std::time::Instant;

use purlin_contender::{Sample, Tally, is_value_of, lookups};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::request::call;

/// Messages of the dictionary.
enum Ask {
    Read(u64, oneshot::Sender<u64>),
    Write(u64, u64, oneshot::Sender<u64>),
}

pub(crate) async fn dictionary(workers: u64, writes: u64, n: u64) -> Sample {
    let map = purlin_contender::dictionary();

    let start = Instant::now();
    let (dictionary, mailbox) = unbounded_channel();
    let serving = tokio::spawn(serve(mailbox, map));
    let tasks: Vec<_> = (0..workers)
        .map(|number| tokio::spawn(worker(number, writes, n, dictionary.clone())))
        .collect();
    drop(dictionary);
    let mut tally = Tally::default();
    for task in tasks {
        tally += task.await.unwrap_or_default();
    }
    let elapsed = start.elapsed();

    let (served, writes) = serving.await.unwrap_or_default();
    tally += served;
    Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", writes)
}

async fn worker(number: u64, writes: u64, n: u64, dictionary: UnboundedSender<Ask>) -> Tally {
    let mut tally = Tally::default();
    for lookup in lookups(number, writes, n) {
        tally.sent += 1;
        let answer = match lookup.value {
            None => call(&dictionary, |reply| Ask::Read(lookup.key, reply)).await,
            Some(value) => call(&dictionary, |reply| Ask::Write(lookup.key, value, reply)).await,
        };
        tally.received += u64::from(answer.is_some_and(|value| is_value_of(lookup.key, value)));
    }
    tally
}

async fn serve(mut mailbox: UnboundedReceiver<Ask>, mut map: HashMap<u64, u64>) -> (Tally, u64) {
    let (mut tally, mut writes) = (Tally::default(), 0);
    while let Some(message) = mailbox.recv().await {
        tally.received += 1;
        let (value, reply) = match message {
            Ask::Read(key, reply) => (map.get(&key).copied(), reply),
            Ask::Write(key, value, reply) => {
                map.insert(key, value);
                writes += 1;
                (Some(value), reply)
            }
        };
        tally.sent += u64::from(value.is_some_and(|value| reply.send(value).is_ok()));
    }
    (tally, writes)
}
