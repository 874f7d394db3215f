//! Client side of TLS.
//!
//! The configuration is created with the client and used for each of its connections, and by the
//! load generator.

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

/// TLS configuration of a client: trusted authorities and client certificate.
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
    /// Name the server's certificate must match, if not the host in the address.
    server: Option<String>,
}

/// A connection after the handshake.
pub(crate) type Secured = TlsStream<TcpStream>;

impl Tls {
    /// Uses the given rustls configuration.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self { config, server: None }
    }

    /// Trusts servers whose certificate is signed by an authority in this PEM file, and no others.
    /// Uses TLS 1.3 only.
    ///
    /// # Errors
    /// Returns [`PemError`], which names the file and the problem in one line.
    pub fn from_pem(authorities_of: impl AsRef<Path>) -> Result<Self, PemError> {
        let config = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            // WHY: this fails if the algorithms do not match the version, and these do.
            .expect("the algorithms are those of TLS 1.3")
            .with_root_certificates(authorities(authorities_of.as_ref())?)
            .with_no_client_auth();
        Ok(Self::new(Arc::new(config)))
    }

    /// Sets the client certificate and its key, both from PEM files, for servers that require one.
    /// The file contains the certificate first, then its chain.
    ///
    /// # Errors
    /// Returns [`PemError`], which names the file and the problem in one line.
    pub fn identity(
        mut self,
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, PemError> {
        let identity = identity(certificates.as_ref(), key.as_ref())?;
        Arc::make_mut(&mut self.config).client_auth_cert_resolver = identity;
        Ok(self)
    }

    /// Sets the name or address that the server's certificate must match, instead of the host in
    /// the address. For a server that is reached by a different name than the one it is certified
    /// for.
    #[must_use]
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }

    /// Performs the handshake with the server at `address`, such as `host:8006`. Its certificate
    /// must match `host`, or the configured server name.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn secure(&self, address: &str, stream: TcpStream) -> io::Result<Secured> {
        let name = name_of(self.server.as_deref().unwrap_or_else(|| host(address)))?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        connector.connect(name, stream).await.map_err(|error| why_not("the server", error))
    }

    /// Separates the TLS state from the socket, for a caller that does not wait through tokio.
    pub(crate) fn apart(&self, secured: Secured) -> (TcpStream, Channel) {
        let (stream, connection) = secured.into_inner();
        (stream, Channel::new(Connection::Client(connection)))
    }
}

/// Returns the host of an address, which the certificate must match.
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
    fn expected_server_name_is_the_host_of_the_address() {
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
