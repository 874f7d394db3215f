//! TLS configuration of purlin: certificates and keys from PEM files, peer verification, handshake
//! errors. Used by `purlin-ack` and `purlin-dist`, which re-export what their users need; programs
//! do not depend on this crate directly.
//!
//! Files are read once, when a configuration is created. Errors are one line that names the file.
//! Nothing here opens a connection.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{Error as Malformed, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

/// Returns the cryptographic provider, `ring`.
///
/// WHY not the process-wide default: a program may install another one, which might reject files
/// that are valid here.
#[must_use]
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Error in a file of certificates or keys.
#[derive(Debug)]
#[non_exhaustive]
pub enum PemError {
    /// The file cannot be read.
    Unreadable {
        /// Path of the file.
        file: PathBuf,
        /// I/O error.
        error: io::Error,
    },
    /// The file is not PEM.
    Malformed {
        /// Path of the file.
        file: PathBuf,
        /// Parse error.
        error: Malformed,
    },
    /// The file contains no certificate.
    NoCertificate {
        /// Path of the file.
        file: PathBuf,
    },
    /// The file contains no private key, or only an encrypted one.
    NoKey {
        /// Path of the file.
        file: PathBuf,
    },
    /// A certificate in the file is invalid.
    BadCertificate {
        /// Path of the file.
        file: PathBuf,
        /// Error of the certificate.
        error: rustls::Error,
    },
    /// The key in the file cannot be used.
    BadKey {
        /// Path of the file.
        file: PathBuf,
        /// Error of the key.
        error: rustls::Error,
    },
    /// The key does not match the certificate.
    OtherKey {
        /// Path of the key.
        key: PathBuf,
        /// Path of the certificate.
        certificate: PathBuf,
    },
}

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, error } => {
                write!(f, "cannot read {}: {error}", file.display())
            }
            Self::Malformed { file, error } => write!(f, "{} is not PEM: {error}", file.display()),
            Self::NoCertificate { file } => {
                write!(f, "there is no certificate in {}", file.display())
            }
            Self::NoKey { file } => {
                write!(f, "there is no private key in {} that is not encrypted", file.display())
            }
            Self::BadCertificate { file, error } => {
                write!(f, "a certificate in {} is not valid: {error}", file.display())
            }
            Self::BadKey { file, error } => {
                write!(f, "the private key in {} cannot be used: {error}", file.display())
            }
            Self::OtherKey { key, certificate } => write!(
                f,
                "the private key in {} is not that of the certificate in {}",
                key.display(),
                certificate.display()
            ),
        }
    }
}

impl std::error::Error for PemError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { error, .. } => Some(error),
            Self::Malformed { error, .. } => Some(error),
            Self::BadCertificate { error, .. } | Self::BadKey { error, .. } => Some(error),
            Self::NoCertificate { .. } | Self::NoKey { .. } | Self::OtherKey { .. } => None,
        }
    }
}

/// Loads a certificate chain, the end-entity certificate first, and its key, for either side.
///
/// # Errors
/// Returns a [`PemError`] that names the invalid file and the reason.
pub fn identity(chain: &Path, key: &Path) -> Result<Arc<SingleCertAndKey>, PemError> {
    let certificates = certificates(chain)?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
        Malformed::NoItemsFound => PemError::NoKey { file: key.into() },
        error => unusable(key, error),
    })?;
    match CertifiedKey::from_der(certificates, private, &provider()) {
        Ok(certified) => Ok(Arc::new(certified.into())),
        Err(rustls::Error::InconsistentKeys(_)) => {
            Err(PemError::OtherKey { key: key.into(), certificate: chain.into() })
        }
        Err(error @ rustls::Error::InvalidCertificate(_)) => {
            Err(PemError::BadCertificate { file: chain.into(), error })
        }
        Err(error) => Err(PemError::BadKey { file: key.into(), error }),
    }
}

/// Loads trusted authorities; the file must contain at least one certificate.
///
/// # Errors
/// Returns a [`PemError`] that names the invalid file and the reason.
pub fn authorities(file: &Path) -> Result<Arc<RootCertStore>, PemError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| PemError::BadCertificate { file: file.into(), error })?;
    }
    Ok(Arc::new(roots))
}

/// Loads the certificates of a file, at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let found: Vec<_> = found.map_err(|error| unusable(file, error))?;
    if found.is_empty() {
        return Err(PemError::NoCertificate { file: file.into() });
    }
    Ok(found)
}

fn unusable(file: &Path, error: Malformed) -> PemError {
    let file = file.into();
    match error {
        Malformed::Io(error) => PemError::Unreadable { file, error },
        error => PemError::Malformed { file, error },
    }
}

/// Parses a host name or IP address as the expected identity of the peer.
///
/// # Errors
/// Returns an error if `host` is neither.
pub fn name_of(host: &str) -> io::Result<ServerName<'static>> {
    ServerName::try_from(host.to_owned()).map_err(|_| {
        let line = format!("no certificate can be for {host:?}, which is no name and no address");
        io::Error::new(ErrorKind::InvalidInput, line)
    })
}

/// Returns a handshake error with a plain message if the peer, called `peer` in it, seems not to
/// speak TLS. Returns other errors unchanged.
#[must_use]
pub fn why_not(peer: &str, error: io::Error) -> io::Error {
    let tls = error.get_ref().and_then(|error| error.downcast_ref());
    match (error.kind(), tls) {
        (ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe, _) => {
            let line = format!("closed in the TLS handshake; perhaps {peer} does not speak TLS");
            io::Error::new(error.kind(), line)
        }
        (kind, Some(rustls::Error::InvalidMessage(_))) => {
            io::Error::new(kind, format!("{peer} does not speak TLS: {error}"))
        }
        _ => error,
    }
}
