//! A wheel that is asked to the nanosecond: for a clock that is moved from one entry to the next. No
//! entry is fresh then.
//!
//! Only a simulation asks so. COST: a look at each entry of one slot.

use super::{NONE, SLOTS, Wheel};

impl<T> Wheel<T> {
    /// When the first entry is due. Nothing moves.
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
            // INVARIANT: what is put in later is due after `now`, so it is before no present.
            self.present = start;
            if level == 0 {
                return self.take_out(list, index);
            }
            self.move_down(list);
        }
    }

    /// The entries of a list, and when they are due.
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

    use super::super::tests::{Step, step};
    use super::super::{Due, Wheel};

    proptest! {
        // N3: for a clock that is moved from one entry to the next, to the nanosecond
        #[test]
        fn a_wheel_that_is_asked_exactly_hands_out_in_the_order_of_time_and_then_of_setting(
            steps in prop::collection::vec(step(), 1..200)
        ) {
            let (mut wheel, mut sorted, mut keys, mut now) = (Wheel::new(), BTreeMap::new(), Vec::new(), 0);
            for step in steps {
                match step {
                    Step::At(time) | Step::In(time) => {
                        sorted.insert((now + time, keys.len()), ());
                        keys.push((wheel.insert(Due::At(now + time), keys.len()), now + time));
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
