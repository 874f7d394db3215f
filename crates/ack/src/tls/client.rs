//! What a client needs for TLS.
//!
//! Made when a client is set up, and used by its keeper for each connection, and so by a load.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use purlin_tls::{PemError, authorities, identity, name_of, provider, why_not};
use rustls::{ClientConfig, Connection};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{Channel, VERSIONS};

/// Whom a client trusts, and who it says that it is.
///
/// ```no_run
/// use purlin_ack::client::{Client, PemError, Tls};
///
/// # fn main() -> Result<(), PemError> {
/// let tls = Tls::from_pem("ca.pem")?.identity("client.pem", "client.key")?;
/// let builder = Client::builder("server.example:8006").tls(tls);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    /// Who a server has to be, if not the host in its address.
    server: Option<String>,
}

/// A connection after the handshake.
pub(crate) type Secured = TlsStream<TcpStream>;

impl Tls {
    /// With a configuration of one's own.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self { config, server: None }
    }

    /// Trusts servers for which one of these authorities vouches, from a PEM file, and nobody else.
    /// Speaks TLS 1.3 only.
    ///
    /// # Errors
    /// [`PemError`]: in one line, which file is of no use, and why.
    pub fn from_pem(authorities_of: impl AsRef<Path>) -> Result<Self, PemError> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            // WHY: it fails if the algorithms do not fit the version, and these do.
            .expect("the algorithms are those of TLS 1.3")
            .with_root_certificates(authorities(authorities_of.as_ref())?)
            .with_no_client_auth();
        Ok(Self::new(Arc::new(config)))
    }

    /// Shows this certificate to a server that demands one, and has the key to prove it; both from PEM
    /// files. Behind the certificate, which is the first, come those that vouch for it.
    ///
    /// # Errors
    /// [`PemError`]: in one line, which file is of no use, and why.
    pub fn identity(
        mut self,
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, PemError> {
        let identity = identity(certificates.as_ref(), key.as_ref())?;
        Arc::make_mut(&mut self.config).client_auth_cert_resolver = identity;
        Ok(self)
    }

    /// Has the server prove that it is this, a name or an address, and not the host to which the client
    /// connects: for one that is known by another name than it is reached by.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }

    /// Has the server at this address, such as `host:8006`, prove that it is `host`, or whom it is said
    /// to be.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn secure(&self, address: &str, stream: TcpStream) -> io::Result<Secured> {
        let name = name_of(self.server.as_deref().unwrap_or_else(|| host(address)))?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        connector.connect(name, stream).await.map_err(|error| why_not("the server", error))
    }

    /// Takes TLS and the socket apart, for who waits for that otherwise than tokio does.
    pub(crate) fn apart(&self, secured: Secured) -> (TcpStream, Channel) {
        let (stream, connection) = secured.into_inner();
        (stream, Channel::new(Connection::Client(connection)))
    }
}

/// Who a server at this address has to be.
fn host(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _port)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{host, name_of};

    #[test]
    fn a_server_is_who_its_address_says() {
        for (address, due) in [
            ("host.example:8006", "host.example"),
            ("127.0.0.1:8006", "127.0.0.1"),
            ("[::1]:8006", "::1"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(name_of(host(address)).expect(address).to_str(), due);
        }
        let error = name_of(host("no host:8006")).expect_err("a name has no spaces");
        assert_eq!(
            error.to_string(),
            "no certificate can be for \"no host\", which is no name and no address"
        );
    }
}
