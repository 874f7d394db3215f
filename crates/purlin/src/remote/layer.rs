//! The layer that connects a node to others, for code that runs in its processes.

use std::any::Any;
use std::sync::{Arc, PoisonError, Weak};

use crate::Node;
use crate::node::context::with_context;

impl Node {
    /// Sets the layer that connects this node to others, which [`layer`] returns. Replaces the previous one, and does not
    /// keep it alive.
    pub fn set_layer(&self, layer: Weak<dyn Any + Send + Sync>) {
        *self.node_state().layer.write().unwrap_or_else(PoisonError::into_inner) = Some(layer);
    }
}

/// Returns the layer that connects the current process's node to others. Returns `None` outside of processes and if the
/// node has none.
#[must_use]
pub fn layer() -> Option<Arc<dyn Any + Send + Sync>> {
    let layer = with_context(|here| {
        here.node_core.state().layer.read().unwrap_or_else(PoisonError::into_inner).clone()
    });
    layer.flatten()?.upgrade()
}
