//! `purlin ack`: acknowledged small messages over TCP.

mod forward;
mod load;
mod serve;

use clap::Subcommand;
use purlin_ack::session::Level;
use purlin_lab::error::Problem;

#[derive(Debug, Subcommand)]
pub(crate) enum Ack {
    /// Acknowledge messages, with one of six strategies or all of them
    Serve(serve::Serve),
    /// Load a server, verify every answer, and print rates and latency
    Load(load::Load),
}

pub(crate) fn obey(command: Ack) -> Result<u8, Problem> {
    match command {
        Ack::Serve(asked) => serve::serve(asked),
        Ack::Load(asked) => load::load(&asked),
    }
}

/// Command-line names of [`Level`].
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LevelName {
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
