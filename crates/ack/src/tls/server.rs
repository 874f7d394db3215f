//! What a server needs for TLS.
//!
//! Made when a server is set up, and shared by all of its connections.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use purlin_tls::{PemError, authorities, identity, provider};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::{Connection, ServerConfig, ServerConnection};

use super::{Channel, VERSIONS};

/// With which certificate a server answers, and whether it demands one.
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
/// COST: a handshake for each connection; then what rustls takes for a record of up to 16 KiB, and 64 KiB
/// of memory for a connection that is not quiet.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
}

impl Tls {
    /// With a configuration of one's own.
    #[must_use]
    pub fn new(config: Arc<ServerConfig>) -> Self {
        Self { config }
    }

    /// With a certificate and its key from PEM files. Behind the certificate, which is the first, come
    /// those that vouch for it. Speaks TLS 1.3 only, and lets in whoever trusts the certificate.
    ///
    /// # Errors
    /// [`PemError`]: in one line, which file is of no use, and why.
    pub fn from_pem(
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, PemError> {
        let identity = identity(certificates.as_ref(), key.as_ref())?;
        Ok(Self::speaking(WebPkiClientVerifier::no_client_auth(), identity))
    }

    /// Lets in only clients with a certificate for which one of these authorities vouches, from a PEM
    /// file. Of a configuration of one's own nothing is kept but the server's certificates.
    ///
    /// # Errors
    /// [`PemError`]: in one line, which file is of no use, and why.
    pub fn client_certificates(self, authorities_of: impl AsRef<Path>) -> Result<Self, PemError> {
        let roots = authorities(authorities_of.as_ref())?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
        // WHY: it fails without authorities, and there is one at least.
        let verifier = verifier.expect("there are authorities");
        Ok(Self::speaking(verifier, Arc::clone(&self.config.cert_resolver)))
    }

    fn speaking(clients: Arc<dyn ClientCertVerifier>, own: Arc<dyn ResolvesServerCert>) -> Self {
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            // WHY: it fails if the algorithms do not fit the version, and these do.
            .expect("the algorithms are those of TLS 1.3")
            .with_client_cert_verifier(clients)
            .with_cert_resolver(own);
        Self::new(Arc::new(config))
    }

    /// The server's end of a connection that has just been accepted.
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
