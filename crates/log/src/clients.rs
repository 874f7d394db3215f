//! Table of client states.
//!
//! Bounded: when the table is full, the eighth of the clients that has been written least recently is
//! forgotten, but no client of the last batch, so that a batch with more clients exceeds the bound.
//!
//! A log that is opened again has the same table: each write of a client has a unique number, which
//! checkpoints contain, and clients are forgotten only after a batch.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::format::section::Section;
use crate::record::{Client, Position, Refusal};

/// Refusals of ids further below the newest are forgotten: the protocol's largest window.
const WINDOW: u64 = 1 << 20;

/// State of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) position: Position,
    /// Number of the last write of the client. It is the sequence number of the write's first record,
    /// or one more than that of the write before, if that is greater.
    ///
    /// WHY not the sequence number alone: refusals do not advance it, so any number of clients would
    /// have the same.
    pub(crate) written: u64,
}

/// States of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clients {
    states: HashMap<[u8; 16], State>,
    /// Lower limit of the number of the next write: greater than those of all clients.
    next_write: u64,
}

impl Clients {
    pub(crate) fn insert(&mut self, id: [u8; 16], state: State) {
        self.next_write = self.next_write.max(state.written.saturating_add(1));
        self.states.insert(id, state);
    }

    pub(crate) fn get(&self, id: [u8; 16]) -> Option<&Position> {
        self.states.get(&id).map(|state| &state.position)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8; 16], &State)> {
        self.states.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Returns the lower limit of the number of the next write.
    pub(crate) fn next_write(&self) -> u64 {
        self.next_write
    }

    /// Applies a section whose first record has this sequence number. Removes from it the messages and
    /// refusals that the client's position covers.
    pub(crate) fn apply(&mut self, section: &mut Section<'_>, sequence: u64) {
        let Some(Client { id, epoch }) = section.client else { return };
        if section.is_empty() {
            return;
        }
        let newest = section.newest;
        let first = || Position { epoch, newest, refused: Vec::new() };
        let written = sequence.max(self.next_write);
        let state = match self.states.entry(id) {
            Entry::Vacant(new) => new.insert(State { position: first(), written }),
            Entry::Occupied(known) => {
                let state = known.into_mut();
                match epoch.cmp(&state.position.epoch) {
                    Ordering::Less => return,
                    Ordering::Equal => {
                        section.remove_up_to(state.position.newest);
                        // WHY: nothing is written, so that a log that is opened again has the same table.
                        if section.is_empty() {
                            return;
                        }
                    }
                    Ordering::Greater => state.position = first(),
                }
                state
            }
        };
        state.written = written;
        self.next_write = written.saturating_add(1);
        let position = &mut state.position;
        position.newest = position.newest.max(newest);
        position.refused.extend(&section.refused);
        let oldest = position.newest.saturating_sub(WINDOW);
        position.refused.retain(|Refusal { id, .. }| *id >= oldest);
    }

    /// Forgets the least recently written clients if there are more than `most`, but none of those that
    /// were written since [`next_write`](Self::next_write) returned `batch`, when the last batch began.
    pub(crate) fn limit(&mut self, most: usize, batch: u64) {
        if self.states.len() <= most {
            return;
        }
        // WHY the id too: checkpoints of earlier releases have clients with the same number.
        let older = self.states.iter().filter(|(_, state)| state.written < batch);
        let mut older: Vec<(u64, [u8; 16])> =
            older.map(|(id, state)| (state.written, *id)).collect();
        let due = self.states.len() - most + most / 8;
        if due < older.len() {
            older.select_nth_unstable(due);
            older.truncate(due);
        }
        for (_, id) in older {
            self.states.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Client, Clients, Position, Section, State};
    use crate::record::{Block, Refusal};

    #[test]
    fn exactly_the_due_number_of_clients_with_equal_numbers_is_forgotten() {
        let mut clients = Clients::default();
        // As in a checkpoint of an earlier release, in which refusals did not advance the number.
        for id in 1..=9 {
            let position = Position { epoch: 0, newest: 0, refused: Vec::new() };
            clients.insert([id; 16], State { position, written: 5 });
        }
        let batch = clients.next_write();
        let refused = [Refusal { id: 0, reason: 1 }];
        let client = Some(Client { id: [0; 16], epoch: 0 });
        let block = Block { client, refused: &refused, ..Block::default() };
        let mut section = Section::of(&block).expect("it is whole");
        clients.apply(&mut section, 5);
        clients.limit(8, batch);
        let known: Vec<u8> = (0..=9).filter(|id| clients.get([*id; 16]).is_some()).collect();
        assert_eq!(known, [0, 4, 5, 6, 7, 8, 9]);
    }
}
