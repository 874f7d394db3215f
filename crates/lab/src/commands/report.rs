//! `purlin lab report`: draws the page again from stored results and from OTP's text.

use std::path::PathBuf;

use crate::error::Problem;
use crate::page;
use crate::store::{self, PAGE};
use crate::stored::{read, results_file};

/// What `purlin lab report` was asked.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// Files of results, or of OTP's text, or folders of runs.
    pub paths: Vec<PathBuf>,
    /// Where the page goes.
    pub html: Option<PathBuf>,
}

/// Writes the page and returns where it lies.
///
/// Without a place for it, that of one run goes beside its results, that of
/// several into the current folder.
///
/// # Errors
///
/// One line: a path that cannot be read or holds no results, or a page that
/// cannot be written.
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
    fn the_page_of_one_run_goes_beside_its_results() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(RESULTS), r#"{"schema":1}"#).unwrap();
        assert_eq!(asked(folder.path()).unwrap(), folder.path().join(PAGE));
        assert!(folder.path().join(PAGE).is_file());
    }
}
