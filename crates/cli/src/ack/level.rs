//! Names of the ack levels in options.

use purlin_ack::session::Level;

/// Command-line names of [`Level`].
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum LevelName {
    Received,
    Handled,
    Durable,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Received => Self::Received,
            LevelName::Handled => Self::Handled,
            LevelName::Durable => Self::Durable,
        }
    }
}
