//! Resources a sample may need in addition to its contender.

use std::time::Duration;

use super::answer::{Failure, Hello};
use super::client::Client;
use super::find::{CommandLine, Surroundings};
use super::served::LoadClient;
use crate::interrupt::Interrupt;

/// Resources a sample may need in addition to its contender.
pub(super) struct Resources {
    pub(super) load: LoadClient,
    pub(super) surroundings: Surroundings,
    pub(super) limit: Duration,
    pub(super) interrupt: Interrupt,
}

impl Resources {
    pub(super) fn start(&self, command: &CommandLine) -> Result<(Client, Hello), Failure> {
        Client::start(command, self.limit, &self.interrupt)
    }
}
