//! Configuration needed to reach other nodes: hosts, cookies, transport.

use std::collections::HashMap;

use purlin_dist_protocol::connect::{HANDSHAKE_TIMEOUT, NoConnection, call};
use purlin_dist_protocol::handshake::{Established, LocalNode};
use purlin_dist_protocol::{Cookie, NodeName, Stream, Transport};
use tokio::time::timeout;

use crate::cluster::net_kernel::hosts::Hosts;

/// How other nodes are reached.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) hosts: Hosts,
    pub(crate) cookie: Cookie,
    /// Cookies of nodes that do not use the default one.
    pub(crate) cookies: HashMap<NodeName, Cookie>,
    pub(crate) transport: Transport,
}

impl Reach {
    /// Looks up a node, connects, and performs the handshake.
    pub(crate) async fn call(
        &self,
        local: &LocalNode,
        node: NodeName,
        is_dead: impl FnOnce() -> bool,
    ) -> Result<(Stream, Established), NoConnection> {
        let socket = self.hosts.dial(&node).await?;
        let secured = timeout(HANDSHAKE_TIMEOUT, self.transport.call(node.host(), socket)).await;
        let (mut stream, lengths) = secured.map_err(|_| NoConnection::Slow)??;
        let cookie = self.cookie_of(&node);
        let established = call(&mut stream, lengths, local, node, cookie, is_dead).await?;
        Ok((stream, established))
    }

    /// The cookie of a node.
    pub(crate) fn cookie_of(&self, node: &NodeName) -> Cookie {
        self.cookies.get(node).unwrap_or(&self.cookie).clone()
    }
}
