//! `purlin ack`: small messages over TCP, acknowledged.

mod forward;
mod load;
mod serve;

use clap::Subcommand;
use purlin_ack::session::Level;
use purlin_lab::error::Problem;

#[derive(Debug, Subcommand)]
pub(crate) enum Ack {
    /// Take messages and acknowledge them, in one of six ways or all of them
    Serve(serve::Serve),
    /// Send as much as there can be to a server, verify every answer, and tell rates and latency
    Load(load::Load),
}

pub(crate) fn obey(command: Ack) -> Result<u8, Problem> {
    match command {
        Ack::Serve(asked) => serve::serve(asked),
        Ack::Load(asked) => load::load(&asked),
    }
}

/// What an ack means, as it is written.
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
