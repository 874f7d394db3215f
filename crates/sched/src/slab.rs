//! Memory for the entries of a wheel: numbered places, given out again when they are vacant.
//!
//! Only the wheel calls. Never runs user code.
//!
//! A place is found by its number; whether it still holds what one put there is told by a serial
//! number, which is never used twice. Places come in blocks, so that growing moves nothing; when the
//! last entry leaves, all blocks but the first are given back.
//!
//! COST: 48 bytes an entry of the scheduler's, in blocks of 256.

/// No place.
pub(crate) const NONE: u32 = u32::MAX;

const BLOCK: usize = 256;

/// What finds an entry again, and nothing that comes after it in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) index: u32,
    serial: u64,
}

impl Key {
    /// The key of no entry.
    pub(crate) const NOTHING: Self = Self { index: NONE, serial: 0 };
}

/// One place. `prev` and `next` are the wheel's while it is taken.
pub(crate) struct Entry<T> {
    serial: u64,
    pub(crate) due: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    item: Option<T>,
}

/// What was in a place.
pub(crate) struct Removed<T> {
    pub(crate) item: T,
    pub(crate) due: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

/// The places.
pub(crate) struct Slab<T> {
    blocks: Vec<Vec<Entry<T>>>,
    /// The first of the vacant places, which are chained by `next`.
    vacant: u32,
    live: usize,
    /// The serial number given last.
    serial: u64,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { blocks: Vec::new(), vacant: NONE, live: 0, serial: 0 }
    }

    /// How many places are taken.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    #[inline(always)]
    pub(crate) fn entry(&mut self, index: u32) -> &mut Entry<T> {
        &mut self.blocks[index as usize / BLOCK][index as usize % BLOCK]
    }

    pub(crate) fn get(&self, index: u32) -> &Entry<T> {
        &self.blocks[index as usize / BLOCK][index as usize % BLOCK]
    }

    /// Takes a place, in no list yet.
    #[inline(always)]
    pub(crate) fn insert(&mut self, due: u64, item: T) -> Key {
        if self.vacant == NONE {
            self.grow();
        }
        let index = self.vacant;
        self.serial += 1;
        let serial = self.serial;
        let entry = self.entry(index);
        let next = entry.next;
        (entry.serial, entry.due, entry.item) = (serial, due, Some(item));
        self.vacant = next;
        self.live += 1;
        Key { index, serial }
    }

    /// The entry of that key, if it is still there.
    #[inline]
    pub(crate) fn find(&mut self, key: Key) -> Option<(u64, &mut T)> {
        let block = self.blocks.get_mut(key.index as usize / BLOCK)?;
        let entry = block.get_mut(key.index as usize % BLOCK)?;
        let item = entry.item.as_mut().filter(|_| entry.serial == key.serial)?;
        Some((entry.due, item))
    }

    /// Takes out the entry of that key, if it is still there; the wheel takes it out of its list.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: Key) -> Option<Removed<T>> {
        let vacant = self.vacant;
        let block = self.blocks.get_mut(key.index as usize / BLOCK)?;
        let entry = block.get_mut(key.index as usize % BLOCK)?;
        if entry.serial != key.serial {
            return None;
        }
        let item = entry.item.take()?;
        let removed = Removed { item, due: entry.due, prev: entry.prev, next: entry.next };
        entry.next = vacant;
        self.vacant = key.index;
        self.live -= 1;
        Some(removed)
    }

    /// The key of an entry that is there.
    pub(crate) fn key(&mut self, index: u32) -> Key {
        Key { index, serial: self.entry(index).serial }
    }

    /// Gives memory back if there is no entry left. No place of before is looked at again.
    #[inline]
    pub(crate) fn tidy(&mut self) {
        if self.live == 0 && self.blocks.len() > 1 {
            self.give_back();
        }
    }

    /// Empties everything; keys of before find nothing.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        (self.live, self.vacant) = (0, NONE);
        std::mem::take(&mut self.blocks).into_iter().flatten().filter_map(|entry| entry.item)
    }

    /// Makes one more place.
    #[cold]
    fn grow(&mut self) {
        if self.blocks.last().is_none_or(|block| block.len() == BLOCK) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let blocks = self.blocks.len();
        let Some(block) = self.blocks.last_mut() else { return };
        let index = (blocks - 1) * BLOCK + block.len();
        assert!(index < NONE as usize, "more timers than a worker can hold");
        block.push(Entry { serial: 0, due: 0, prev: NONE, next: NONE, item: None });
        self.vacant = index as u32;
    }

    #[cold]
    fn give_back(&mut self) {
        self.blocks.truncate(1);
        self.blocks.iter_mut().for_each(Vec::clear);
        self.vacant = NONE;
    }

    /// Bytes that are kept for entries.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.capacity() * size_of::<Entry<T>>()).sum()
    }
}
