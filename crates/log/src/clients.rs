//! Table of client states.
//!
//! Bounded: when the table is full, the eighth of the clients that has been written least recently is
//! forgotten.

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
    /// Sequence number at which the client was last written.
    pub(crate) written: u64,
}

/// States of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clients(HashMap<[u8; 16], State>);

impl Clients {
    pub(crate) fn insert(&mut self, id: [u8; 16], state: State) {
        self.0.insert(id, state);
    }

    pub(crate) fn get(&self, id: [u8; 16]) -> Option<&Position> {
        self.0.get(&id).map(|state| &state.position)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8; 16], &State)> {
        self.0.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
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
        let state = match self.0.entry(id) {
            Entry::Vacant(new) => new.insert(State { position: first(), written: sequence }),
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
        state.written = sequence;
        let position = &mut state.position;
        position.newest = position.newest.max(newest);
        position.refused.extend(&section.refused);
        let oldest = position.newest.saturating_sub(WINDOW);
        position.refused.retain(|Refusal { id, .. }| *id >= oldest);
    }

    /// Forgets the least recently written clients if there are more than `most`.
    pub(crate) fn limit(&mut self, most: usize) {
        if self.0.len() <= most {
            return;
        }
        let mut written: Vec<u64> = self.0.values().map(|state| state.written).collect();
        let forgotten = self.0.len() - most + most / 8;
        let (_, newest, _) = written.select_nth_unstable(forgotten.min(self.0.len()) - 1);
        let newest = *newest;
        self.0.retain(|_, state| state.written > newest);
    }
}
