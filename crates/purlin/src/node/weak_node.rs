//! Weak handle on a node.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::Node;
use crate::node::handle::Inner;

/// Handle on a node that does not keep it running: the node stops when its last [`Node`] is
/// dropped, however many weak handles there are.
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
    /// Returns a weak handle, which does not keep the node running.
    pub fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(self.inner()))
    }
}

impl WeakNode {
    /// Returns a handle on the node; `None` if the last one has been dropped.
    pub fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node::new)
    }
}

impl fmt::Debug for WeakNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakNode")
    }
}
