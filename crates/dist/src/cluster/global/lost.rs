//! Overlapping partitions: of three nodes, two of which have lost each other, the third is not to go on with both.
//!
//! Whoever loses a node tells the others; who is connected to both then parts with that node, too. So a lost
//! connection splits the cluster into parts of which each is whole. A loss is told by everybody to everybody once:
//! it has a number, and the life of the node that has noticed it.

use std::collections::{HashMap, HashSet, VecDeque};

use purlin_term::Term;
use tracing::warn;

use super::locker::chance;
use crate::name::NodeName;

/// So many losses are remembered.
const MOST: usize = 4096;

pub(super) struct Lost {
    life: i64,
    number: i64,
    /// The last loss that a node has told of another.
    known: HashMap<(NodeName, NodeName), (Term, i64)>,
    order: VecDeque<(NodeName, NodeName)>,
    /// Nodes that are to go because of another's loss, which is no news when they have gone.
    removed: HashSet<NodeName>,
}

impl Lost {
    pub(super) fn new(creation: u32) -> Self {
        let life = i64::from(chance() >> 2) << 32 | i64::from(creation);
        let (known, order, removed) = Default::default();
        Self { life, number: 0, known, order, removed }
    }

    /// A node is gone, or is to go: which life and number others are told, if they are.
    pub(super) fn notes(&mut self, node: &NodeName, removed: bool) -> Option<(Term, Term)> {
        if removed {
            self.removed.insert(node.clone());
            return None;
        }
        if self.removed.remove(node) {
            return None;
        }
        self.number += 1;
        Some((Term::from(self.life), Term::from(self.number)))
    }

    /// Whether a loss that is told was not known.
    pub(super) fn is_news(
        &mut self,
        of: &NodeName,
        to: &NodeName,
        life: &Term,
        number: i64,
    ) -> bool {
        let key = (of.clone(), to.clone());
        if let Some((known, last)) = self.known.get(&key) {
            if known == life && number <= *last {
                return false;
            }
        } else {
            self.order.push_back(key.clone());
        }
        self.known.insert(key, (life.clone(), number));
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub(super) fn warn(&self, node: &NodeName, what: &str) {
        warn!(%node, "{what}, as the cluster has come apart: overlapping partitions are prevented");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_once_and_the_next_one_of_the_same_two_again() {
        let [a, b]: [NodeName; 2] = ["a@h", "b@h"].map(|name| name.parse().expect("a name"));
        let mut lost = Lost::new(1);
        let life = Term::from(7);
        assert!(lost.is_news(&a, &b, &life, 1));
        assert!(!lost.is_news(&a, &b, &life, 1));
        assert!(lost.is_news(&b, &a, &life, 1));
        assert!(lost.is_news(&a, &b, &life, 2));
        assert!(!lost.is_news(&a, &b, &life, 1));
        assert!(lost.is_news(&a, &b, &Term::from(8), 1), "it was started again");
        assert!(lost.notes(&a, true).is_none() && lost.notes(&a, false).is_none());
        assert!(lost.notes(&a, false).is_some());
    }

    #[test]
    fn losses_are_forgotten_before_they_fill_the_memory() {
        let mut lost = Lost::new(1);
        let b: NodeName = "b@h".parse().expect("a name");
        for number in 0..2 * MOST {
            let a = format!("a{number}@h").parse().expect("a name");
            assert!(lost.is_news(&a, &b, &Term::NIL, 1));
        }
        assert_eq!((lost.known.len(), lost.order.len()), (MOST, MOST));
    }
}
