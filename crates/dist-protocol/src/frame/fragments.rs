//! Reassembly of fragmented messages.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use purlin_term::{Atom, AtomTable};
use rustc_hash::FxBuildHasher;

use crate::broken::Broken;
use crate::frame::limits::Limits;

/// Incomplete messages by sequence id.
///
/// INVARIANT: `held` is the sum of the sizes of all of them, and `atoms_held` that of their atoms.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    open: HashMap<u64, Open, FxBuildHasher>,
    pub(super) held: usize,
    atoms_held: usize,
}

#[derive(Debug)]
struct Open {
    /// Fragment id expected next; the last fragment has id 1.
    next: u64,
    /// The fragments so far; `None` if the message was ended because it exceeded the limit.
    kept: Option<Whole>,
}

/// A message, reassembled as far as it has arrived. The first fragment contains the control message.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) atoms: Vec<Atom>,
    pub(super) bytes: Vec<u8>,
    /// Whether it exceeds the limit, so that its payload is incomplete.
    pub(super) exceeds: bool,
}

impl Whole {
    /// Its size in bytes of memory.
    fn size(&self) -> usize {
        self.bytes.len() + self.atom_size()
    }

    /// Size of its atoms in bytes of memory.
    fn atom_size(&self) -> usize {
        self.atoms.iter().map(|atom| size_of::<Atom>() + atom.as_str().len()).sum()
    }
}

impl Fragments {
    /// Takes the first fragment of a message with more than one. Returns the message if it exceeds the limit.
    pub(super) fn begin(
        &mut self,
        sequence: u64,
        left: u64,
        atoms: AtomTable<'_>,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<Whole>, Broken> {
        let room = self.open.len() < limits.sequences;
        let Entry::Vacant(entry) = self.open.entry(sequence) else {
            return Err(Broken::Sequence(sequence));
        };
        if !room {
            return Err(Broken::TooManySequences);
        }
        let mut whole = Whole { atoms: atoms.to_vec(), bytes: bytes.to_vec(), exceeds: false };
        let (held, atoms_held) = (self.held + whole.size(), self.atoms_held + whole.atom_size());
        whole.exceeds = held > limits.fragments || atoms_held > limits.atoms;
        if whole.exceeds {
            entry.insert(Open { next: left - 1, kept: None });
            return Ok(Some(whole));
        }
        (self.held, self.atoms_held) = (held, atoms_held);
        entry.insert(Open { next: left - 1, kept: Some(whole) });
        Ok(None)
    }

    /// Takes a further fragment. Returns the message if it was the last one, or exceeds the limit.
    pub(super) fn go_on(
        &mut self,
        sequence: u64,
        left: u64,
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<Whole>, Broken> {
        let Entry::Occupied(mut entry) = self.open.entry(sequence) else {
            return Err(Broken::Sequence(sequence));
        };
        let open = entry.get_mut();
        if open.next != left {
            return Err(Broken::Sequence(sequence));
        }
        open.next -= 1;
        let is_last = open.next == 0;
        let mut exceeds = false;
        if let Some(whole) = &mut open.kept {
            exceeds = self.held + bytes.len() > limits.fragments;
            if exceeds {
                whole.exceeds = true;
            } else {
                self.held += bytes.len();
                whole.bytes.extend_from_slice(bytes);
            }
        }
        let whole = match (is_last, exceeds) {
            (true, _) => entry.remove().kept,
            (false, true) => open.kept.take(),
            (false, false) => None,
        };
        self.held -= whole.as_ref().map_or(0, Whole::size);
        self.atoms_held -= whole.as_ref().map_or(0, Whole::atom_size);
        Ok(whole)
    }
}
