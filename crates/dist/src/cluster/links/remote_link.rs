//! Link between a local and a remote process. Pure.
//!
//! A link consists of two segments that meet in this node: one over the connection, to the remote process, and one to
//! the local process, for which a proxy acts as the remote one. Each segment follows the link protocol of Erlang's
//! distribution on its own: an end that has unlinked waits for an acknowledgement, and until then ignores what the other
//! end has sent about the link. So an unlink is acknowledged where it arrives, without waiting for the process at the
//! far end.
//!
//! The segment over the connection ends when the connection is lost. The one to the local process does not: it ends as by
//! an unlink, which is an exit signal as well. Until the local process has acknowledged it, whatever it has sent about the
//! link was sent before it read the loss. So a link that it has sent before is not made on the next connection, where
//! the local process would not have it.
//!
//! A remote process may have several proxies. Each has its own segment to the local process; all share the segment over
//! the connection. An unlink from either side removes all of them.

use purlin::ProcessId;
use purlin::remote::{LocalProcess, RemoteSignal};

/// Signals to deliver to a local process, each with the proxy that sends it.
pub(crate) type Deliveries = Vec<(LocalProcess, RemoteSignal)>;

/// What the link of a local process by a proxy requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkRequest {
    /// Send a link to the peer.
    Send,
    /// Deliver the loss of the link with this number, because there is no connection.
    Lost(u64),
    Nothing,
}

/// This node's end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkEnd {
    Up,
    /// This node has unlinked with this number, or signalled the loss of the connection, and waits for the
    /// acknowledgement.
    Unlinking(u64),
}

/// State of the link between a local and a remote process.
///
/// INVARIANT: the segment over the connection is up if and only if one to the local process is.
#[derive(Debug, Default)]
pub(super) struct RemoteLink {
    /// Segment over the connection.
    remote: Option<LinkEnd>,
    /// Segments to the local process, by their proxies.
    local: Vec<(LocalProcess, LinkEnd)>,
}

impl RemoteLink {
    /// Returns whether neither segment exists.
    pub(super) fn is_empty(&self) -> bool {
        self.remote.is_none() && self.local.is_empty()
    }

    fn local_end(&mut self, proxy: ProcessId) -> Option<&mut LinkEnd> {
        self.local.iter_mut().find(|(own, _)| own.id() == proxy).map(|(_, end)| end)
    }

    /// The local process links by a proxy; `number` is for the loss if there is no connection.
    pub(super) fn link(
        &mut self,
        proxy: LocalProcess,
        is_connected: bool,
        number: u64,
    ) -> LinkRequest {
        match self.local_end(proxy.id()) {
            // The local process has not read the unlink yet; it removes its end when it does.
            Some(LinkEnd::Unlinking(_)) => return LinkRequest::Nothing,
            Some(LinkEnd::Up) => {}
            None if !is_connected => {
                self.local.push((proxy, LinkEnd::Unlinking(number)));
                return LinkRequest::Lost(number);
            }
            None => self.local.push((proxy, LinkEnd::Up)),
        }
        match self.remote.replace(LinkEnd::Up) {
            Some(LinkEnd::Up) => LinkRequest::Nothing,
            _ => LinkRequest::Send,
        }
    }

    /// The remote process links. Returns whether to deliver a link to the local process by the proxy.
    pub(super) fn linked(&mut self, proxy: LocalProcess) -> bool {
        // Linked already, or the peer has not read the unlink yet and removes its end when it does.
        if self.remote.is_some() {
            return false;
        }
        self.remote = Some(LinkEnd::Up);
        match self.local_end(proxy.id()) {
            Some(end) => *end = LinkEnd::Up,
            None => self.local.push((proxy, LinkEnd::Up)),
        }
        true
    }

    /// The local process unlinks by a proxy, with a number. Returns whether to send the unlink to the peer, and the
    /// signals for the local process; `number` is for those that unlink by other proxies.
    pub(super) fn unlink(
        &mut self,
        proxy: LocalProcess,
        id: u64,
        number: u64,
    ) -> (bool, Deliveries) {
        let index =
            self.local.iter().position(|(own, end)| own.id() == proxy.id() && *end == LinkEnd::Up);
        let mut deliveries = Deliveries::new();
        if let Some(index) = index {
            self.local.remove(index);
            self.remote = Some(LinkEnd::Unlinking(id));
            deliveries = self.take_down(number);
        }
        deliveries.push((proxy, RemoteSignal::UnlinkAck(id)));
        (index.is_some(), deliveries)
    }

    /// The remote process unlinks; the caller acknowledges it. Returns the signals for the local process, which carry
    /// `number`.
    pub(super) fn unlinked(&mut self, number: u64) -> Deliveries {
        if self.remote != Some(LinkEnd::Up) {
            return Deliveries::new();
        }
        self.remote = None;
        self.take_down(number)
    }

    /// Unlinks the local process by all proxies.
    fn take_down(&mut self, number: u64) -> Deliveries {
        let up = self.local.iter_mut().filter(|(_, end)| *end == LinkEnd::Up);
        up.map(|(proxy, end)| {
            *end = LinkEnd::Unlinking(number);
            (proxy.clone(), RemoteSignal::Unlink(number))
        })
        .collect()
    }

    /// The remote process has acknowledged the unlink with this number.
    pub(super) fn remote_acknowledged(&mut self, id: u64) {
        self.remote.take_if(|end| *end == LinkEnd::Unlinking(id));
    }

    /// The local process has acknowledged the unlink with this number to a proxy.
    pub(super) fn local_acknowledged(&mut self, proxy: ProcessId, number: u64) {
        self.local.retain(|(own, end)| own.id() != proxy || *end != LinkEnd::Unlinking(number));
    }

    /// The connection is lost. Returns the proxies whose loss, with this number, to deliver to the local process.
    pub(super) fn lose(&mut self, number: u64) -> Vec<LocalProcess> {
        self.remote = None;
        let up = self.local.iter_mut().filter(|(_, end)| *end == LinkEnd::Up);
        up.map(|(proxy, end)| {
            *end = LinkEnd::Unlinking(number);
            proxy.clone()
        })
        .collect()
    }

    /// The remote process has ended. Returns the proxies whose exit signal to deliver to the local process.
    pub(super) fn remote_ended(&mut self) -> Vec<LocalProcess> {
        self.remote.take_if(|end| *end == LinkEnd::Up);
        let up = self.local.extract_if(.., |(_, end)| *end == LinkEnd::Up);
        up.map(|(proxy, _)| proxy).collect()
    }

    /// The local process, linked by a proxy, has ended. Returns whether to send an exit signal to the peer.
    pub(super) fn local_ended(&mut self, proxy: ProcessId) -> bool {
        let is_up = self.local_end(proxy) == Some(&mut LinkEnd::Up);
        if is_up {
            self.remote = None;
            self.local.retain(|(_, end)| *end != LinkEnd::Up);
        }
        is_up
    }
}
