//! epmd client: looks up nodes, and lists the nodes of a host.
//!
//! Each query uses a new connection, as epmd requires, and no result is cached. A query takes at
//! most [`TIMEOUT`].

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::epmd::codec::{
    Found, MOST_NAMES, MOST_REQUEST, Malformed, Request, read_names, read_port,
};

/// Timeout of a query.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// An epmd, identified by its address.
///
/// ```no_run
/// # async fn example() -> Result<(), purlin_dist_protocol::epmd::Failed> {
/// use purlin_dist_protocol::epmd::{Epmd, PORT};
///
/// let epmd = Epmd::at(([127, 0, 0, 1], PORT).into());
/// if let Some(found) = epmd.find("shop").await? {
///     println!("it listens on port {}", found.port);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Epmd {
    pub(super) address: SocketAddr,
}

/// The reason why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// Nothing listens at this address, or the connection broke.
    #[error("no epmd at {0}: {1}")]
    Unreachable(SocketAddr, #[source] io::Error),
    /// No answer arrived within the timeout.
    #[error("epmd at {0} does not answer")]
    Silent(SocketAddr),
    /// The answer is not one of epmd.
    #[error("what listens at {0} is no epmd: {1}")]
    Malformed(SocketAddr, #[source] Malformed),
    /// Another node is registered under this name.
    #[error("epmd knows another node called {0}")]
    Taken(String),
}

impl Epmd {
    /// The epmd at this address.
    #[must_use]
    pub fn at(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The epmd of a host, given by name or address. Uses the first IPv4 address if there is one.
    ///
    /// # Errors
    /// The host cannot be resolved.
    pub async fn of_host(host: &str, port: u16) -> io::Result<Self> {
        let all: Vec<_> = lookup_host((host, port)).await?.collect();
        let first = all.iter().find(|address| address.is_ipv4()).or(all.first());
        first.map(|address| Self::at(*address)).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Looks up a node by the part of its name before the `@`. Returns `None` if it is not
    /// registered.
    ///
    /// # Errors
    /// See [`Failed`].
    ///
    /// *Cancellation*: closes the connection.
    pub async fn find(&self, alive: &str) -> Result<Option<Found>, Failed> {
        let request = Request::PortPlease(alive.to_owned());
        let (_, found) = self.ask(&request, MOST_REQUEST, |bytes, _| read_port(bytes)).await?;
        Ok(found)
    }

    /// Returns the names and ports of all registered nodes.
    ///
    /// # Errors
    /// See [`Failed`].
    ///
    /// *Cancellation*: closes the connection.
    pub async fn names(&self) -> Result<Vec<(String, u16)>, Failed> {
        let read = |bytes: &[u8], ended: bool| ended.then(|| read_names(bytes)).transpose();
        let (_, names) = self.ask(&Request::Names, MOST_NAMES, read).await?;
        Ok(names)
    }

    /// Sends the request on a new connection and reads until `read` returns an answer. Returns the connection with it.
    pub(super) async fn ask<T>(
        &self,
        request: &Request,
        most: usize,
        read: impl Fn(&[u8], bool) -> Result<Option<T>, Malformed>,
    ) -> Result<(TcpStream, T), Failed> {
        let unreachable = |error| Failed::Unreachable(self.address, error);
        let malformed = |what| Failed::Malformed(self.address, what);
        let asked = async {
            let mut socket = TcpStream::connect(self.address).await.map_err(unreachable)?;
            let mut bytes = Vec::new();
            request.write(&mut bytes);
            socket.write_all(&bytes).await.map_err(unreachable)?;
            bytes.clear();
            loop {
                let came = socket.read_buf(&mut bytes).await.map_err(unreachable)?;
                if let Some(answer) = read(&bytes, came == 0).map_err(malformed)? {
                    return Ok((socket, answer));
                } else if came == 0 {
                    return Err(unreachable(io::ErrorKind::UnexpectedEof.into()));
                } else if bytes.len() > most {
                    return Err(malformed(Malformed::TooLong));
                }
            }
        };
        timeout(TIMEOUT, asked).await.unwrap_or(Err(Failed::Silent(self.address)))
    }
}
