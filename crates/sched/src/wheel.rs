//! A hierarchical timing wheel: what is due when, without a thread, a lock or a clock.
//!
//! Whoever owns it tells it the time. Never runs user code, except that dropping the wheel drops
//! what is in it. Times are nanoseconds since some beginning.
//!
//! # The wheel
//!
//! Time is divided into *ticks* of 2²⁰ ns, a little over a millisecond. An entry is due at the first
//! tick that is not before its time, so never early. There are eight levels of 64 slots; a slot of
//! level 0 holds the entries of one tick, a slot of level `l` those of 64ˡ ticks. An entry lies at
//! the highest level in whose digit (of base 64) its tick differs from the present one:
//!
//! INVARIANT: all digits of an entry above its level are those of `present`, and its digit of that
//! level is greater (at level 0: not smaller). So whatever lies at a level is due before everything
//! at the levels above, and the first slot of the lowest level that has any is the first of all.
//!
//! When the present reaches a slot above level 0, its entries move down, each to its own place; an
//! entry moves at most seven times, and one that is taken back in time as a rule never.
//!
//! # Fresh entries
//!
//! Reading the clock costs more than all the rest of setting a timer. So an entry may be put in by
//! the length of its time alone. It is *fresh* then, in a list of its own, and its time begins when
//! the owner next says what time it is (`stamp`): later than it was asked for, never earlier.
//!
//! COST: 2 kB, and what `slab` says for each entry. Inserting and removing are a few reads and
//! writes, whatever the number of entries.

use crate::slab::{Key, NONE, Removed, Slab};

const DIGIT: u32 = 6;
const SLOTS: usize = 1 << DIGIT;
/// Ticks of 2²⁰ ns in 64 bits of nanoseconds take 44 bits.
const LEVELS: usize = 8;
const TICK_BITS: u32 = 20;
/// The list of fresh entries, behind those of the slots.
const FRESH: usize = LEVELS * SLOTS;
/// Marks the time of a fresh entry: it is a length, not a moment.
const LENGTH: u64 = 1 << 63;

/// The longest time: 146 years. What is longer counts as this.
pub(crate) const LONGEST: u64 = 1 << 62;
/// The tick that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// When an entry is due, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// So long after the time is next told.
    In(u64),
    /// At that moment.
    At(u64),
}

impl Due {
    #[inline]
    fn pack(self) -> u64 {
        match self {
            Self::In(length) => length.min(LONGEST) | LENGTH,
            Self::At(moment) => moment.min(LENGTH - 1),
        }
    }

    #[inline]
    fn unpack(due: u64) -> Self {
        if due & LENGTH == 0 { Self::At(due) } else { Self::In(due & !LENGTH) }
    }
}

/// The wheel.
pub(crate) struct Wheel<T> {
    slab: Slab<T>,
    /// The tick up to which everything has been handed out.
    present: u64,
    /// Levels that have entries, one bit each.
    levels: u8,
    /// Slots that have entries, one bit each.
    slots: [u64; LEVELS],
    /// The first entry of each list; the lists are rings.
    first: [u32; FRESH + 1],
}

/// The tick at which a moment has come.
#[inline]
pub(crate) fn tick_of(moment: u64) -> u64 {
    moment.div_ceil(1 << TICK_BITS)
}

/// The tick in which a moment lies.
#[inline]
pub(crate) fn tick_at(moment: u64) -> u64 {
    moment >> TICK_BITS
}

