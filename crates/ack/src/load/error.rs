//! Error types of a load.

use std::fmt;
use std::io::ErrorKind;

use super::connection::Broken;
use super::plan::{BadPlan, Plan};
use crate::client::{ConnectError, Lost};

/// Why a load failed.
#[derive(Debug)]
pub enum LoadError {
    /// The plan is invalid.
    Plan(BadPlan),
    /// A connection failed.
    Failed(Failed),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(bad) => bad.fmt(f),
            Self::Failed(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Plan(bad) => Some(bad),
            Self::Failed(failed) => Some(failed),
        }
    }
}

impl From<Failed> for LoadError {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// A failed connection of a load.
#[derive(Debug)]
pub struct Failed {
    /// Address of the server.
    pub address: String,
    /// Number of the connection, from 1, and number of connections.
    pub connection: (u32, u32),
    /// Number of messages answered, and number of messages sent.
    pub answered: (u64, u64),
    /// Why the connection failed.
    pub why: ConnectError,
}

impl Failed {
    pub(super) fn of(plan: &Plan, broken: Broken) -> Self {
        let Broken { number, answered, sent, why } = broken;
        let address = plan.address.clone();
        Self { address, connection: (number, plan.connections), answered: (answered, sent), why }
    }

    /// Whether TLS failed before any message was answered. A server that requires a client
    /// certificate may report a missing one only when the client reads, in the first round.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        let (answered, _) = self.answered;
        let of_tls = matches!(&self.why, ConnectError::Lost(Lost::Io(error))
            if error.kind() == ErrorKind::InvalidData);
        answered == 0 && of_tls
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, connection: (number, of), answered: (answered, sent), why } = self;
        write!(f, "{address}: {why}")?;
        match (of, sent) {
            (1, 0) => Ok(()),
            (_, 0) => write!(f, " (connection {number} of {of})"),
            (1, _) => write!(f, " ({answered} of {sent} messages were answered)"),
            _ => write!(
                f,
                " (connection {number} of {of}, {answered} of {sent} messages were answered)"
            ),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}
