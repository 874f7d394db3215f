//! Process identifiers, ports and references, as a node names them to others.
//!
//! Each carries the name of its node and the node's creation, by which a node started again under its
//! old name is told from the one before it.

use std::fmt;

use crate::Atom;

/// The identifier of a process: Erlang's `<Node.Id.Serial>`, with the creation of its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pid {
    /// The name of the node it lives on.
    pub node: Atom,
    /// The first number.
    pub id: u32,
    /// The second number.
    pub serial: u32,
    /// Which life of its node it belongs to.
    pub creation: u32,
}

/// The identifier of a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The name of the node it is on.
    pub node: Atom,
    /// The number of the port.
    pub id: u64,
    /// Which life of its node it belongs to.
    pub creation: u32,
}

/// A reference: what `make_ref`, `monitor` and `alias` give.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The name of the node that made it.
    pub node: Atom,
    /// Which life of its node it belongs to.
    pub creation: u32,
    words: Words,
}

/// INVARIANT: `count` is 1 to 5, and the words behind it are 0, so that equal ones are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Words {
    count: u8,
    words: [u32; Reference::MAX_WORDS],
}

impl Reference {
    /// The words a reference may have.
    pub const MAX_WORDS: usize = 5;

    /// A reference of these words, if there are one to five. Nodes since OTP 4 make three, and five
    /// since OTP 24 where a reference is an alias of a process.
    pub fn new(node: Atom, creation: u32, words: &[u32]) -> Option<Self> {
        let mut place = [0; Self::MAX_WORDS];
        place.get_mut(..words.len())?.copy_from_slice(words);
        let count = words.len() as u8;
        (count > 0).then_some(Self { node, creation, words: Words { count, words: place } })
    }

    /// The words, the least significant first.
    pub fn words(&self) -> &[u32] {
        &self.words.words[..usize::from(self.words.count)]
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words[..usize::from(self.count)].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Reference;
    use crate::Atom;

    #[test]
    fn a_reference_has_one_to_five_words() {
        let make = |words: &[u32]| Reference::new(Atom::OK, 1, words);
        assert_eq!(make(&[]), None);
        assert_eq!(make(&[1; 6]), None);
        assert_eq!(make(&[1, 2, 3]).unwrap().words(), [1, 2, 3]);
        assert_ne!(make(&[1]), make(&[1, 0]));
    }
}
