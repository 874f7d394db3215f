//! Small map: inline storage for one entry, an array for a few, a hash table for more.
//!
//! Links and monitors are kept in such maps: nearly every process has at most one of them, one inside
//! a tree of processes has a few, and a supervisor may have as many as the node has processes.
//!
//! COST: no allocation for the first entry; a comparison with each of at most [`FEW`] entries; a hash
//! for each operation on more.

use std::hash::Hash;
use std::mem::{forget, replace, take};

use rustc_hash::FxHashMap;

/// Maximum number of entries in the array.
const FEW: usize = 8;

/// A map that chooses its storage by its size.
#[derive(Debug, Default)]
pub(crate) enum SmallMap<K, V> {
    #[default]
    Empty,
    One(K, V),
    Few(Vec<(K, V)>),
    Many(FxHashMap<K, V>),
}

impl<K: Copy + Eq + Hash, V> SmallMap<K, V> {
    #[inline]
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self {
            Self::Empty => None,
            Self::One(k, value) => (*k == key).then_some(value),
            Self::Few(few) => few.iter_mut().find(|entry| entry.0 == key).map(|entry| &mut entry.1),
            Self::Many(many) => many.get_mut(&key),
        }
    }

    /// Inserts an entry whose key is not in the map.
    #[inline]
    pub(crate) fn insert_new(&mut self, key: K, value: V) {
        debug_assert!(self.get_mut(key).is_none(), "the key is new");
        match self {
            // WHY: forgotten, because `Empty` has nothing to drop, which the compiler does not
            // always see.
            Self::Empty => forget(replace(self, Self::One(key, value))),
            _ => self.insert_another(key, value),
        }
    }

    #[cold]
    fn insert_another(&mut self, key: K, value: V) {
        *self = match take(self) {
            Self::Empty => Self::One(key, value),
            Self::One(k, first) => Self::Few(vec![(k, first), (key, value)]),
            Self::Few(mut few) if few.len() < FEW => {
                few.push((key, value));
                Self::Few(few)
            }
            Self::Few(few) => Self::Many(few.into_iter().chain([(key, value)]).collect()),
            Self::Many(mut many) => {
                many.insert(key, value);
                Self::Many(many)
            }
        }
    }

    /// Removes an entry. Returns memory when few of many entries are left.
    #[inline]
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        match self {
            Self::One(k, _) if *k == key => match take(self) {
                Self::One(_, value) => Some(value),
                // WHY forgotten: no other case is possible here, and without its destructor the
                // value is not copied to the stack.
                rest => {
                    forget(rest);
                    None
                }
            },
            Self::Empty | Self::One(..) => None,
            Self::Few(_) | Self::Many(_) => self.remove_from_several(key),
        }
    }

    #[cold]
    fn remove_from_several(&mut self, key: K) -> Option<V> {
        match self {
            Self::Few(few) => {
                let at = few.iter().position(|entry| entry.0 == key)?;
                let (_, value) = few.swap_remove(at);
                if few.is_empty() {
                    *self = Self::Empty;
                }
                Some(value)
            }
            Self::Many(many) => {
                let value = many.remove(&key);
                if many.is_empty() {
                    *self = Self::Empty;
                } else if many.len() < many.capacity() / 8 {
                    many.shrink_to(2 * many.len());
                }
                value
            }
            Self::Empty | Self::One(..) => None,
        }
    }

    /// Calls `f` for every entry.
    pub(crate) fn each(&self, mut f: impl FnMut(K, &V)) {
        match self {
            Self::Empty => {}
            Self::One(key, value) => f(*key, value),
            Self::Few(few) => few.iter().for_each(|(key, value)| f(*key, value)),
            Self::Many(many) => many.iter().for_each(|(key, value)| f(*key, value)),
        }
    }

    /// Removes all entries and calls `f` for each.
    #[inline]
    pub(crate) fn drain(&mut self, mut f: impl FnMut(K, V)) {
        match take(self) {
            Self::Empty => {}
            Self::One(key, value) => f(key, value),
            Self::Few(few) => few.into_iter().for_each(|(key, value)| f(key, value)),
            Self::Many(many) => many.into_iter().for_each(|(key, value)| f(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Links and monitors: after any insertions and removals the map agrees with
        // `BTreeMap`
        #[test]
        fn small_map_agrees_with_btree_map(steps in prop::collection::vec((any::<bool>(), 0u16..64), 0..400)) {
            let (mut small, mut map) = (SmallMap::default(), BTreeMap::new());
            for (n, (add, key)) in steps.into_iter().enumerate() {
                if add && !map.contains_key(&key) {
                    small.insert_new(key, n);
                    map.insert(key, n);
                } else if !add {
                    prop_assert_eq!(small.remove(key), map.remove(&key));
                }
                prop_assert_eq!(small.get_mut(key).copied(), map.get(&key).copied());
            }
            let (mut held, mut taken) = (BTreeMap::new(), BTreeMap::new());
            small.each(|key, value| assert_eq!(held.insert(key, *value), None));
            small.drain(|key, value| assert_eq!(taken.insert(key, value), None));
            prop_assert_eq!(&held, &map);
            prop_assert_eq!(&taken, &map);
            small.each(|_, _| unreachable!("everything was taken out"));
        }
    }
}
