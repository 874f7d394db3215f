//! Aliases across nodes: addresses of a process that the process can take back (L9).
//!
//! An alias of ours, told to others, holds the process and the number of the alias: nothing need be kept to find
//! it, and the process itself knows whether it is good. One of theirs is sent to on the connection, without a
//! stand-in: it cannot be linked to or monitored.

use std::sync::Arc;

use purlin::Alias;
use purlin_term::{Reference, Term};

use super::Cluster;
use crate::connect::NoConnection;
use crate::control::Control;

impl Cluster {
    /// An alias of a process of this node as others know it, to be told to them in a term. What they send to it
    /// reaches the process while the alias is good (L9).
    #[must_use]
    pub fn term_of_alias<M: Send + 'static>(&self, alias: &Alias<M>) -> Reference {
        self.core().ids.alias(alias.id(), alias.number())
    }

    /// Sends a message to an alias of a process elsewhere, as `Alias ! Message` does. If the alias is none, or
    /// none any more, the message is dropped there. Waits for a connection, and for room on it.
    ///
    /// What is sent to aliases of one node arrives in order, but not in order with what is sent to pids and names:
    /// an alias does not say whose it is.
    ///
    /// *Cancellation*: nothing has been sent; a connection that is being made is made.
    ///
    /// # Errors
    /// There is no connection to the alias's node.
    pub async fn send_to_alias(
        &self,
        alias: &Reference,
        message: Term,
    ) -> Result<(), Arc<NoConnection>> {
        let Ok(node) = alias.node.as_str().parse() else { return Ok(()) };
        let connection = self.core().connect(&node).await?;
        let from = self.core().ids.pid_of_node();
        if let Some(link) = connection.link()
            && let Some(control) = Control::to_alias(link.flags(), from.clone(), alias.clone())
        {
            link.room(Some(&from)).await;
            connection.say(Some(from), control, Some(message));
        }
        Ok(())
    }
}