/// The moment at which a tick begins.
#[inline]
pub(crate) fn moment_of(tick: u64) -> u64 {
    tick << TICK_BITS
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            slab: Slab::new(),
            present: 0,
            levels: 0,
            slots: [0; LEVELS],
            first: [NONE; FRESH + 1],
        }
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Puts an entry in.
    #[inline]
    pub(crate) fn insert(&mut self, due: Due, item: T) -> Key {
        let key = self.slab.insert(due.pack(), item);
        match due {
            Due::In(_) => self.link(FRESH, key.index),
            Due::At(_) => self.place(key.index),
        }
        key
    }

    /// Takes an entry out before its time; `None` if it has been handed out or taken out.
    #[inline]
    pub(crate) fn cancel(&mut self, key: Key) -> Option<(T, Due)> {
        let removed = self.slab.remove(key)?;
        let due = Due::unpack(removed.due);
        let list = match due {
            Due::In(_) => FRESH,
            Due::At(moment) => self.list_of(tick_of(moment)),
        };
        Some((self.unlink(list, key.index, removed), due))
    }

    /// An entry that is still there, and when it is due.
    #[inline]
    pub(crate) fn find(&mut self, key: Key) -> Option<(&mut T, Due)> {
        self.slab.find(key).map(|(due, item)| (item, Due::unpack(due)))
    }

    /// The tick at which the owner should tell the time again: at once if there are fresh entries,
    /// else not later than the first entry is due.
    pub(crate) fn next(&self) -> u64 {
        if self.first[FRESH] != NONE {
            return 0;
        }
        self.first_slot().map_or(NEVER, |(_, _, start)| start)
    }

    /// Hands out one entry that is due; entries of one tick in the order in which they came.
    pub(crate) fn pop(&mut self, now: u64) -> Option<T> {
        let now = tick_at(now);
        loop {
            let slot = self.first_slot().filter(|&(_, _, start)| start <= now);
            let Some((level, slot, start)) = slot else {
                self.present = self.present.max(now);
                return None;
            };
            self.present = start;
            let list = level * SLOTS + slot;
            let index = self.first[list];
            if level == 0 {
                let key = self.slab.key(index);
                let removed = self.slab.remove(key)?;
                return Some(self.unlink(list, index, removed));
            }
            self.move_down(list);
        }
    }

    /// The time of the fresh entries begins now.
    pub(crate) fn stamp(&mut self, now: u64) {
        if self.levels == 0 {
            // The nearer the present, the fewer levels to move down.
            self.present = self.present.max(tick_at(now));
        }
        self.each(FRESH, |wheel, index| {
            let entry = wheel.slab.entry(index);
            entry.due = Due::At((entry.due & !LENGTH) + now).pack();
            wheel.place(index);
        });
    }

    /// Empties the wheel; keys of before find nothing.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        (self.levels, self.slots) = (0, [0; LEVELS]);
        self.first.fill(NONE);
        self.slab.take_all()
    }

    /// Level, number and first tick of the first slot that has entries.
    #[inline]
    fn first_slot(&self) -> Option<(usize, usize, u64)> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        let slot = self.slots[level].trailing_zeros() as usize;
        let digit = DIGIT * level as u32;
        let above = self.present & !((1 << (digit + DIGIT)) - 1);
        Some((level, slot, above | (slot as u64) << digit))
    }

    /// Where an entry of that tick lies, by the invariant.
    #[inline]
    fn list_of(&self, tick: u64) -> usize {
        let differ = (tick ^ self.present) | (SLOTS as u64 - 1);
        let level = ((u64::BITS - 1 - differ.leading_zeros()) / DIGIT) as usize;
        level * SLOTS + (tick >> (DIGIT * level as u32)) as usize % SLOTS
    }

    /// Puts an entry that is in no list where it belongs.
    #[inline]
    fn place(&mut self, index: u32) {
        let present = self.present;
        let entry = self.slab.entry(index);
        let mut tick = tick_of(entry.due);
        if tick < present {
            // It is overdue, and will be found in the slot of the present.
            entry.due = moment_of(present);
            tick = present;
        }
        let list = self.list_of(tick);
        self.link(list, index);
    }

    fn move_down(&mut self, list: usize) {
        self.each(list, Self::place);
    }

    /// Empties a list and hands its entries over, in order.
    fn each(&mut self, list: usize, mut f: impl FnMut(&mut Self, u32)) {
        let first = self.first[list];
        if first == NONE {
            return;
        }
        self.first[list] = NONE;
        self.clear(list);
        let last = self.slab.entry(first).prev;
        let mut index = first;
        loop {
            let next = self.slab.entry(index).next;
            f(self, index);
            if index == last {
                return;
            }
            index = next;
        }
    }

    /// Adds an entry at the end of a list.
    #[inline]
    fn link(&mut self, list: usize, index: u32) {
        let first = self.first[list];
        let (prev, next) = if first == NONE {
            self.first[list] = index;
            if list != FRESH {
                self.slots[list / SLOTS] |= 1 << (list % SLOTS);
                self.levels |= 1 << (list / SLOTS);
            }
            (index, index)
        } else {
            let last = std::mem::replace(&mut self.slab.entry(first).prev, index);
            self.slab.entry(last).next = index;
            (last, first)
        };
        let entry = self.slab.entry(index);
        (entry.prev, entry.next) = (prev, next);
    }

    /// Closes the gap that an entry has left in its list.
    #[inline]
    fn unlink(&mut self, list: usize, index: u32, removed: Removed<T>) -> T {
        let Removed { item, prev, next, .. } = removed;
        if next == index {
            self.first[list] = NONE;
            self.clear(list);
            self.slab.tidy();
            return item;
        }
        self.slab.entry(prev).next = next;
        self.slab.entry(next).prev = prev;
        if self.first[list] == index {
            self.first[list] = next;
        }
        item
    }

    /// Marks a list as empty.
    #[inline]
    fn clear(&mut self, list: usize) {
        if list != FRESH {
            let slots = &mut self.slots[list / SLOTS];
            *slots &= !(1 << (list % SLOTS));
            if *slots == 0 {
                self.levels &= !(1 << (list / SLOTS));
            }
        }
    }
}

#[cfg(test)]
#[path = "wheel_tests.rs"]
mod tests;
