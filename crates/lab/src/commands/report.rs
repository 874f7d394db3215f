//! `purlin lab report`: renders the report page from stored results and from OTP's text.

use std::path::PathBuf;

use crate::error::Problem;
use crate::page;
use crate::store::{self, PAGE};
use crate::stored::{read, results_file};

/// Options of `purlin lab report`.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// Results files, files of OTP's text, or folders of runs.
    pub paths: Vec<PathBuf>,
    /// The output file; absent for the default.
    pub html: Option<PathBuf>,
}

/// Renders the page and returns its path.
///
/// By default the page of one run is written to the folder of its results, the page of several runs
/// to the current folder.
///
/// # Errors
///
/// Returns one line if a path cannot be read or holds no results, or if the page cannot be written.
pub fn report(options: &ReportOptions) -> Result<PathBuf, Problem> {
    let files: Vec<PathBuf> = options.paths.iter().map(|path| results_file(path)).collect();
    let stored = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
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
