//! Slab allocator for the entries of a wheel: numbered slots that are reused.
//!
//! Only the wheel calls it. It never runs user code.
//!
//! An entry is found by its slot number; a serial number that is never reused detects that the slot
//! holds another entry. Slots are allocated in blocks, so that growing moves no entry. When the
//! last entry is removed, all blocks but the first are freed.
//!
//! COST: 48 bytes per timer of the scheduler, in blocks of 256.

/// Slot number of no slot.
pub(crate) const NONE: u32 = u32::MAX;

const BLOCK: usize = 256;

/// Key of an entry. It never matches a later entry in the same slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) index: u32,
    serial: u64,
}

impl Key {
    /// Key that matches no entry.
    pub(crate) const NOTHING: Self = Self { index: NONE, serial: 0 };
}

/// One slot. While it is occupied, `prev` and `next` belong to the wheel.
pub(crate) struct Entry<T> {
    serial: u64,
    pub(crate) due: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    item: Option<T>,
}

/// Contents of a removed entry.
pub(crate) struct Removed<T> {
    pub(crate) item: T,
    pub(crate) due: u64,
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

/// The slots.
pub(crate) struct Slab<T> {
    blocks: Vec<Vec<Entry<T>>>,
    /// First slot of the free list, which is linked by `next`.
    vacant: u32,
    live: usize,
    /// Last serial number assigned.
    serial: u64,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Self {
        Self { blocks: Vec::new(), vacant: NONE, live: 0, serial: 0 }
    }

    /// Returns the number of occupied slots.
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

    /// Inserts an entry that is not yet in any list.
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

    /// Returns the entry with that key, or `None` if it was removed.
    pub(crate) fn find(&mut self, key: Key) -> Option<(u64, &mut T)> {
        let block = self.blocks.get_mut(key.index as usize / BLOCK)?;
        let entry = block.get_mut(key.index as usize % BLOCK)?;
        let item = entry.item.as_mut().filter(|_| entry.serial == key.serial)?;
        Some((entry.due, item))
    }

    /// Removes the entry with that key, or returns `None` if it was removed before. The wheel must
    /// unlink it from its list.
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

    /// Returns the key of the entry in an occupied slot.
    pub(crate) fn key(&mut self, index: u32) -> Key {
        Key { index, serial: self.entry(index).serial }
    }

    /// Frees memory if no entry is left. Former slot numbers must not be used any more.
    pub(crate) fn trim(&mut self) {
        if self.live == 0 && self.blocks.len() > 1 {
            self.free_blocks();
        }
    }

    /// Removes all entries. Former keys match nothing.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        (self.live, self.vacant) = (0, NONE);
        std::mem::take(&mut self.blocks).into_iter().flatten().filter_map(|entry| entry.item)
    }

    /// Adds one slot to the free list.
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
    fn free_blocks(&mut self) {
        self.blocks.truncate(1);
        self.blocks.iter_mut().for_each(Vec::clear);
        self.vacant = NONE;
    }

    /// Returns the bytes allocated for slots.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.capacity() * size_of::<Entry<T>>()).sum()
    }
}
