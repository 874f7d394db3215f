//! Prevention of overlapping partitions: if two of three nodes lose their connection, the third does not stay connected
//! to both.
//!
//! A node that loses another one reports it to all nodes. A node connected to both then disconnects from the lost one.
//! So a lost connection splits the cluster into fully connected partitions. Each node forwards a report to all others
//! once: reports carry a number, and an id of the reporting node's incarnation.

use std::collections::{HashMap, HashSet, VecDeque};

use purlin_dist_protocol::NodeName;
use purlin_term::Term;
use tracing::warn;

/// Maximum number of remembered reports.
const MAX_LOSSES: usize = 4096;

/// Reports of lost connections, as far as they are remembered.
pub(super) struct Lost {
    life: i64,
    number: i64,
    /// The last report for each pair of reporting node and lost node.
    known: HashMap<(NodeName, NodeName), (Term, i64)>,
    order: VecDeque<(NodeName, NodeName)>,
    /// Nodes disconnected because of a report; their loss is not reported again.
    removed: HashSet<NodeName>,
}

impl Lost {
    /// `life` identifies this incarnation of the node.
    pub(super) fn new(life: i64) -> Self {
        let (known, order, removed) = Default::default();
        Self { life, number: 0, known, order, removed }
    }

    /// Records that a node is lost, or about to be disconnected. Returns the incarnation and number for the report, or
    /// `None` if the loss is not to be reported.
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

    /// Whether a report is new.
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
        if self.order.len() > MAX_LOSSES
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
    fn report_is_new_once_and_a_later_one_for_the_same_pair_is_new_again() {
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
    fn number_of_remembered_reports_is_bounded() {
        let mut lost = Lost::new(1);
        let b: NodeName = "b@h".parse().expect("a name");
        for number in 0..2 * MAX_LOSSES {
            let a = format!("a{number}@h").parse().expect("a name");
            assert!(lost.is_news(&a, &b, &Term::NIL, 1));
        }
        assert_eq!((lost.known.len(), lost.order.len()), (MAX_LOSSES, MAX_LOSSES));
    }
}
