//! Reassembly of fragmented messages.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use purlin_term::{Atom, AtomTable};
use rustc_hash::FxBuildHasher;

use crate::protocol::broken::Broken;
use crate::protocol::frame::limits::Limits;

/// Incomplete messages by sequence id.
///
/// INVARIANT: `held` is the sum of the lengths of all of them.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    open: HashMap<u64, Open, FxBuildHasher>,
    held: usize,
}

#[derive(Debug)]
struct Open {
    /// Fragment id expected next; the last fragment has id 1.
    next: u64,
    atoms: Vec<Atom>,
    bytes: Vec<u8>,
}

/// A reassembled message.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) atoms: Vec<Atom>,
    pub(super) bytes: Vec<u8>,
}

impl Fragments {
    /// Takes the first fragment of a message with more than one.
    pub(super) fn begin(
        &mut self,
        sequence: u64,
        left: u64,
        atoms: AtomTable<'_>,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<(), Broken> {
        let room = self.open.len() < limits.sequences;
        let Entry::Vacant(place) = self.open.entry(sequence) else {
            return Err(Broken::Sequence(sequence));
        };
        if !room {
            return Err(Broken::TooManySequences);
        }
        self.held = more(self.held, bytes, limits)?;
        place.insert(Open { next: left - 1, atoms: atoms.to_vec(), bytes: bytes.to_vec() });
        Ok(())
    }

    /// Takes a further fragment. Returns the message if it was the last one.
    pub(super) fn go_on(
        &mut self,
        sequence: u64,
        left: u64,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<Whole>, Broken> {
        let Entry::Occupied(mut place) = self.open.entry(sequence) else {
            return Err(Broken::Sequence(sequence));
        };
        if place.get().next != left {
            return Err(Broken::Sequence(sequence));
        }
        self.held = more(self.held, bytes, limits)?;
        let open = place.get_mut();
        open.bytes.extend_from_slice(bytes);
        open.next -= 1;
        if open.next > 0 {
            return Ok(None);
        }
        let Open { atoms, bytes, .. } = place.remove();
        self.held -= bytes.len();
        Ok(Some(Whole { atoms, bytes }))
    }
}

fn more(held: usize, bytes: &[u8], limits: &Limits) -> Result<usize, Broken> {
    let held = held + bytes.len();
    if held > limits.fragments { Err(Broken::TooMuch) } else { Ok(held) }
}
