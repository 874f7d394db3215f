//! Option `--log` of commands that run until a signal, and the log on standard error.

use std::io;

use clap::Args;
use purlin_dist::cluster::Logs;
use purlin_lab::error::Problem;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

use crate::output::problem;

#[derive(Debug, Args)]
pub(crate) struct Logging {
    /// Set the log level on standard error
    #[arg(long, value_name = "LEVEL", default_value = "warn", value_parser = ["off", "error", "warn", "info", "debug"])]
    log: String,
}

impl Logging {
    /// Logs to standard error, and to the loggers of other nodes that request it.
    pub(crate) fn start(&self, logs: Option<Logs>) -> Result<(), Problem> {
        let level: LevelFilter = self.log.parse().map_err(problem)?;
        let output = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_filter(level);
        tracing_subscriber::registry().with(output).with(logs).try_init().map_err(problem)
    }
}
