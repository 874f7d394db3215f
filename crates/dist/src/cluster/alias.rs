//! Aliases across nodes: addresses of a process that the process can revoke (L9).
//!
//! The reference of a local alias contains the process and the number of the alias, so no table is needed: the process
//! itself knows whether the alias is active. A message to a remote alias goes to the connection without a proxy,
//! because an alias can be neither linked to nor monitored.

use std::sync::Arc;

use purlin::Alias;
use purlin_dist_protocol::connect::NoConnection;
use purlin_dist_protocol::control::Control;
use purlin_term::{Reference, Term};

use crate::cluster::handle::Cluster;

impl Cluster {
    /// Returns the reference of an alias of a local process, for use in terms sent to other nodes. Messages sent to it
    /// reach the process while the alias is active (L9).
    #[must_use]
    pub fn term_of_alias<M: Send + 'static>(&self, alias: &Alias<M>) -> Reference {
        self.core().ids.alias(alias.id(), alias.number())
    }

    /// Sends a message to an alias of a remote process, as `Alias ! Message` does. If the alias does not exist or is no
    /// longer active, the remote node drops the message. Waits for a connection, and for capacity on it.
    ///
    /// Messages to aliases of one node arrive in order. They are not ordered relative to messages to pids and names,
    /// because an alias does not identify its process.
    ///
    /// *Cancellation*: nothing has been sent; a connection attempt in progress continues.
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
            link.wait_for_capacity(Some(&from)).await;
            connection.send_control(Some(from), control, Some(message));
        }
        Ok(())
    }
}
