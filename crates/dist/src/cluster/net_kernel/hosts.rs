//! Lookup of a node's address: configured, at the port that all nodes share, or from the epmd of its host.
//!
//! Each host has one epmd, and all hosts use the same port. This node registers with the epmd of
//! its host. The epmd of another host is looked up at the addresses of that host, IPv4 first,
//! unless its address is configured. Nothing is cached between two calls, because hosts move.

use std::collections::HashMap;
use std::net::SocketAddr;

use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::connect::{HANDSHAKE_TIMEOUT, NoConnection, dial, open};
use purlin_dist_protocol::epmd::{Epmd, Failed};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

/// Maximum number of addresses tried for one host.
const MOST_ADDRESSES: usize = 8;

/// Addresses of nodes and of the epmds of all hosts.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    pub(crate) us: NodeName,
    /// Epmd of this node's host.
    pub(crate) own: SocketAddr,
    /// Configured epmd addresses of other hosts.
    pub(crate) configured: HashMap<String, SocketAddr>,
    /// Port of all nodes, which then use no epmd.
    pub(crate) port: Option<u16>,
    /// Configured addresses of nodes.
    pub(crate) nodes: HashMap<NodeName, SocketAddr>,
}

impl Hosts {
    /// Connects to a node over TCP.
    ///
    /// *Cancellation*: nothing remains.
    pub(crate) async fn dial(&self, node: &NodeName) -> Result<TcpStream, NoConnection> {
        if self.us.is_long() != node.is_long() {
            return Err(NoConnection::OtherForm(node.clone()));
        }
        if let Some(address) = self.nodes.get(node) {
            return open(*address).await;
        }
        let mut refused = None;
        if let Some(port) = self.port {
            for address in addresses(node.host(), port).await? {
                match open(address).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => refused.get_or_insert(error),
                };
            }
            return Err(refused.unwrap_or_else(|| NoConnection::Unknown(node.clone())));
        }
        for address in self.epmds(node.host()).await? {
            match dial(&Epmd::at(address), node).await {
                // WHY only these: an epmd that answers is the epmd of the host, so its answer is
                // final.
                Err(error @ NoConnection::Epmd(Failed::Unreachable(..) | Failed::Silent(_))) => {
                    refused.get_or_insert(error);
                }
                result => return result,
            }
        }
        Err(refused.unwrap_or_else(|| NoConnection::Unknown(node.clone())))
    }

    /// Candidate addresses for the epmd of a host.
    async fn epmds(&self, host: &str) -> Result<Vec<SocketAddr>, NoConnection> {
        if let Some(address) = self.configured.get(host) {
            return Ok(vec![*address]);
        }
        if host == self.us.host() {
            return Ok(vec![self.own]);
        }
        addresses(host, self.own.port()).await
    }
}

/// Addresses of a host, IPv4 first.
pub(super) async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, NoConnection> {
    let found = timeout(HANDSHAKE_TIMEOUT, lookup_host((host, port))).await;
    let found = found.map_err(|_| NoConnection::Slow)?;
    let found = found.map_err(|error| NoConnection::Host(host.to_owned(), error))?;
    let mut addresses: Vec<_> = found.collect();
    addresses.sort_by_key(SocketAddr::is_ipv6);
    addresses.dedup();
    addresses.truncate(MOST_ADDRESSES);
    Ok(addresses)
}
