//! A node, for those who must not keep it running.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::Node;
use crate::node::Inner;

/// A node, for those who look at it now and then and must not keep it running: the node stops when its
/// last [`Node`] is dropped, however many of these there are.
///
/// ```
/// # fn main() -> Result<(), purlin::BuildError> {
/// let node = purlin::Node::builder().build()?;
/// let weak = node.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(node);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct WeakNode(Weak<Inner>);

impl Node {
    /// A handle that does not keep the node running.
    pub fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(self.shared()))
    }
}

impl WeakNode {
    /// The node, if it has a handle still.
    pub fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node::new)
    }
}

impl fmt::Debug for WeakNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakNode")
    }
}
