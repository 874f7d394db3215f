//! `purlin lab report`: draws the page again from stored results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Problem;
use crate::page;
use crate::store::{self, PAGE, RESULTS};

/// What `purlin lab report` was asked.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// Files of results, or folders of runs.
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

fn results_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(RESULTS) } else { path.to_path_buf() }
}

fn read(file: &Path) -> Result<Value, Problem> {
    let text = fs::read_to_string(file).map_err(|error| {
        let hint = "give a results.json or the folder of a run that came to its end";
        Problem::new(format!("cannot read {}: {error}; {hint}", file.display()))
    })?;
    let value: Value = serde_json::from_str(&text).map_err(|error| {
        Problem::new(format!(
            "{} is no JSON: {error}; give a results.json of purlin lab run",
            file.display()
        ))
    })?;
    match value.get("schema") {
        Some(schema) if schema == 1 => Ok(value),
        Some(schema) => Err(Problem::new(format!(
            "{} has schema {schema}, and this purlin reads schema 1; use the purlin that wrote it",
            file.display()
        ))),
        None => Err(Problem::new(format!(
            "{} holds no results of purlin lab run (it has no \"schema\"); give a results.json",
            file.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn what_holds_no_results_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        for (text, reason) in [
            (&b"{"[..], "is no JSON"),
            (&b"{}"[..], "holds no results"),
            (&b"[1]"[..], "holds no results"),
            (&br#"{"schema":2}"#[..], "schema 2"),
            (&b"\xff"[..], "cannot read"),
        ] {
            fs::write(&file, text).unwrap();
            let refused = asked(&file).unwrap_err().to_string();
            assert!(refused.contains("x.json") && refused.contains(reason), "{refused}");
        }
        assert!(
            asked(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read")
        );
    }
}
