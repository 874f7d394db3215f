//! `purlin lab export`: stored results in a form that others read.

use std::path::PathBuf;

use crate::error::Problem;
use crate::export::{csv, markdown};
use crate::otp_text;
use crate::store;
use crate::stored::{read_figures, read_json, results_file};

/// In which form results are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// The results as they are stored, schema 1.
    #[default]
    Json,
    /// A row for each sample.
    Csv,
    /// A table of the principal figures.
    Markdown,
    /// The text of OTP's own benchmark, of `signals`.
    Otp,
}

/// What `purlin lab export` was asked.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// A file of results or of OTP's text, or the folder of a run.
    pub path: PathBuf,
    /// The form.
    pub format: Format,
    /// Where it goes.
    pub to: Option<PathBuf>,
}

/// Writes the file that was asked for, or returns the text where none was.
///
/// # Errors
///
/// One line: a path that cannot be read or holds no results, results that the
/// form has no place for, or a file that cannot be written.
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
