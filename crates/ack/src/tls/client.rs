//! What a client needs for TLS.
//!
//! Made when a client is set up, and used by its keeper for each connection.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::pem::{PemError, authorities, identity};
use super::{VERSIONS, provider};

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
}

impl Tls {
    /// With a configuration of one's own.
    #[must_use]
    pub fn new(config: Arc<ClientConfig>) -> Self {
        Self { config }
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

    /// Has the server at this address, such as `host:8006`, prove that it is `host`.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn secure(
        &self,
        address: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = name(address)?;
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await
    }
}

/// Who a server at this address has to be.
fn name(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _port)| host);
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    ServerName::try_from(bare.to_owned()).map_err(|_| {
        let line = format!("no certificate can be for \"{bare}\", which is no name and no address");
        io::Error::new(io::ErrorKind::InvalidInput, line)
    })
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_server_is_who_its_address_says() {
        for (address, due) in [
            ("host.example:8006", "host.example"),
            ("127.0.0.1:8006", "127.0.0.1"),
            ("[::1]:8006", "::1"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(name(address).expect(address).to_str(), due);
        }
        let error = name("no host:8006").expect_err("a name has no spaces");
        assert_eq!(
            error.to_string(),
            "no certificate can be for \"no host\", which is no name and no address"
        );
    }
}
