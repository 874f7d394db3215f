//! Hierarchical timing wheel, as a pure data structure without threads, locks or clocks.
//!
//! The owner passes in the time. The wheel never runs user code, except that dropping it drops its
//! entries. Times are nanoseconds since an arbitrary origin.
//!
//! # Structure
//!
//! Time is divided into *ticks* of 2¹⁵ ns, 33 µs. An entry is due at the first tick that is not
//! before its time, so never early. There are eight levels of 64 slots; a slot of level 0 holds the
//! entries of one tick, a slot of level `l` those of 64ˡ ticks. An entry is at the highest level at
//! which its tick and the present tick differ in their base-64 digits:
//!
//! INVARIANT: all digits of an entry above its level equal those of `present`, and its digit of
//! that level is greater (at level 0: not smaller). So the entries of a level are due before all
//! entries of higher levels, and the first occupied slot of the lowest occupied level is due first.
//!
//! When the present tick reaches a slot above level 0, its entries move down, each to the level of
//! its tick. An entry moves at most seven times; one that is cancelled early usually never moves.
//!
//! COST: 2 kB, plus the entries (see `slab`). Inserting and removing take a few reads and writes,
//! independent of the number of entries.

mod exactly;

use crate::timers::slab::{Key, NONE, Removed, Slab};

const DIGIT: u32 = 6;
const SLOTS: usize = 1 << DIGIT;
const LEVELS: usize = 8;
const TICK_BITS: u32 = 15;
/// Last moment that an entry may be due at: that of the last tick of the highest level.
const LAST: u64 = moment_of((1 << (DIGIT * LEVELS as u32)) - 1);

/// Tick that is never reached.
pub(crate) const NEVER: u64 = u64::MAX;

/// Hierarchical timing wheel.
pub(crate) struct Wheel<T> {
    slab: Slab<T>,
    /// Tick up to which all entries have been popped.
    present: u64,
    /// Occupied levels, one bit each.
    levels: u8,
    /// Occupied slots, one bit each.
    slots: [u64; LEVELS],
    /// First entry of each list; the lists are circular.
    first: [u32; LEVELS * SLOTS],
}

/// Returns the first tick that does not begin before a moment.
pub(crate) fn tick_of(moment: u64) -> u64 {
    moment.div_ceil(1 << TICK_BITS)
}

/// Returns the tick that contains a moment.
pub(crate) fn tick_at(moment: u64) -> u64 {
    moment >> TICK_BITS
}

/// Returns the moment at which a tick begins.
pub(crate) const fn moment_of(tick: u64) -> u64 {
    tick << TICK_BITS
}

