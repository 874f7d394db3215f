//! `purlin ack`: acknowledged small messages over TCP.

mod forward;
mod load;
mod log;
mod serve;

use clap::Subcommand;
use purlin_lab::error::Problem;

#[derive(Debug, Subcommand)]
pub(crate) enum Ack {
    /// Acknowledge messages, with one of six strategies or all of them
    Serve(Box<serve::Serve>),
    /// Load a server, verify every answer, and print rates and latency
    Load(load::Load),
    /// Inspect, verify, print and repair the log of a server
    #[command(subcommand)]
    Log(log::Log),
}

pub(crate) fn ack(command: Ack) -> Result<u8, Problem> {
    match command {
        Ack::Serve(options) => serve::serve(*options),
        Ack::Load(options) => load::load(&options),
        Ack::Log(command) => log::log(&command),
    }
}
