//! Errors of a log.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a log cannot be opened, read or appended to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An operation on a file failed.
    Io {
        /// The operation, such as `"write"`.
        action: &'static str,
        /// File or folder.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
    /// Another opener writes to the log.
    Locked {
        /// Folder of the log.
        path: PathBuf,
    },
    /// Synced bytes are damaged or missing. Nothing was changed.
    Damaged(Damage),
    /// A file has a newer format.
    Version {
        /// The file.
        path: PathBuf,
        /// Version in its header.
        version: u32,
    },
    /// Records were removed by the [retention](crate::Retention) before the reader has read them.
    Removed {
        /// Folder of the log.
        path: PathBuf,
        /// Sequence number of the first removed record.
        first: u64,
        /// Sequence number of the oldest record that is left.
        oldest: u64,
    },
    /// A write or sync failed before. The log has to be opened again.
    Failed {
        /// The first failure.
        reason: String,
    },
    /// A batch is larger than [`LARGEST_BATCH`](crate::LARGEST_BATCH).
    TooLarge {
        /// Size of the batch in bytes.
        bytes: u64,
    },
    /// A block does not consist of whole messages.
    Malformed,
}

/// Place in a log where synced bytes are damaged or missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// Offset of the first batch or header that is not whole.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is damaged at byte {}: {}", self.path.display(), self.offset, self.what)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { action, path, error } => {
                write!(f, "cannot {action} {}: {error}", path.display())
            }
            Self::Locked { path } => {
                let path = path.display();
                write!(f, "the log {path} is open already, in this program or another")
            }
            Self::Damaged(damage) => damage.fmt(f),
            Self::Version { path, version } => {
                let path = path.display();
                write!(f, "{path} has format version {version}; use a newer release to read it")
            }
            Self::Removed { path, first, oldest } => {
                let path = path.display();
                write!(f, "records {first} to {} of {path} were removed unread", oldest - 1)
            }
            Self::Failed { reason } => {
                write!(f, "the log failed before and must be opened again: {reason}")
            }
            Self::TooLarge { bytes } => {
                write!(f, "a batch of {bytes} bytes exceeds the limit of {}", crate::LARGEST_BATCH)
            }
            Self::Malformed => f.write_str("a block does not consist of whole messages"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
