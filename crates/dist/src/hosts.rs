//! Which epmd knows the nodes of a host, and where they are then.
//!
//! Each host has an epmd of its own, all of them on one port. The own host's is where this node
//! is registered. That of another host is looked for at the host's addresses, those for IPv4
//! first, unless it was told. Nothing is kept between two calls: hosts move.

use std::collections::HashMap;
use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::connect::{NoConnection, PATIENCE, dial};
use crate::epmd::{Epmd, Failed};
use crate::name::NodeName;

/// The most addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;

/// The epmds of all hosts.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    pub(crate) us: NodeName,
    /// The own host's.
    pub(crate) own: SocketAddr,
    /// Those of hosts that are found otherwise than by their name.
    pub(crate) told: HashMap<String, SocketAddr>,
}

impl Hosts {
    /// Connects to a node.
    ///
    /// *Cancellation*: nothing remains.
    pub(crate) async fn dial(&self, node: &NodeName) -> Result<TcpStream, NoConnection> {
        if self.us.is_long() != node.is_long() {
            return Err(NoConnection::OtherForm(node.clone()));
        }
        let mut refused = None;
        for address in self.epmds(node.host()).await? {
            match dial(&Epmd::at(address), node).await {
                // WHY only then: an epmd that answers is the host's, whatever it says.
                Err(error @ NoConnection::Epmd(Failed::Unreachable(..) | Failed::Silent(_))) => {
                    refused.get_or_insert(error);
                }
                result => return result,
            }
        }
        Err(refused.unwrap_or_else(|| NoConnection::Unknown(node.clone())))
    }

    /// Where the epmd of a host may be.
    async fn epmds(&self, host: &str) -> Result<Vec<SocketAddr>, NoConnection> {
        if let Some(told) = self.told.get(host) {
            return Ok(vec![*told]);
        }
        if host == self.us.host() {
            return Ok(vec![self.own]);
        }
        let found = timeout(PATIENCE, lookup_host((host, self.own.port()))).await;
        let found = found.map_err(|_| NoConnection::Slow)?;
        let found = found.map_err(|error| NoConnection::Host(host.to_owned(), error))?;
        let mut addresses: Vec<_> = found.collect();
        addresses.sort_by_key(SocketAddr::is_ipv6);
        addresses.dedup();
        addresses.truncate(MOST_ADDRESSES);
        Ok(addresses)
    }
}
