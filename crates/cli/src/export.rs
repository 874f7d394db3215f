//! Arguments of `purlin lab export`, and their conversion to options of the lab.

use std::path::PathBuf;

use clap::Args;
use purlin_lab::commands::{ExportOptions, Format};

use crate::values::one_of;

/// Names of the output formats.
const FORMATS: [(&str, Format); 4] = [
    ("json", Format::Json),
    ("csv", Format::Csv),
    ("markdown", Format::Markdown),
    ("otp", Format::Otp),
];

const HELP: &str = "\
Examples:
  purlin lab export lab-results/20261121T090000Z --format csv -o samples.csv
      every sample of a run, one row each
  purlin lab export results.json --format markdown
      a table of the primary metrics with intervals and ratios
  purlin lab export results.json --format otp
      the metrics of the experiment signals, in the format of OTP's parallel_messages_SUITE
  purlin lab export parallel_messages.txt -o results.json
      OTP's text as results.json

Exit status:
  0  written
  2  a file cannot be read or has no results for this format, or the output cannot be
     written";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Export {
    /// Results (results.json), OTP's text, or the folder of a run
    path: PathBuf,

    /// Choose the output format
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = one_of(FORMATS))]
    format: Format,

    /// Write to this file, overwriting it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl From<Export> for ExportOptions {
    fn from(options: Export) -> Self {
        Self { path: options.path, format: options.format, to: options.output }
    }
}
