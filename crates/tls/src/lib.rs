//! What TLS needs wherever purlin speaks it: certificates and keys from PEM files, who the other side
//! has to be, and a word on why there was no handshake. Used by `purlin-ack` and `purlin-dist`, which make it part of
//! their own; nobody need depend on this crate.
//!
//! Files are read once, when something is set up. What is wrong is told in one line that names
//! the file. Nothing here opens a connection.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{Error as Malformed, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

/// The algorithms: those of `ring`.
///
/// WHY not what a program may have installed for all of itself: then files that are good here would
/// be refused there.
#[must_use]
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Why a file of certificates or keys is of no use.
#[derive(Debug)]
#[non_exhaustive]
pub enum PemError {
    /// It cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why it cannot.
        error: io::Error,
    },
    /// It is not PEM.
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: Malformed,
    },
    /// There is no certificate in it.
    NoCertificate {
        /// The file.
        file: PathBuf,
    },
    /// There is no private key in it, or only an encrypted one.
    NoKey {
        /// The file.
        file: PathBuf,
    },
    /// A certificate in it is not valid.
    BadCertificate {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: rustls::Error,
    },
    /// The key in it cannot be used.
    BadKey {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: rustls::Error,
    },
    /// A certificate is not that of the key.
    OtherKey {
        /// The file with the key.
        key: PathBuf,
        /// The file with the certificate.
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

/// A certificate and those that vouch for it, the end of the chain first, and its key: for either side.
///
/// # Errors
/// [`PemError`]: which file is of no use, and why.
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

/// Authorities to trust: one at least.
///
/// # Errors
/// [`PemError`]: which file is of no use, and why.
pub fn authorities(file: &Path) -> Result<Arc<RootCertStore>, PemError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| PemError::BadCertificate { file: file.into(), error })?;
    }
    Ok(Arc::new(roots))
}

/// The certificates in a file: one at least.
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

/// Who the other side has to be: a host, by its name or address.
///
/// # Errors
/// It is neither.
pub fn name_of(host: &str) -> io::Result<ServerName<'static>> {
    ServerName::try_from(host.to_owned()).map_err(|_| {
        let line = format!("no certificate can be for {host:?}, which is no name and no address");
        io::Error::new(ErrorKind::InvalidInput, line)
    })
}

/// Why there was no handshake: the error, in which it is said in as many words if the other side knows of none.
/// `peer` is what to call it.
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
