//! TLS between nodes, with rustls. Optional: the feature `tls`.
//!
//! Compatible with `-proto_dist inet_tls`: the same protocol over TLS. Both sides present a
//! certificate. The initiator also verifies that the peer's certificate matches the host in its node
//! name, as the BEAM does with `verify_peer`.

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

/// Protocol versions of [`Tls::from_pem`]. OTP 25 uses TLS 1.2 between nodes.
const VERSIONS: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

/// TLS configuration of a node: its certificate and the authorities it trusts.
///
/// ```no_run
/// use purlin_dist_protocol::{Tls, Transport};
///
/// let tls = Tls::from_pem("node.pem", "node.key", "ca.pem")?;
/// let transport = Transport::Tls(tls);
/// # Ok::<(), purlin_dist_protocol::PemError>(())
/// ```
///
/// COST: one TLS handshake for each connection, then the work of rustls for each record of up to 16 KiB.
#[derive(Clone)]
pub struct Tls {
    calls: TlsConnector,
    answers: TlsAcceptor,
}

impl Tls {
    /// Uses the given rustls configurations: `calls` for outgoing and `answers` for incoming connections.
    #[must_use]
    pub fn new(calls: Arc<ClientConfig>, answers: Arc<ServerConfig>) -> Self {
        Self { calls: calls.into(), answers: answers.into() }
    }

    /// Loads a certificate, its key and the trusted authorities from PEM files. The node's certificate comes first,
    /// followed by its intermediate certificates. It must be issued for the host in the node's name and be valid for
    /// both client and server authentication.
    ///
    /// Speaks TLS 1.3 and 1.2. Rejects peers without a certificate of these authorities.
    ///
    /// A connection with a BEAM over TLS 1.2 ends after 2^28 records of the BEAM, each a part of a message or one or more
    /// messages: OTP then renegotiates, which rustls refuses, and closes the connection. OTP 25 uses TLS 1.2 between nodes
    /// unless its `ssl_dist_optfile` has `{versions, ['tlsv1.3']}` in both lists; TLS 1.3 has no such bound.
    ///
    /// # Errors
    /// [`PemError`]: states in one line which file is unusable, and why.
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
            // WHY `expect`: it fails only if algorithms and versions do not match, and these do. Likewise below.
            .expect("the algorithms are those of TLS 1.3 and 1.2")
            .with_root_certificates(roots)
            .with_client_cert_resolver(Arc::clone(&own) as _);
        let answers = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(VERSIONS)
            .expect("the algorithms are those of TLS 1.3 and 1.2")
            // WHY `expect`: it fails only without authorities, and there is at least one.
            .with_client_cert_verifier(verifier.expect("there are authorities"))
            .with_cert_resolver(own);
        Ok(Self::new(Arc::new(calls), Arc::new(answers)))
    }

    /// TLS handshake of the initiator with a node on `host`.
    ///
    /// *Cancellation*: dropping the future closes the connection.
    pub(crate) async fn call(&self, host: &str, socket: TcpStream) -> io::Result<Stream> {
        let stream = self.calls.connect(name_of(host)?, socket).await;
        Ok(Box::new(stream.map_err(|error| why_not("the node", error))?))
    }

    /// TLS handshake of the acceptor.
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

/// Implements `Duplex` for both sides of TLS; the halves share a lock.
macro_rules! split_under_a_lock {
    ($($side:ident)*) => {
        $(impl Duplex for tokio_rustls::$side::TlsStream<TcpStream> {
            fn halves(self: Box<Self>) -> io::Result<Halves> {
                let (read, write) = tokio::io::split(*self);
                Ok((Box::new(read), Box::new(write)))
            }
        })*
    };
}

split_under_a_lock! { client server }
