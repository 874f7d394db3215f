//! `purlin lab report`: renders the report page from stored results and from OTP's text.

use std::path::PathBuf;

use clap::Args;

use crate::error::Problem;
use crate::page;
use crate::store::{self, PAGE};
use crate::stored::{read_judged, results_file};

const HELP: &str = "\
Examples:
  purlin lab report lab-results/20261121T090000Z
      the page of a run, next to its results
  purlin lab report old/results.json new/results.json --html both.html
      two runs on one page
  purlin lab report lab-results/20261121T090000Z parallel_messages.txt
      a run and the output of OTP's parallel_messages_SUITE, in the same graphs

Exit status:
  0  the page is written; its path is printed
  2  a file cannot be read or has no results, or the page cannot be written";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct ReportOptions {
    /// Results (results.json), OTP's text, or folders of runs
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write the page to this file [default: next to the results of a single run; ./report.html for
    /// several]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Renders the page and returns its path.
pub(super) fn report(options: &ReportOptions) -> Result<PathBuf, Problem> {
    let files: Vec<PathBuf> = options.paths.iter().map(|path| results_file(path)).collect();
    let stored = files.iter().map(|file| read_judged(file)).collect::<Result<Vec<_>, _>>()?;
    let page = match (&options.html, files.as_slice()) {
        (Some(page), _) => page.clone(),
        (None, [only]) => only.with_file_name(PAGE),
        (None, _) => PathBuf::from(PAGE),
    };
    store::write(&page, &page::render(&stored))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::store::RESULTS;

    fn asked(path: &Path) -> Result<PathBuf, Problem> {
        report(&ReportOptions { paths: vec![path.into()], html: None })
    }

    #[test]
    fn page_of_one_run_is_written_to_the_folder_of_its_results() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RESULTS), r#"{"schema":1}"#).unwrap();
        assert_eq!(asked(folder.path()).unwrap(), folder.path().join(PAGE));
        assert!(folder.path().join(PAGE).is_file());
    }
}
