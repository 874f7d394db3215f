//! `purlin lab export`: converts stored results to other formats.

use std::path::PathBuf;

use crate::error::Problem;
use crate::export::{csv, markdown};
use crate::otp_text;
use crate::store;
use crate::stored::{read_figures, read_json, results_file};

/// Export format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON: the results as they are stored, schema 1.
    #[default]
    Json,
    /// CSV: one row per sample.
    Csv,
    /// Markdown: a table of the primary metrics.
    Markdown,
    /// The text of OTP's own benchmark; only for `signals`.
    Otp,
}

/// Options of `purlin lab export`.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// A results file, a file of OTP's text, or the folder of a run.
    pub path: PathBuf,
    /// The format.
    pub format: Format,
    /// The output file; absent to return the text.
    pub to: Option<PathBuf>,
}

/// Writes the output file, or returns the text if no file was given.
///
/// # Errors
///
/// Returns one line if the path cannot be read or holds no results, if the format cannot represent
/// the results, or if the file cannot be written.
pub fn export(options: &ExportOptions) -> Result<Option<String>, Problem> {
    let file = results_file(&options.path);
    let text = match options.format {
        Format::Json => read_json(&file)?,
        Format::Csv => csv(&read_figures(&file)?)?,
        Format::Markdown => markdown(&read_figures(&file)?),
        Format::Otp => otp_text::write(&read_figures(&file)?)
            .map_err(|problem| Problem::new(format!("{}: {problem}", file.display())))?,
    };
    match &options.to {
        None => Ok(Some(text)),
        Some(to) => store::write(to, &text).map(|()| None),
    }
}
