//! The folder of a run: every sample as it arrives, the results and the page at the end.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Problem;

/// The name of the file that grows while a run goes on.
pub const SAMPLES: &str = "samples.jsonl";
/// The name of the results.
pub const RESULTS: &str = "results.json";
/// The name of the page.
pub const PAGE: &str = "report.html";
/// Where the folders of runs go that nobody named.
pub const PARENT: &str = "lab-results";

/// The folder of a run that is under way.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    samples: File,
}

impl Store {
    /// Makes the folder where it is not there, and an empty file for the samples.
    ///
    /// Without a folder it is named after `moment`, such as
    /// `lab-results/20261121T090000Z`, with a number behind if that is taken.
    ///
    /// # Errors
    ///
    /// One line, if it cannot be written.
    pub fn create(folder: Option<&Path>, moment: &str) -> Result<Self, Problem> {
        let folder = match folder {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
                folder.to_path_buf()
            }
            None => fresh(moment)?,
        };
        let path = folder.join(SAMPLES);
        let samples = File::create(&path).map_err(|error| unwritable(&path, &error))?;
        Ok(Self { folder, samples })
    }

    /// Adds one sample, as a line of its own, with one write.
    ///
    /// # Errors
    ///
    /// One line, if it cannot be written.
    pub fn keep(&mut self, record: &impl Serialize) -> Result<(), Problem> {
        let path = self.folder.join(SAMPLES);
        let mut line =
            serde_json::to_vec(record).map_err(|error| unwritable(&path, &error.into()))?;
        line.push(b'\n');
        let written = self.samples.write_all(&line).and_then(|()| self.samples.flush());
        written.map_err(|error| unwritable(&path, &error))
    }

    /// Where a file of this run lies.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// A folder that nobody has.
fn fresh(moment: &str) -> Result<PathBuf, Problem> {
    let parent = Path::new(PARENT);
    fs::create_dir_all(parent).map_err(|error| unwritable(parent, &error))?;
    let mut folder = parent.join(moment);
    for number in 2.. {
        match fs::create_dir(&folder) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                folder = parent.join(format!("{moment}-{number}"));
            }
            Err(error) => return Err(unwritable(&folder, &error)),
        }
    }
    Ok(folder)
}

/// Writes a file whole.
///
/// # Errors
///
/// One line, if it cannot be written.
pub fn write(path: &Path, content: &str) -> Result<(), Problem> {
    fs::write(path, content).map_err(|error| unwritable(path, &error))
}

/// Makes sure early that a file can be written later; what it holds stays.
///
/// # Errors
///
/// One line, if it cannot.
pub fn probe(path: &Path) -> Result<(), Problem> {
    let opened = File::options().append(true).create(true).open(path);
    opened.map(drop).map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot write {}: {error}; choose another place", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_a_line_on_disk_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(Some(&folder.path().join("a/b")), "now").unwrap();
        store.keep(&"one").unwrap();
        store.keep(&"two").unwrap();
        let text = fs::read_to_string(store.path(SAMPLES)).unwrap();
        assert_eq!(text, "\"one\"\n\"two\"\n");
    }

    #[test]
    fn a_place_that_cannot_be_written_is_one_line_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "mine").unwrap();
        let refused = Store::create(Some(&file.join("run")), "now").unwrap_err();
        assert!(refused.to_string().contains("file/run"), "{refused}");
        assert!(probe(&file.join("out.json")).is_err());
        probe(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
}
