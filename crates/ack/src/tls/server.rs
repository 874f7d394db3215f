//! Server side of TLS.
//!
//! The configuration is created with the server and shared by all of its connections.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use purlin_tls::{PemError, authorities, identity, provider};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::{Connection, ServerConfig, ServerConnection};

use super::{Channel, VERSIONS};

/// TLS configuration of a server: its certificate, and whether clients need one.
///
/// ```no_run
/// use purlin_ack::server::{PemError, Server, Tls};
///
/// # fn main() -> Result<(), PemError> {
/// let tls = Tls::from_pem("server.pem", "server.key")?.client_certificates("ca.pem")?;
/// let builder = Server::builder(([0, 0, 0, 0], 8006).into()).tls(tls);
/// # Ok(())
/// # }
/// ```
///
/// COST: a handshake per connection; then the cost of rustls per record of up to 16 KiB, and 64 KiB
/// of memory for a connection that is not idle.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
}

impl Tls {
    /// Uses the given rustls configuration.
    #[must_use]
    pub fn new(config: Arc<ServerConfig>) -> Self {
        Self { config }
    }

    /// Uses a certificate and its key from PEM files. The file contains the certificate first, then
    /// its chain. Uses TLS 1.3 only and does not require client certificates.
    ///
    /// # Errors
    /// Returns [`PemError`], which names the file and the problem in one line.
    pub fn from_pem(
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, PemError> {
        let identity = identity(certificates.as_ref(), key.as_ref())?;
        Ok(Self::speaking(WebPkiClientVerifier::no_client_auth(), identity))
    }

    /// Requires client certificates signed by an authority in this PEM file. Of a custom
    /// configuration only the server's certificates are kept.
    ///
    /// # Errors
    /// Returns [`PemError`], which names the file and the problem in one line.
    pub fn client_certificates(self, authorities_of: impl AsRef<Path>) -> Result<Self, PemError> {
        let roots = authorities(authorities_of.as_ref())?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
        // WHY: this fails without authorities, and there is at least one.
        let verifier = verifier.expect("there are authorities");
        Ok(Self::speaking(verifier, Arc::clone(&self.config.cert_resolver)))
    }

    fn speaking(clients: Arc<dyn ClientCertVerifier>, own: Arc<dyn ResolvesServerCert>) -> Self {
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            // WHY: this fails if the algorithms do not match the version, and these do.
            .expect("the algorithms are those of TLS 1.3")
            .with_client_cert_verifier(clients)
            .with_cert_resolver(own);
        Self::new(Arc::new(config))
    }

    /// Creates the server side of a newly accepted connection.
    pub(crate) fn accept(&self) -> io::Result<Channel> {
        let connection =
            ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)?;
        Ok(Channel::new(Connection::Server(connection)))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}
