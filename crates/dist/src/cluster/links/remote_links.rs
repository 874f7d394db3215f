//! Table of links between local and remote processes, over all connections. Pure.
//!
//! Each end stores its own link. This table stores what must be signalled to local processes when a connection is lost,
//! and which unlinks and losses they have not acknowledged yet, also after the loss.

use std::collections::HashMap;

use purlin::ProcessId;
use purlin::remote::LocalProcess;
use purlin_term::{Atom, Pid};

use crate::cluster::links::remote_link::{Deliveries, LinkRequest, RemoteLink};

/// Links to the processes of all nodes. `C` is a connection.
#[derive(Debug)]
pub(crate) struct RemoteLinks<C> {
    /// No node is without a connection and links.
    nodes: HashMap<Atom, NodeLinks<C>>,
    /// Number of the last unlink or loss. WHY no number is used twice: an acknowledgement may arrive after the loss of
    /// the connection, and must not be taken for that of a later unlink.
    last: u64,
    /// The node has left the cluster. Links without a connection are no longer stored, because their proxies end, and
    /// acknowledgements do not arrive.
    left: bool,
}

#[derive(Debug)]
struct NodeLinks<C> {
    connection: Option<C>,
    links: HashMap<(ProcessId, Pid), RemoteLink>,
}

/// What the link of a local process requires.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Linked<C> {
    /// Send a link over the connection.
    Send(C),
    /// Deliver the loss of the link, with this number.
    Lost(u64),
    Nothing,
}

impl<C> Default for RemoteLinks<C> {
    fn default() -> Self {
        Self { nodes: HashMap::new(), last: 0, left: false }
    }
}

impl<C> Default for NodeLinks<C> {
    fn default() -> Self {
        Self { connection: None, links: HashMap::new() }
    }
}

impl<C: Clone> RemoteLinks<C> {
    /// Applies `act` to the link of a pair, with the connection and a new number. Removes entries that are then empty.
    fn with_link<R>(
        &mut self,
        ours: ProcessId,
        theirs: &Pid,
        act: impl FnOnce(&mut RemoteLink, Option<&C>, u64) -> R,
    ) -> R {
        self.last += 1;
        let node = self.nodes.entry(theirs.node.clone()).or_default();
        let key = (ours, theirs.clone());
        let mut link = node.links.remove(&key).unwrap_or_default();
        let result = act(&mut link, node.connection.as_ref(), self.last);
        let is_over = link.is_empty() || self.left && node.connection.is_none();
        if !is_over {
            node.links.insert(key, link);
        }
        self.drop_if_empty(theirs.node.as_str());
        result
    }

    fn drop_if_empty(&mut self, node: &str) {
        if self
            .nodes
            .get(node)
            .is_some_and(|node| node.connection.is_none() && node.links.is_empty())
        {
            self.nodes.remove(node);
        }
    }

    /// The number of pairs of processes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.nodes.values().map(|node| node.links.len()).sum()
    }

    /// A connection to the node is established, after the loss of the one before.
    pub(crate) fn connect(&mut self, node: Atom, connection: C) {
        self.nodes.entry(node).or_default().connection = Some(connection);
    }

    /// The connection to the node is lost, if it is the one that `is_it` recognizes. Returns the losses to deliver: the
    /// local process, the proxy, and the number.
    pub(crate) fn lose(
        &mut self,
        node: &str,
        is_it: impl Fn(&C) -> bool,
    ) -> Vec<(ProcessId, LocalProcess, u64)> {
        self.last += 1;
        let number = self.last;
        let mut lost = Vec::new();
        if let Some(node) = self.nodes.get_mut(node)
            && node.connection.take_if(|connection| is_it(connection)).is_some()
        {
            node.links.retain(|(ours, _), link| {
                lost.extend(link.lose(number).into_iter().map(|proxy| (*ours, proxy, number)));
                !link.is_empty() && !self.left
            });
        }
        self.drop_if_empty(node);
        lost
    }

    /// The node leaves the cluster; its connections are then lost.
    pub(crate) fn leave(&mut self) {
        self.left = true;
        self.nodes.retain(|_, node| node.connection.is_some());
    }

    /// The local process links to the remote one by a proxy.
    pub(crate) fn link(&mut self, ours: ProcessId, theirs: &Pid, proxy: LocalProcess) -> Linked<C> {
        self.with_link(ours, theirs, |link, connection, number| {
            match (link.link(proxy, connection.is_some(), number), connection) {
                (LinkRequest::Send, Some(connection)) => Linked::Send(connection.clone()),
                (LinkRequest::Lost(number), _) => Linked::Lost(number),
                (LinkRequest::Send | LinkRequest::Nothing, _) => Linked::Nothing,
            }
        })
    }

    /// The remote process links to the local one. Returns whether to deliver a link by the proxy.
    pub(crate) fn linked(&mut self, ours: ProcessId, theirs: &Pid, proxy: LocalProcess) -> bool {
        self.with_link(ours, theirs, |link, connection, _| {
            connection.is_some() && link.linked(proxy)
        })
    }

    /// The local process unlinks by a proxy. Returns the connection to send the unlink over, if the peer must be
    /// informed, and the signals to deliver.
    pub(crate) fn unlink(
        &mut self,
        ours: ProcessId,
        theirs: &Pid,
        id: u64,
        proxy: LocalProcess,
    ) -> (Option<C>, Deliveries) {
        self.with_link(ours, theirs, |link, connection, number| {
            let (sends, deliveries) = link.unlink(proxy, id, number);
            (connection.filter(|_| sends).cloned(), deliveries)
        })
    }

    /// The remote process unlinks. Returns the signals to deliver.
    pub(crate) fn unlinked(&mut self, ours: ProcessId, theirs: &Pid) -> Deliveries {
        self.with_link(ours, theirs, |link, _, number| link.unlinked(number))
    }

    /// The remote process has acknowledged an unlink.
    pub(crate) fn remote_acknowledged(&mut self, ours: ProcessId, theirs: &Pid, id: u64) {
        self.with_link(ours, theirs, |link, _, _| link.remote_acknowledged(id));
    }

    /// The local process has acknowledged an unlink or a loss to a proxy.
    pub(crate) fn local_acknowledged(
        &mut self,
        ours: ProcessId,
        theirs: &Pid,
        number: u64,
        proxy: ProcessId,
    ) {
        self.with_link(ours, theirs, |link, _, _| link.local_acknowledged(proxy, number));
    }

    /// The remote process has ended or does not exist. Returns the proxies whose exit signal to deliver.
    pub(crate) fn remote_ended(&mut self, ours: ProcessId, theirs: &Pid) -> Vec<LocalProcess> {
        self.with_link(ours, theirs, |link, _, _| link.remote_ended())
    }

    /// The local process, linked by a proxy, has ended or does not exist. Returns the connection to send an exit signal
    /// over, if the peer must be informed.
    pub(crate) fn local_ended(
        &mut self,
        ours: ProcessId,
        theirs: &Pid,
        proxy: ProcessId,
    ) -> Option<C> {
        self.with_link(ours, theirs, |link, connection, _| {
            connection.filter(|_| link.local_ended(proxy)).cloned()
        })
    }
}
