//! Pids, ports and references in their external form.
//!
//! Each contains the name of its node and the node's creation, which distinguishes incarnations of
//! a node with the same name.

use std::fmt;

use crate::Atom;

/// A process identifier: Erlang's `<Node.Id.Serial>`, with the creation of its node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pid {
    /// Name of the node on which the process runs.
    pub node: Atom,
    /// Id number.
    pub id: u32,
    /// Serial number.
    pub serial: u32,
    /// Creation of the node.
    pub creation: u32,
}

/// A port identifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Name of the port's node.
    pub node: Atom,
    /// Number of the port.
    pub id: u64,
    /// Creation of the node.
    pub creation: u32,
}

/// A reference, as returned by `make_ref`, `monitor` and `alias`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Name of the node that created it.
    pub node: Atom,
    /// Creation of the node.
    pub creation: u32,
    words: Words,
}

/// INVARIANT: `count` is 1 to 5, and unused words are 0, so that derived equality is correct.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Words {
    count: u8,
    words: [u32; Reference::MAX_WORDS],
}

impl Reference {
    /// Maximum number of words.
    pub const MAX_WORDS: usize = 5;

    /// Creates a reference of these words, or returns `None` if there are not one to five. Nodes
    /// since OTP 4 create three words, and since OTP 24 five for a process alias.
    pub fn new(node: Atom, creation: u32, words: &[u32]) -> Option<Self> {
        let mut buffer = [0; Self::MAX_WORDS];
        buffer.get_mut(..words.len())?.copy_from_slice(words);
        let count = words.len() as u8;
        (count > 0).then_some(Self { node, creation, words: Words { count, words: buffer } })
    }

    /// Returns the words, the least significant first.
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
