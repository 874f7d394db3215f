//! Timing wheel with nanosecond precision, for a manual clock that advances from one entry to the
//! next.
//!
//! Only a simulation uses it. COST: a walk over the entries of one slot.

use super::{NONE, SLOTS, Wheel};

impl<T> Wheel<T> {
    /// Returns when the first entry is due. Moves no entries.
    pub(crate) fn first_due(&self) -> Option<u64> {
        let (level, slot, _) = self.first_slot()?;
        self.list(level * SLOTS + slot).map(|(_, due)| due).min()
    }

    /// [`Wheel::pop`] for a clock that stands at the time of the first entry.
    pub(crate) fn pop_exactly(&mut self, now: u64) -> Option<T> {
        loop {
            let (level, slot, start) = self.first_slot()?;
            let list = level * SLOTS + slot;
            let (index, _) = self.list(list).find(|&(_, due)| due <= now)?;
            // INVARIANT: a later insertion is due after `now`, so its tick is not before `present`.
            self.present = start;
            if level == 0 {
                return self.take_out(list, index);
            }
            self.move_down(list);
        }
    }

    /// Returns the entries of a list and when they are due.
    fn list(&self, list: usize) -> impl Iterator<Item = (u32, u64)> + '_ {
        let first = self.first[list];
        let mut index = first;
        std::iter::from_fn(move || {
            let entry = (index != NONE).then(|| self.slab.get(index))?;
            let found = (index, entry.due);
            index = if entry.next == first { NONE } else { entry.next };
            Some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::Wheel;
    use super::super::tests::{Step, step};

    proptest! {
        // N3: nanosecond precision for a clock that advances from one entry to the next
        #[test]
        fn pop_exactly_orders_entries_by_time_and_then_by_insertion(
            steps in prop::collection::vec(step(), 1..200)
        ) {
            let (mut wheel, mut sorted, mut keys, mut now) = (Wheel::new(), BTreeMap::new(), Vec::new(), 0);
            for step in steps {
                match step {
                    Step::At(time) | Step::In(time) => {
                        sorted.insert((now + time, keys.len()), ());
                        keys.push((wheel.insert(now, now + time, keys.len()), now + time));
                    }
                    Step::Cancel(number) => if let Some(&(key, due)) = keys.get(number) {
                        let waits = sorted.remove(&(due, number)).is_some();
                        prop_assert_eq!(wheel.cancel(key).is_some(), waits);
                    },
                    Step::Forward(by) => {
                        let until = now + by;
                        while let Some(due) = wheel.first_due().filter(|&due| due <= until) {
                            now = due;
                            while let Some(number) = wheel.pop_exactly(now) {
                                prop_assert_eq!(sorted.pop_first(), Some(((now, number), ())));
                            }
                        }
                        now = until;
                    }
                }
                let first = sorted.first_key_value().map(|((due, _), ())| *due);
                prop_assert_eq!((wheel.first_due(), wheel.len()), (first, sorted.len()));
            }
        }
    }
}
