//! `dictionary`: reads and writes of a map that one actor owns.

use std::collections::HashMap;
use std::time::Instant;

use purlin_contender::{Sample, Tally, is_value_of, lookups};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::ask::ask;
use crate::Outcome;

/// Owner of the map.
struct Dictionary;

/// Messages of the dictionary.
enum ToDictionary {
    Read(u64, RpcReplyPort<u64>),
    Write(u64, u64, RpcReplyPort<u64>),
    /// Reply with the counts and the number of writes, and stop.
    Report(RpcReplyPort<(Tally, u64)>),
}

struct Entries {
    map: HashMap<u64, u64>,
    tally: Tally,
    writes: u64,
}

impl Entries {
    fn reply(&mut self, reply: RpcReplyPort<u64>, value: u64) {
        self.tally.received += 1;
        self.tally.sent += u64::from(reply.send(value).is_ok());
    }
}

impl Actor for Dictionary {
    type Msg = ToDictionary;
    type State = Entries;
    type Arguments = HashMap<u64, u64>;

    async fn pre_start(
        &self,
        _: ActorRef<ToDictionary>,
        map: HashMap<u64, u64>,
    ) -> Result<Entries, ActorProcessingErr> {
        Ok(Entries { map, tally: Tally::default(), writes: 0 })
    }

    async fn handle(
        &self,
        myself: ActorRef<ToDictionary>,
        message: ToDictionary,
        entries: &mut Entries,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToDictionary::Read(key, reply) => {
                let value = entries.map.get(&key).copied().ok_or("a key is missing")?;
                entries.reply(reply, value);
            }
            ToDictionary::Write(key, value, reply) => {
                entries.map.insert(key, value);
                entries.writes += 1;
                entries.reply(reply, value);
            }
            ToDictionary::Report(reply) => {
                reply.send((entries.tally, entries.writes))?;
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// Reads and writes, and reports its counts.
struct Worker;

struct Requests {
    number: u64,
    writes: u64,
    n: u64,
    dictionary: ActorRef<ToDictionary>,
    root: UnboundedSender<Tally>,
}

impl Actor for Worker {
    type Msg = ();
    type State = Requests;
    type Arguments = Requests;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        state: Requests,
    ) -> Result<Requests, ActorProcessingErr> {
        Ok(state)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Requests,
    ) -> Result<(), ActorProcessingErr> {
        let mut tally = Tally::default();
        for lookup in lookups(state.number, state.writes, state.n) {
            tally.sent += 1;
            let answer = match lookup.value {
                None => ask!(state.dictionary, ToDictionary::Read, lookup.key)?,
                Some(value) => ask!(state.dictionary, ToDictionary::Write, lookup.key, value)?,
            };
            tally.received += u64::from(is_value_of(lookup.key, answer));
        }
        state.root.send(tally)?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn dictionary(workers: u64, writes: u64, n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();
    let mut tally = Tally::default();
    let (dictionary, _) = Actor::spawn(None, Dictionary, purlin_contender::dictionary()).await?;

    let start = Instant::now();
    for number in 0..workers {
        let (dictionary, root) = (dictionary.clone(), root.clone());
        Actor::spawn(None, Worker, Requests { number, writes, n, dictionary, root }).await?;
    }
    for _ in 0..workers {
        tally += reports.recv().await.unwrap_or_default();
    }
    let elapsed = start.elapsed();

    let (served, written) = ask!(dictionary, ToDictionary::Report)?;
    tally += served;
    Ok(Sample::new(elapsed, workers * n, tally.sent, tally.received).with("writes", written))
}
