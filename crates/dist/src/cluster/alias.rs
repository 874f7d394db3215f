//! Aliases across nodes: addresses of a process that the process can revoke (L9).
//!
//! The reference of a local alias contains the process and the number of the alias, so no table is needed: the process
//! itself knows whether the alias is active. A message to a remote alias goes to the connection without a proxy,
//! because an alias can be neither linked to nor monitored.

use std::sync::Arc;

use purlin::remote::sender;
use purlin::{Alias, ExitReason};
use purlin_dist_protocol::Flags;
use purlin_dist_protocol::connect::NoConnection;
use purlin_dist_protocol::control::Control;
use purlin_term::{Pid, Reference, Term};

use crate::cluster::handle::Cluster;
use crate::cluster::reason;

impl Cluster {
    /// Returns the reference of an alias of a local process, for use in terms sent to other nodes. Messages sent to it
    /// reach the process while the alias is active (L9), with priority if the alias allows it (M6).
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
        if self.core().send_to_own_alias(alias, &message, false) {
            return Ok(());
        }
        let control = |flags, from| Control::to_alias(flags, from, alias.clone(), false);
        self.to_alias(alias, self.core().ids.pid_of_node(), control, message).await
    }

    /// [`Cluster::send_to_alias`] with priority, as `erlang:send(Alias, Message, [priority])` does (M6). If the alias was
    /// not created with `priority`, or its node is a BEAM before OTP 28, the message is an ordinary one.
    ///
    /// *Cancellation*: as for [`Cluster::send_to_alias`].
    ///
    /// # Errors
    /// There is no connection to the alias's node.
    pub async fn send_priority_to_alias(
        &self,
        alias: &Reference,
        message: Term,
    ) -> Result<(), Arc<NoConnection>> {
        if self.core().send_to_own_alias(alias, &message, true) {
            return Ok(());
        }
        let control = |flags, from| Control::to_alias(flags, from, alias.clone(), true);
        self.to_alias(alias, self.core().ids.pid_of_node(), control, message).await
    }

    /// Sends an exit signal to an alias of a remote process, as `exit(Alias, Reason)` does, in order with the messages
    /// to aliases of its node. The sender is the current process, or the node. A BEAM before OTP 28 does not support
    /// it, so nothing is sent to one.
    ///
    /// *Cancellation*: as for [`Cluster::send_to_alias`].
    ///
    /// # Errors
    /// There is no connection to the alias's node.
    pub async fn exit_to_alias(
        &self,
        alias: &Reference,
        reason: ExitReason,
    ) -> Result<(), Arc<NoConnection>> {
        self.exit_alias(alias, reason, false).await
    }

    /// [`Cluster::exit_to_alias`] with priority, as `exit(Alias, Reason, [priority])` does (M6). If the alias was not
    /// created with `priority`, the signal is an ordinary one.
    ///
    /// *Cancellation*: as for [`Cluster::send_to_alias`].
    ///
    /// # Errors
    /// There is no connection to the alias's node.
    pub async fn exit_priority_to_alias(
        &self,
        alias: &Reference,
        reason: ExitReason,
    ) -> Result<(), Arc<NoConnection>> {
        self.exit_alias(alias, reason, true).await
    }

    async fn exit_alias(
        &self,
        alias: &Reference,
        reason: ExitReason,
        priority: bool,
    ) -> Result<(), Arc<NoConnection>> {
        let (ids, from) = (&self.core().ids, sender());
        if let Some((ours, number)) = ids.alias_of(alias) {
            ids.node.deliver_alias_exit(from, ours, number, priority, reason);
            return Ok(());
        }
        let from = from.map_or_else(|| ids.pid_of_node(), |ours| ids.pid(ours));
        let control = |flags, from| Control::exit_alias(flags, from, alias.clone(), priority);
        self.to_alias(alias, from, control, reason::to_term(&reason)).await
    }

    /// Sends what `control` returns to the node of an alias, unless that is `None`. The ordering key is the same for all
    /// aliases.
    async fn to_alias(
        &self,
        alias: &Reference,
        from: Pid,
        control: impl FnOnce(Flags, Pid) -> Option<Control>,
        payload: Term,
    ) -> Result<(), Arc<NoConnection>> {
        let Ok(node) = alias.node.as_str().parse() else { return Ok(()) };
        let connection = self.core().connect(&node).await?;
        let key = self.core().ids.pid_of_node();
        if let Some(link) = connection.link()
            && let Some(control) = control(link.flags(), from)
        {
            link.wait_for_capacity(Some(&key)).await;
            connection.send_control(Some(key), control, Some(payload));
        }
        Ok(())
    }
}
