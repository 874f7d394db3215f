//! Model of a log, and messages for it.

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

use purlin_log::simulated::Disk;
use purlin_log::storage::Storage;
use purlin_log::{Block, Client, Error, Log, Options, Position, Record, Refusal};

/// Returns the number of random cases: `PURLIN_LOG_CASES`, by default 200.
pub(crate) fn cases() -> u64 {
    env::var("PURLIN_LOG_CASES").map_or(200, |count| count.parse().expect("a number"))
}

pub(crate) fn storage(disk: &Disk) -> Arc<dyn Storage> {
    Arc::new(disk.clone())
}

pub(crate) fn open(disk: &Disk, options: &Options) -> Result<Log, Error> {
    Log::open_on(storage(disk), options.clone())
}

/// Returns all records, from the oldest on.
pub(crate) fn read(log: &Log) -> Result<Vec<Record>, Error> {
    let mut reader = log.reader(0)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next()? {
        records.push(record);
    }
    Ok(records)
}

/// Encodes a message.
pub(crate) fn message(id: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// Message of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) client: Option<Client>,
    pub(crate) id: u64,
    pub(crate) payload: Vec<u8>,
}

impl From<&Record> for Stored {
    fn from(record: &Record) -> Self {
        Self { client: record.client, id: record.id, payload: record.payload.clone() }
    }
}

/// Block of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) client: Option<Client>,
    pub(crate) messages: Vec<(u64, Vec<u8>)>,
    pub(crate) refused: Vec<Refusal>,
}

/// Commits blocks.
pub(crate) fn commit(log: &mut Log, parts: &[Part], durable: bool) -> Result<(), Error> {
    let encode = |part: &Part| -> Vec<u8> {
        part.messages.iter().flat_map(|(id, payload)| message(*id, payload)).collect()
    };
    let bytes: Vec<Vec<u8>> = parts.iter().map(encode).collect();
    let blocks = parts.iter().zip(&bytes).map(|(part, messages)| Block {
        client: part.client,
        messages,
        refused: &part.refused,
    });
    log.commit(&blocks.collect::<Vec<_>>(), durable)
}

/// What a log should hold after these batches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) records: Vec<Stored>,
    pub(crate) positions: BTreeMap<[u8; 16], Position>,
}

impl Expected {
    pub(crate) fn after(batches: &[Vec<Part>]) -> Self {
        let mut expected = Self::default();
        for Part { client, messages, refused } in batches.iter().flatten() {
            for (id, payload) in messages {
                let (id, payload) = (*id, payload.clone());
                expected.records.push(Stored { client: *client, id, payload });
            }
            let Some(Client { id: client, epoch }) = *client else { continue };
            let ids = messages.iter().map(|(id, _)| *id);
            let newest = ids.chain(refused.iter().map(|refusal| refusal.id)).max();
            let newest = newest.expect("a block is not empty");
            let empty = Position { epoch, newest, refused: Vec::new() };
            let position = expected.positions.entry(client).or_insert_with(|| empty.clone());
            if epoch > position.epoch {
                *position = empty;
            }
            position.newest = newest;
            position.refused.extend(refused);
        }
        expected
    }
}
