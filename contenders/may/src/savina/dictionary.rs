//! `dictionary`: workers that call the coroutine which owns a map.

use std::collections::HashMap;
use std::time::Instant;

use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use may::sync::spsc;
use purlin_contender::{Sample, Tally, is_value_of, lookups};

use crate::channels::{call, receive};

/// Messages of the dictionary.
enum Ask {
    Read(u64, spsc::Sender<u64>),
    Write(u64, u64, spsc::Sender<u64>),
}

pub(crate) fn dictionary(workers: u64, writes: u64, n: u64) -> Sample {
    let map = purlin_contender::dictionary();

    let start = Instant::now();
    let (dictionary, mailbox) = channel();
    let serving = go!(move || serve(mailbox, map));
    let tasks: Vec<_> = (0..workers)
        .map(|number| {
            let dictionary = dictionary.clone();
            go!(move || worker(number, writes, n, dictionary))
        })
        .collect();
    drop(dictionary);
    let mut tally = Tally::default();
    for task in tasks {
        tally += task.join().unwrap_or_default();
    }
    let elapsed = start.elapsed();

    let (served, writes) = serving.join().unwrap_or_default();
    tally += served;
    Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", writes)
}

fn worker(number: u64, writes: u64, n: u64, dictionary: Sender<Ask>) -> Tally {
    let mut tally = Tally::default();
    for lookup in lookups(number, writes, n) {
        tally.sent += 1;
        let answer = match lookup.value {
            None => call(&dictionary, |reply| Ask::Read(lookup.key, reply)),
            Some(value) => call(&dictionary, |reply| Ask::Write(lookup.key, value, reply)),
        };
        tally.received += u64::from(answer.is_some_and(|value| is_value_of(lookup.key, value)));
    }
    tally
}

fn serve(mailbox: Receiver<Ask>, mut map: HashMap<u64, u64>) -> (Tally, u64) {
    let (mut tally, mut writes) = (Tally::default(), 0);
    while let Some(message) = receive(&mailbox) {
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