impl<T> Wheel<T> {
    pub(crate) fn new() -> Self {
        Self {
            slab: Slab::new(),
            present: 0,
            levels: 0,
            slots: [0; LEVELS],
            first: [NONE; LEVELS * SLOTS],
        }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Inserts an entry that is due at `due`; `now` is the present moment.
    #[inline(always)]
    pub(crate) fn insert(&mut self, now: u64, due: u64, item: T) -> Key {
        if self.levels == 0 {
            // The closer `present` is, the fewer levels the entry has to move down.
            self.present = self.present.max(tick_at(now));
        }
        let due = due.min(LAST);
        let key = self.slab.insert(due, item);
        self.link_by_due(key.index, due);
        key
    }

    /// Removes an entry before it is due. Returns it and when it was due, or `None` if it was
    /// popped or removed before.
    #[inline(always)]
    pub(crate) fn cancel(&mut self, key: Key) -> Option<(T, u64)> {
        let removed = self.slab.remove(key)?;
        let due = removed.due;
        let list = self.list_of(tick_of(due));
        Some((self.unlink(list, key.index, removed), due))
    }

    /// Returns an entry and when it is due, or `None` if it was popped or removed.
    pub(crate) fn find(&mut self, key: Key) -> Option<(&mut T, u64)> {
        self.slab.find(key).map(|(due, item)| (item, due))
    }

    /// Returns the tick at which the owner should pass in the time: at the latest when the first
    /// entry is due.
    pub(crate) fn next(&self) -> u64 {
        self.first_slot().map_or(NEVER, |(_, _, start)| start)
    }

    /// Pops one due entry; entries of one tick in the order of insertion.
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
                return self.take_out(list, index);
            }
            self.move_down(list);
        }
    }

    /// Removes an entry from its list.
    fn take_out(&mut self, list: usize, index: u32) -> Option<T> {
        let key = self.slab.key(index);
        let removed = self.slab.remove(key)?;
        Some(self.unlink(list, index, removed))
    }

    /// Removes all entries. Former keys match nothing.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        (self.levels, self.slots) = (0, [0; LEVELS]);
        self.first.fill(NONE);
        self.slab.take_all()
    }

    /// Returns level, number and first tick of the first occupied slot.
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

    /// Returns the list of an entry with that tick, by the invariant.
    fn list_of(&self, tick: u64) -> usize {
        let differ = (tick ^ self.present) | (SLOTS as u64 - 1);
        let level = ((u64::BITS - 1 - differ.leading_zeros()) / DIGIT) as usize;
        level * SLOTS + (tick >> (DIGIT * level as u32)) as usize % SLOTS
    }

    /// Inserts an entry that is in no list into the list of its tick.
    #[inline]
    fn link_by_due(&mut self, index: u32, due: u64) {
        let mut tick = tick_of(due);
        if tick < self.present {
            // It is overdue, and goes to the slot of the present tick.
            tick = self.present;
            self.slab.entry(index).due = moment_of(tick);
        }
        let list = self.list_of(tick);
        self.link(list, index);
    }

    /// Moves the entries of a list, in order, to the lists of their ticks.
    fn move_down(&mut self, list: usize) {
        let first = self.first[list];
        self.first[list] = NONE;
        self.clear(list);
        let last = self.slab.entry(first).prev;
        let mut index = first;
        loop {
            let entry = self.slab.entry(index);
            let (next, due) = (entry.next, entry.due);
            self.link_by_due(index, due);
            if index == last {
                return;
            }
            index = next;
        }
    }

    /// Appends an entry to a list.
    #[inline(always)]
    fn link(&mut self, list: usize, index: u32) {
        let first = self.first[list];
        let (prev, next) = if first == NONE {
            self.first[list] = index;
            self.slots[list / SLOTS] |= 1 << (list % SLOTS);
            self.levels |= 1 << (list / SLOTS);
            (index, index)
        } else {
            let last = std::mem::replace(&mut self.slab.entry(first).prev, index);
            self.slab.entry(last).next = index;
            (last, first)
        };
        let entry = self.slab.entry(index);
        (entry.prev, entry.next) = (prev, next);
    }

    /// Unlinks a removed entry from its list.
    #[inline(always)]
    fn unlink(&mut self, list: usize, index: u32, removed: Removed<T>) -> T {
        let Removed { item, prev, next, .. } = removed;
        if next == index {
            self.first[list] = NONE;
            self.clear(list);
            self.slab.trim();
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
    fn clear(&mut self, list: usize) {
        let slots = &mut self.slots[list / SLOTS];
        *slots &= !(1 << (list % SLOTS));
        if *slots == 0 {
            self.levels &= !(1 << (list / SLOTS));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::clock::LONGEST;

    /// A wheel together with a reference implementation, a sorted map.
    struct Pair {
        wheel: Wheel<usize>,
        now: u64,
        keys: Vec<Key>,
        /// Key: tick, then order of placement. Value: number and time.
        placed: BTreeMap<(u64, usize), (usize, u64)>,
    }

    impl Pair {
        fn new() -> Self {
            Self { wheel: Wheel::new(), now: 0, keys: Vec::new(), placed: BTreeMap::new() }
        }

        fn insert(&mut self, due: u64) {
            let number = self.keys.len();
            self.keys.push(self.wheel.insert(self.now, due, number));
            // An entry that is overdue when inserted is due now.
            let present = moment_of(tick_at(self.now));
            let due = if tick_of(due) < tick_of(present) { present } else { due };
            self.placed.insert((tick_of(due), number), (number, due));
        }

        fn cancel(&mut self, number: usize) {
            let Some(&key) = self.keys.get(number) else { return };
            let placed = self.placed.iter().find(|(_, placed)| placed.0 == number);
            let placed = placed.map(|(&place, &entry)| (place, entry));
            if let Some((place, _)) = placed {
                self.placed.remove(&place);
            }
            assert_eq!(self.wheel.cancel(key), placed.map(|(_, entry)| entry), "{number}");
        }

        fn forward(&mut self, by: u64) {
            self.now += by;
            let present = tick_at(self.now);
            while let Some(entry) =
                self.placed.first_entry().filter(|entry| entry.key().0 <= present)
            {
                let (number, moment) = entry.remove();
                assert!(moment <= self.now, "early");
                assert_eq!(self.wheel.pop(self.now), Some(number));
            }
            assert_eq!(self.wheel.pop(self.now), None);
        }

        fn check_next(&self) {
            assert_eq!(self.wheel.len(), self.placed.len());
            let next = self.wheel.next();
            match self.placed.first_key_value() {
                None => assert_eq!(next, NEVER),
                Some(((first, _), _)) => assert!(next <= *first && next >= tick_at(self.now)),
            }
        }
    }

    #[derive(Debug, Clone)]
    pub(super) enum Step {
        At(u64),
        In(u64),
        Cancel(usize),
        Forward(u64),
    }

    /// Times of every order of magnitude.
    fn time() -> impl Strategy<Value = u64> {
        (0..56_u32, any::<u64>()).prop_map(|(bits, time)| time & ((1 << bits) - 1))
    }

    pub(super) fn step() -> impl Strategy<Value = Step> {
        // WHY not `prop_oneof`: generating the steps would then take most of the test's time.
        (0..11u8, time(), 0..200_usize).prop_map(|(kind, time, number)| match kind {
            0..3 => Step::At(time),
            3..6 => Step::In(time),
            6..8 => Step::Cancel(number),
            _ => Step::Forward(time),
        })
    }

    proptest! {
        // N3: no entry is early, late by more than a tick, lost or duplicated
        #[test]
        fn a_wheel_behaves_like_a_sorted_map(steps in prop::collection::vec(step(), 1..200)) {
            let mut pair = Pair::new();
            for step in steps {
                match step {
                    Step::At(time) => pair.insert(pair.now / 2 + time),
                    Step::In(time) => pair.insert(pair.now + time),
                    Step::Cancel(number) => pair.cancel(number),
                    Step::Forward(by) => pair.forward(by),
                }
                pair.check_next();
            }
            pair.forward(1 << 58);
            prop_assert_eq!(pair.wheel.len(), 0);
        }

        // N3: a sleeper that relies on `next` wakes a few times for one timer, and at its tick
        #[test]
        fn a_lone_timer_is_popped_at_its_tick_after_few_wake_ups(now in time(), length in time()) {
            let mut wheel = Wheel::new();
            assert_eq!(wheel.pop(now), None);
            wheel.insert(now, now + length, ());
            let mut checks = 0;
            loop {
                let next = wheel.next();
                checks += 1;
                if wheel.pop(moment_of(next)).is_some() {
                    prop_assert_eq!(next, tick_of(now + length));
                    break;
                }
            }
            prop_assert!(checks <= LEVELS, "{} checks", checks);
        }
    }

    #[test]
    fn memory_is_freed_with_the_last_entry_and_former_keys_match_nothing() {
        let mut wheel = Wheel::new();
        let one = wheel.insert(0, 0, 0);
        assert_eq!(wheel.cancel(one), Some((0, 0)));
        let block = wheel.slab.bytes();
        let keys: Vec<_> = (0..100_000).map(|n| wheel.insert(0, n << 20, n)).collect();
        assert!(wheel.slab.bytes() > 100 * block);
        for (n, key) in keys.iter().enumerate() {
            assert_eq!(wheel.cancel(*key), Some((n as u64, (n as u64) << 20)));
        }
        assert_eq!(wheel.slab.bytes(), block);
        let again = wheel.insert(0, 1, 7);
        assert!(keys.iter().chain([&one]).all(|&key| wheel.cancel(key).is_none()));
        assert_eq!(wheel.find(again), Some((&mut 7, 1)));
        assert_eq!(wheel.take_all().collect::<Vec<_>>(), [7]);
        assert_eq!((wheel.cancel(again), wheel.len(), wheel.next()), (None, 0, NEVER));
    }

    #[test]
    fn an_entry_beyond_the_last_tick_is_due_at_that_tick() {
        for due in [LONGEST + (1 << 61), u64::MAX] {
            let mut wheel = Wheel::new();
            let key = wheel.insert(1 << 61, due, ());
            assert_eq!(wheel.find(key), Some((&mut (), due.min(LAST))));
            assert_eq!(wheel.pop(LONGEST), None);
            assert_eq!(wheel.cancel(key), Some(((), due.min(LAST))));
        }
    }
}
