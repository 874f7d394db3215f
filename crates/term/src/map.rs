//! Maps, stored as pairs in the order of their keys.
//!
//! The order is Erlang's for map keys, in which every integer is less than any float. A BEAM before
//! OTP 26 also writes and prints maps of up to 32 keys in this order. Larger maps, and maps with
//! atom keys since OTP 26, arrive in an order internal to their node, and are sorted when they are
//! decoded.
//!
//! COST: 64 bytes per pair; a lookup compares about log2(n) keys; an insertion moves the following
//! pairs.

use crate::Term;

/// An Erlang map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Map {
    /// INVARIANT: sorted by exact order of the keys, without duplicates.
    pairs: Vec<(Term, Term)>,
}

impl Map {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self { pairs: Vec::new() }
    }

    /// Creates a map of these pairs.
    ///
    /// # Errors
    ///
    /// Returns the key if two keys are equal.
    pub fn from_pairs(mut pairs: Vec<(Term, Term)>) -> Result<Self, Term> {
        pairs.sort_by(|(a, _), (b, _)| a.compare_exactly(b));
        match pairs.windows(2).position(|two| two[0].0 == two[1].0) {
            None => Ok(Self { pairs }),
            Some(twice) => Err(pairs.swap_remove(twice).0),
        }
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the pairs, in the order of their keys.
    pub fn pairs(&self) -> &[(Term, Term)] {
        &self.pairs
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &Term) -> Option<&Term> {
        self.find(key).ok().map(|at| &self.pairs[at].1)
    }

    /// Returns the value of an atom key.
    pub fn get_atom(&self, key: &str) -> Option<&Term> {
        let at = self.pairs.partition_point(|(other, _)| match other {
            Term::Atom(atom) => atom.as_str() < key,
            other => other.comes_before_atoms(),
        });
        let (other, value) = self.pairs.get(at)?;
        matches!(other, Term::Atom(atom) if atom == key).then_some(value)
    }

    /// Inserts a pair. Returns the previous value of the key.
    pub fn insert(&mut self, key: Term, value: Term) -> Option<Term> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.pairs[at].1, value)),
            Err(at) => {
                self.pairs.insert(at, (key, value));
                None
            }
        }
    }

    /// Removes a key. Returns its value.
    pub fn remove(&mut self, key: &Term) -> Option<Term> {
        self.find(key).ok().map(|at| self.pairs.remove(at).1)
    }

    fn find(&self, key: &Term) -> Result<usize, usize> {
        self.pairs.binary_search_by(|(other, _)| other.compare_exactly(key))
    }
}

impl FromIterator<(Term, Term)> for Map {
    /// If a key occurs more than once, the last value is kept.
    fn from_iter<I: IntoIterator<Item = (Term, Term)>>(pairs: I) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.reverse();
        pairs.sort_by(|(a, _), (b, _)| a.compare_exactly(b));
        pairs.dedup_by(|later, earlier| later.0 == earlier.0);
        Self { pairs }
    }
}

impl IntoIterator for Map {
    type Item = (Term, Term);
    type IntoIter = std::vec::IntoIter<(Term, Term)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter()
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a (Term, Term);
    type IntoIter = std::slice::Iter<'a, (Term, Term)>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::Map;
    use crate::Term;

    fn number(n: i64) -> Term {
        Term::Integer(n)
    }

    #[test]
    fn equality_ignores_the_order_of_insertion() {
        let pairs = [3, 1, 2].map(|n| (number(n), Term::from("x")));
        let mut turned = pairs.clone();
        turned.reverse();
        assert_eq!(Map::from_iter(pairs.clone()), Map::from_iter(turned));
        assert_eq!(Map::from_pairs(pairs.to_vec()), Ok(Map::from_iter(pairs)));
    }

    #[test]
    fn of_duplicate_keys_the_last_is_kept() {
        let pairs = vec![(number(1), number(10)), (number(1), number(20))];
        assert_eq!(Map::from_pairs(pairs.clone()), Err(number(1)));
        assert_eq!(Map::from_iter(pairs).get(&number(1)), Some(&number(20)));
    }

    #[test]
    fn an_integer_and_the_float_of_its_value_are_two_keys() {
        let one = Term::try_from(1.0).unwrap();
        let map = Map::from_iter([(one.clone(), Term::NIL), (number(1), number(1))]);
        assert_eq!(map.len(), 2);
        assert_eq!(map.get(&one), Some(&Term::NIL));
        assert_eq!(map.get(&number(1)), Some(&number(1)));
    }

    #[test]
    fn inserted_keys_are_found_and_removed_keys_are_not() {
        let mut map = Map::new();
        for n in [5, 2, 9, 1] {
            assert_eq!(map.insert(number(n), number(n * 10)), None);
        }
        for key in ["b", "a", "c"] {
            map.insert(Term::atom(key), Term::from(key));
        }
        map.insert(Term::from("binary"), Term::NIL);
        assert_eq!(map.insert(number(2), Term::NIL), Some(number(20)));
        assert_eq!(map.remove(&number(9)), Some(number(90)));
        assert_eq!(map.get(&number(9)), None);
        assert_eq!(map.get_atom("b"), Some(&Term::from("b")));
        assert_eq!(map.get_atom("d"), None);
    }
}
