//! Options of `--handler file`: segments of the log, and how long they are kept.

use std::time::Duration;

use clap::Args;
use purlin_log::{Options, Retention};

use crate::values::{large_count, positive};

/// Smallest segment in bytes.
const SMALLEST: u64 = 4096;

#[derive(Debug, Args)]
#[command(next_help_heading = "Log of --handler file")]
pub(crate) struct LogSettings {
    /// Begin a new segment at this many bytes [default: 67108864]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = segment)]
    segment_bytes: Option<u64>,

    /// Begin a new segment if the last one is this many seconds old [default: no limit]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    segment_age: Option<f64>,

    /// Remove the oldest segments if all together have more than this many bytes [default: no limit]
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = large_count)]
    keep_bytes: Option<u64>,

    /// Remove segments whose newest message is this many seconds old [default: no limit]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    keep_age: Option<f64>,

    /// Keep a segment until its messages are confirmed, and then no longer than the other options
    /// say; without these remove it
    #[arg(long)]
    keep_unconfirmed: bool,
}

impl LogSettings {
    /// Returns the name of an option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let Self { segment_bytes, segment_age, keep_bytes, keep_age, keep_unconfirmed } = self;
        let all = [
            (segment_bytes.is_some(), "--segment-bytes"),
            (segment_age.is_some(), "--segment-age"),
            (keep_bytes.is_some(), "--keep-bytes"),
            (keep_age.is_some(), "--keep-age"),
            (*keep_unconfirmed, "--keep-unconfirmed"),
        ];
        all.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    pub(crate) fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            segment_bytes: self.segment_bytes.unwrap_or(usual.segment_bytes),
            segment_age: self.segment_age.map(Duration::from_secs_f64),
            retention: Retention {
                bytes: self.keep_bytes,
                age: self.keep_age.map(Duration::from_secs_f64),
                confirmed: self.keep_unconfirmed,
            },
            ..usual
        }
    }
}

fn segment(text: &str) -> Result<u64, String> {
    let value = large_count(text).ok().filter(|bytes| *bytes >= SMALLEST);
    value.ok_or_else(|| format!("give a whole number from {SMALLEST}"))
}
