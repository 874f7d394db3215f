//! Atom cache of each direction.
//!
//! *Outgoing*: an atom has one entry, selected by the hash of its text, and keeps it until another
//! atom with the same entry is written. Within one frame an entry cannot change, because the header
//! comes first; a second atom for the same entry is then spelt out in its term.
//!
//! *Incoming*: the peer decides. This table is the only storage that a peer's atoms fill, and it
//! has 2048 entries.
//!
//! COST: 48 KiB (incoming) and 64 KiB (outgoing) per connection, from its first atom on; an atom
//! longer than 23 bytes has one allocation while it is in the cache.

use std::hash::{Hash, Hasher};

use purlin_term::Atom;
use rustc_hash::FxHasher;

use crate::broken::Broken;

/// Number of entries of a cache.
pub(super) const SLOTS: usize = 2048;
/// Maximum number of atoms in a header.
pub(super) const MOST_LISTED: usize = 255;

/// Receive atom cache: the atoms the peer has sent.
#[derive(Debug, Default)]
pub(super) struct ReceiveCache {
    atoms: Vec<Atom>,
    /// Whether each entry is set.
    there: Vec<bool>,
}

impl ReceiveCache {
    pub(super) fn put(&mut self, slot: u16, atom: Atom) {
        self.atoms.resize(SLOTS, Atom::EMPTY);
        self.there.resize(SLOTS, false);
        let slot = usize::from(slot) % SLOTS;
        self.atoms[slot] = atom;
        self.there[slot] = true;
    }

    /// Returns an error if the entry is empty.
    pub(super) fn has(&self, slot: u16) -> Result<(), Broken> {
        let is_there = self.there.get(usize::from(slot)).copied().unwrap_or(false);
        if is_there { Ok(()) } else { Err(Broken::NotCached(slot)) }
    }

    /// All entries.
    pub(super) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }
}

/// Send atom cache: the atoms sent to the peer, and those of the frame being encoded.
#[derive(Debug, Default)]
pub(super) struct SendCache {
    entries: Vec<Entry>,
    /// Number of the frame being encoded.
    frame: u64,
    listed: Vec<Listed>,
    /// Previous values of entries overwritten for this frame.
    before: Vec<(u16, Option<Atom>)>,
    /// Number of changes of entries.
    changes: u64,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    atom: Option<Atom>,
    /// The last frame that listed this entry, and the index in its list.
    frame: u64,
    index: u8,
}

/// An entry in a header's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) slot: u16,
    pub(super) is_new: bool,
}

impl SendCache {
    /// Begins a frame.
    pub(super) fn begin(&mut self) {
        self.frame += 1;
        self.listed.clear();
        self.before.clear();
    }

    /// Returns the index of the atom in this frame, or `None` if it must be spelt out.
    pub(super) fn index(&mut self, atom: &Atom) -> Option<u8> {
        let mut hasher = FxHasher::default();
        atom.hash(&mut hasher);
        // WHY the upper bits: they are better distributed in this hash.
        let at = (hasher.finish() >> 53) as u16;
        self.entries.resize(SLOTS, Entry::default());
        let slot = &mut self.entries[usize::from(at)];
        let is_there = slot.atom.as_ref() == Some(atom);
        if slot.frame == self.frame {
            return is_there.then_some(slot.index);
        }
        if self.listed.len() == MOST_LISTED {
            return None;
        }
        if !is_there {
            self.changes += 1;
            self.before.push((at, slot.atom.replace(atom.clone())));
        }
        slot.frame = self.frame;
        slot.index = self.listed.len() as u8;
        self.listed.push(Listed { slot: at, is_new: !is_there });
        Some(slot.index)
    }

    /// Version of the cache: unchanged as long as all entries keep their atoms.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether this frame changes an entry.
    pub(super) fn is_changed(&self) -> bool {
        !self.before.is_empty()
    }

    /// Discards the frame, which will not be sent, and restores the entries.
    pub(super) fn forget(&mut self) {
        self.changes += 1;
        while let Some((at, atom)) = self.before.pop() {
            self.entries[usize::from(at)].atom = atom;
        }
        self.listed.clear();
    }

    /// The list in the header of this frame.
    pub(super) fn listed(&self) -> impl ExactSizeIterator<Item = (Listed, &str)> {
        self.listed.iter().map(|listed| {
            let atom = self.entries[usize::from(listed.slot)].atom.as_ref();
            (*listed, atom.map_or("", Atom::as_str))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(number: usize) -> Atom {
        Atom::new(&format!("atom_{number}")).expect("a short text")
    }

    fn new_ones(cache: &SendCache) -> Vec<String> {
        let new = cache.listed().filter(|(listed, _)| listed.is_new);
        new.map(|(_, text)| text.to_owned()).collect()
    }

    #[test]
    fn atom_is_sent_once_and_has_one_index_per_frame() {
        let mut cache = SendCache::default();
        cache.begin();
        assert_eq!([1, 2, 1].map(|n| cache.index(&atom(n))), [Some(0), Some(1), Some(0)]);
        assert_eq!(new_ones(&cache), ["atom_1", "atom_2"]);
        cache.begin();
        assert_eq!([2, 3].map(|n| cache.index(&atom(n))), [Some(0), Some(1)]);
        assert_eq!(new_ones(&cache), ["atom_3"]);
    }

    #[test]
    fn frame_lists_at_most_255_atoms_and_each_entry_once() {
        let mut cache = SendCache::default();
        cache.begin();
        let given = (0..5000).filter(|n| cache.index(&atom(*n)).is_some()).count();
        assert_eq!(given, MOST_LISTED);
        let mut slots: Vec<_> = cache.listed().map(|(listed, _)| listed.slot).collect();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), MOST_LISTED);
    }

    #[test]
    fn discarded_frame_leaves_the_cache_unchanged() {
        let mut cache = SendCache::default();
        cache.begin();
        cache.index(&atom(1));
        cache.begin();
        assert!((0..3000).any(|n| cache.index(&atom(n)).is_none()));
        cache.forget();
        assert_eq!(cache.listed().len(), 0);
        cache.begin();
        cache.index(&atom(1));
        cache.index(&atom(2));
        assert_eq!(new_ones(&cache), ["atom_2"]);
    }
}
