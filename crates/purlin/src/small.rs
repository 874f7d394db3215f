//! A map that costs next to nothing while it holds one thing, and does not grow slow with thousands.
//!
//! Links and monitors are kept in such maps: nearly every process has at most one of them, and a
//! supervisor may have as many as the node has processes.
//!
//! COST: no allocation for the first entry; up to [`FEW`] a walk over them; beyond that a hash.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// So many entries are walked over.
const FEW: usize = 12;

/// A map.
#[derive(Debug)]
pub(crate) enum Small<K, V> {
    Few(SmallVec<[(K, V); 1]>),
    Many(FxHashMap<K, V>),
}

impl<K, V> Default for Small<K, V> {
    fn default() -> Self {
        Self::Few(SmallVec::new())
    }
}

impl<K: Copy + Eq + Hash, V> Small<K, V> {
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self {
            Self::Few(few) => few.iter_mut().find(|(k, _)| *k == key).map(|(_, value)| value),
            Self::Many(many) => many.get_mut(&key),
        }
    }

    /// Adds an entry whose key is not there yet.
    pub(crate) fn insert_new(&mut self, key: K, value: V) {
        debug_assert!(self.get_mut(key).is_none(), "the key is new");
        match self {
            Self::Few(few) if few.len() < FEW => few.push((key, value)),
            Self::Few(few) => {
                let mut many: FxHashMap<K, V> = std::mem::take(few).into_iter().collect();
                many.insert(key, value);
                *self = Self::Many(many);
            }
            Self::Many(many) => {
                many.insert(key, value);
            }
        }
    }

    /// Takes an entry out. Memory goes back when few are left of many.
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        match self {
            Self::Few(few) => {
                let place = few.iter().position(|(k, _)| *k == key)?;
                Some(few.swap_remove(place).1)
            }
            Self::Many(many) => {
                let value = many.remove(&key);
                if many.len() < FEW / 2 {
                    *self = Self::Few(many.drain().collect());
                } else if many.len() < many.capacity() / 8 {
                    many.shrink_to(2 * many.len());
                }
                value
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few.iter().map(|(key, value)| (*key, value))), None),
            Self::Many(many) => (None, Some(many.iter().map(|(key, value)| (*key, value)))),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    /// Takes everything out.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (K, V)> + use<K, V> {
        let (few, many) = match std::mem::take(self) {
            Self::Few(few) => (Some(few.into_iter()), None),
            Self::Many(many) => (None, Some(many.into_iter())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        // issue 4: links and monitors: whatever is put in and taken out, it is what any map holds
        #[test]
        fn it_holds_what_any_map_holds(steps in prop::collection::vec((any::<bool>(), 0u16..64), 0..400)) {
            let (mut small, mut map) = (Small::default(), BTreeMap::new());
            for (n, (add, key)) in steps.into_iter().enumerate() {
                if add && !map.contains_key(&key) {
                    small.insert_new(key, n);
                    map.insert(key, n);
                } else if !add {
                    prop_assert_eq!(small.remove(key), map.remove(&key));
                }
                prop_assert_eq!(small.get_mut(key).copied(), map.get(&key).copied());
            }
            let held: BTreeMap<_, _> = small.iter().map(|(key, value)| (key, *value)).collect();
            prop_assert_eq!(&held, &map);
            prop_assert_eq!(small.take().collect::<BTreeMap<_, _>>(), map);
            prop_assert_eq!(small.iter().count(), 0);
        }
    }
}
