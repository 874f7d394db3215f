//! `dictionary`: workers that call the process which owns a map.

use std::collections::HashMap;
use std::time::Instant;

use purlin::{Pid, Process, Reply, spawn};
use purlin_contender::{Sample, Tally, is_value_of, lookups};

/// Messages of the dictionary.
enum Ask {
    Read(u64, Reply<u64>),
    Write(u64, u64, Reply<u64>),
    /// Report counts and writes, and end.
    Close(Reply<(Tally, u64)>),
}

pub(crate) async fn dictionary(
    mut me: Process<Tally>,
    workers: u64,
    writes: u64,
    n: u64,
) -> Sample {
    let map = purlin_contender::dictionary();

    let start = Instant::now();
    let dictionary = spawn(move |me| serve(me, map));
    for number in 0..workers {
        let (dictionary, root) = (dictionary.clone(), me.pid());
        spawn(move |_: Process<()>| worker(number, writes, n, dictionary, root));
    }
    let mut tally = Tally::default();
    for _ in 0..workers {
        tally += me.receive().await;
    }
    let elapsed = start.elapsed();

    let (served, writes) = dictionary.call(Ask::Close).await.unwrap_or_default();
    tally += served;
    Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", writes)
}

async fn worker(number: u64, writes: u64, n: u64, dictionary: Pid<Ask>, root: Pid<Tally>) {
    let mut tally = Tally::default();
    for lookup in lookups(number, writes, n) {
        tally.sent += 1;
        let answer = match lookup.value {
            None => dictionary.call(|reply| Ask::Read(lookup.key, reply)).await,
            Some(value) => dictionary.call(|reply| Ask::Write(lookup.key, value, reply)).await,
        };
        tally.received += u64::from(answer.is_ok_and(|value| is_value_of(lookup.key, value)));
    }
    root.send(tally);
}

async fn serve(mut me: Process<Ask>, mut map: HashMap<u64, u64>) {
    let (mut tally, mut writes) = (Tally::default(), 0);
    loop {
        let (value, reply) = match me.receive().await {
            Ask::Read(key, reply) => (map.get(&key).copied(), reply),
            Ask::Write(key, value, reply) => {
                map.insert(key, value);
                writes += 1;
                (Some(value), reply)
            }
            Ask::Close(reply) => return reply.send((tally, writes)),
        };
        tally.received += 1;
        if let Some(value) = value {
            reply.send(value);
            tally.sent += 1;
        }
    }
}
