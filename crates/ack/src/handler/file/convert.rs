//! Conversion of the file of earlier versions to a log.
//!
//! The file holds the messages as clients sent them, consecutively, with little-endian sizes. Where the
//! client changes, the session opening of the new client precedes its messages, with zeros for a client
//! without a session. The file has no checksums: conversion stops where it cannot be right.

use std::fs;
use std::io::{BufReader, Read as _};
use std::path::Path;

use purlin_log::{Block, Client, Error, Log, Options};

use crate::wire::frames::Frame;
use crate::wire::session::Opening;
use crate::wire::{HEAD, Head, SizeOrder};

/// Client that stands for all clients without a session.
const NO_SESSION: Client = Client { id: [0; 16], epoch: 0 };
/// Messages are committed when they exceed this number of bytes.
const TOGETHER: usize = 4 << 20;

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Number of messages.
    pub messages: u64,
    /// Offset of the first byte that was not converted, if any: the rest is not whole messages of
    /// sessions with ascending ids.
    pub stopped: Option<u64>,
}

/// Copies the messages of a file that an earlier version wrote to a new log. The file is not changed.
///
/// # Errors
/// Fails if the file cannot be read, or the log cannot be written or is not empty.
pub fn convert(file: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Converted, Error> {
    let (path, to) = (file.as_ref(), to.as_ref());
    let failed = |error| Error::Io { action: "read", path: path.to_owned(), error };
    let file = fs::File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut log = Log::open(to, Options::default())?;
    if log.next_sequence() > 0 {
        let error = std::io::Error::other("it has messages already");
        return Err(Error::Io { action: "convert to", path: to.to_owned(), error });
    }
    let mut file = BufReader::with_capacity(1 << 20, file);
    let mut copy = Copy { client: NO_SESSION, newest: None, messages: Vec::new() };
    let mut offset = 0;
    while length - offset >= HEAD as u64 {
        let mut bytes = [0; HEAD];
        file.read_exact(&mut bytes).map_err(failed)?;
        let head = Head::from_bytes(bytes, SizeOrder::Little);
        let end = offset + HEAD as u64 + u64::from(head.size);
        // WHY before it is allocated: a damaged size can be up to 4 GiB.
        if end > length {
            break;
        }
        let mut payload = vec![0; head.size as usize];
        file.read_exact(&mut payload).map_err(failed)?;
        if !copy.add(&mut log, head, &payload)? {
            break;
        }
        offset = end;
    }
    copy.commit(&mut log)?;
    let messages = log.next_sequence();
    log.close()?;
    Ok(Converted { messages, stopped: (offset < length).then_some(offset) })
}

/// Messages of one client that are not yet in the log.
struct Copy {
    client: Client,
    newest: Option<u64>,
    messages: Vec<u8>,
}

impl Copy {
    /// Adds a message. Returns whether it can be one of its client.
    fn add(&mut self, log: &mut Log, head: Head, payload: &[u8]) -> Result<bool, Error> {
        if let Ok(Some(opening)) = Opening::of(&Frame { id: head.id, payload }) {
            self.commit(log)?;
            let Opening { client: id, epoch, level: _ } = opening;
            self.client = Client { id, epoch };
            let stored = log.position(id)?.filter(|position| position.epoch == epoch);
            self.newest = stored.map(|position| position.newest);
            return Ok(true);
        }
        let id = head.id.number();
        if self.client != NO_SESSION && self.newest.is_some_and(|newest| id <= newest) {
            return Ok(false);
        }
        self.newest = Some(id);
        self.messages.extend(head.to_bytes(SizeOrder::Little));
        self.messages.extend_from_slice(payload);
        if self.messages.len() > TOGETHER {
            self.commit(log)?;
        }
        Ok(true)
    }

    fn commit(&mut self, log: &mut Log) -> Result<(), Error> {
        if !self.messages.is_empty() {
            let client = (self.client != NO_SESSION).then_some(self.client);
            log.commit(&[Block { client, messages: &self.messages, refused: &[] }], false)?;
            self.messages.clear();
        }
        Ok(())
    }
}
