//! TLS between nodes, with rustls. Optional: the feature `tls`. Without it `no_tls.rs` stands
//! here: the same name, of which there are no values.
//!
//! It is what `-proto_dist inet_tls` speaks: the protocol is the same, and TLS lies below it.
//! Both sides show a certificate. The one that calls also has the other prove that it is the
//! host in the node's name, as a node of the BEAM does with `verify_peer`.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use purlin_tls::{PemError, authorities, identity, name_of, provider, why_not};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::stream::{Duplex, Halves, Stream};

/// What is spoken unless a configuration of one's own says otherwise. A node of OTP 25 takes TLS 1.2 between nodes.
const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

/// With which certificate a node proves who it is, and whom it believes.
///
/// ```no_run
/// use purlin_dist::Tls;
/// use purlin_dist::cluster::Cluster;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tls = Tls::from_pem("node.pem", "node.key", "ca.pem")?;
/// let builder = Cluster::builder("shop@10.0.0.5".parse()?).tls(tls);
/// # Ok(())
/// # }
/// ```
///
/// COST: a handshake for each connection; then what rustls takes for a record of up to 16 KiB.
#[derive(Clone)]
pub struct Tls {
    calls: TlsConnector,
    answers: TlsAcceptor,
}

impl Tls {
    /// With configurations of one's own: for nodes that are called, and for nodes that call.
    #[must_use]
    pub fn new(calls: Arc<ClientConfig>, answers: Arc<ServerConfig>) -> Self {
        Self { calls: calls.into(), answers: answers.into() }
    }

    /// With a certificate and its key, and the authorities to trust, from PEM files. Behind the certificate,
    /// which is the first, come those that vouch for it. It is to be for the host in the node's name, and good
    /// for both sides of TLS.
    ///
    /// Speaks TLS 1.3 and 1.2. Nobody without a certificate of these authorities is let in.
    ///
    /// # Errors
    /// [`PemError`]: in one line, which file is of no use, and why.
    pub fn from_pem(
        certificates: impl AsRef<Path>,
        key: impl AsRef<Path>,
        authorities_of: impl AsRef<Path>,
    ) -> Result<Self, PemError> {
        let own = identity(certificates.as_ref(), key.as_ref())?;
        let roots = authorities(authorities_of.as_ref())?;
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), provider()).build();
        let calls = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            // WHY: it fails if the algorithms do not fit the versions, and these do. Likewise below.
            .expect("the algorithms are those of TLS 1.3 and 1.2")
            .with_root_certificates(roots)
            .with_client_cert_resolver(Arc::clone(&own) as _);
        let answers = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            .expect("the algorithms are those of TLS 1.3 and 1.2")
            // WHY: it fails without authorities, and there is one at least.
            .with_client_cert_verifier(verifier.expect("there are authorities"))
            .with_cert_resolver(own);
        Ok(Self::new(Arc::new(calls), Arc::new(answers)))
    }

    /// TLS of the side that calls, with a node of that host.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn call(&self, host: &str, socket: TcpStream) -> io::Result<Stream> {
        let stream = self.calls.connect(name_of(host)?, socket).await;
        Ok(Box::new(stream.map_err(|error| why_not("the node", error))?))
    }

    /// TLS of the side that is called.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn answer(&self, socket: TcpStream) -> io::Result<Stream> {
        let stream = self.answers.accept(socket).await;
        Ok(Box::new(stream.map_err(|error| why_not("the caller", error))?))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// For both sides of TLS.
macro_rules! split_under_a_lock {
    ($($side:ident)*) => {
        $(impl Duplex for tokio_rustls::$side::TlsStream<TcpStream> {
            fn halves(self: Box<Self>) -> Halves {
                let (read, write) = tokio::io::split(*self);
                (Box::new(read), Box::new(write))
            }
        })*
    };
}

split_under_a_lock! { client server }
