//! `purlin lab export`: converts stored results to other formats.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::output::print;
use crate::error::Problem;
use crate::export::{csv, markdown};
use crate::otp_text;
use crate::store;
use crate::stored::{read_figures, read_json, results_file};

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
pub(super) struct ExportOptions {
    /// Results (results.json), OTP's text, or the folder of a run
    path: PathBuf,

    /// Choose the output format
    #[arg(long, value_name = "FORMAT", default_value = "json", value_enum)]
    format: Format,

    /// Write to this file, overwriting it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Output format.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// The results as they are stored
    Json,
    /// One row per sample
    Csv,
    /// A table of the primary metrics
    Markdown,
    /// The text of OTP's own benchmark; only for signals
    Otp,
}

/// Writes the converted results to the output file, or prints them.
pub(super) fn export(options: &ExportOptions) -> Result<(), Problem> {
    let file = results_file(&options.path);
    let text = match options.format {
        Format::Json => read_json(&file)?,
        Format::Csv => csv(&read_figures(&file)?)?,
        Format::Markdown => markdown(&read_figures(&file)?),
        Format::Otp => otp_text::write(&read_figures(&file)?)
            .map_err(|problem| Problem::new(format!("{}: {problem}", file.display())))?,
    };
    match &options.output {
        None => print(&text),
        Some(to) => store::write(to, &text),
    }
}
