//! Configuration needed to reach other nodes: hosts, cookies, TLS.

use std::collections::HashMap;

use tokio::time::timeout;

use crate::cluster::net_kernel::hosts::Hosts;
use crate::protocol::connect::{HANDSHAKE_TIMEOUT, Lengths, NoConnection, call};
use crate::protocol::cookie::Cookie;
use crate::protocol::handshake::{Established, LocalNode};
use crate::protocol::name::NodeName;
use crate::protocol::stream::Stream;
use crate::protocol::tls::Tls;

#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) hosts: Hosts,
    pub(crate) cookie: Cookie,
    /// Cookies of nodes that do not use the default one.
    pub(crate) cookies: HashMap<NodeName, Cookie>,
    pub(crate) tls: Option<Tls>,
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
        let (mut stream, lengths): (Stream, _) = match &self.tls {
            None => (Box::new(socket), Lengths::Two),
            Some(tls) => {
                let secured = timeout(HANDSHAKE_TIMEOUT, tls.call(node.host(), socket)).await;
                (secured.map_err(|_| NoConnection::Slow)??, Lengths::Four)
            }
        };
        let cookie = self.cookie_of(&node);
        let established = call(&mut stream, lengths, local, node, cookie, is_dead).await?;
        Ok((stream, established))
    }

    /// The cookie of a node.
    pub(crate) fn cookie_of(&self, node: &NodeName) -> Cookie {
        self.cookies.get(node).unwrap_or(&self.cookie).clone()
    }
}
