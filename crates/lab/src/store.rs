//! The folder of a run: the plan, every sample as it arrives, and finally results and page.
//!
//! A sample is written to the operating system before the next request, so that it survives if the
//! process is killed; it is synced to disk at the end of its experiment. The results are written
//! last and atomically: if they exist, the run has ended. The file of samples is locked during the
//! run, so that no second program writes to the folder.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Problem;
use crate::plan::Plan;
use crate::sampling::Past;

/// The file to which samples are appended during the run.
pub const SAMPLES: &str = "samples.jsonl";
/// The plan of the run.
pub const PLAN: &str = "run.json";
/// The results.
pub const RESULTS: &str = "results.json";
/// The report page.
pub const PAGE: &str = "report.html";
/// Parent of folders without a name given by the user.
pub const PARENT: &str = "lab-results";

/// The folder of a run in progress.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    samples: File,
}

impl Store {
    /// Creates the folder if needed, and an empty file for the samples. Files of an earlier run in
    /// it are removed.
    ///
    /// Without a folder, it is named after `moment`, such as `lab-results/20261121T090000Z`, with a
    /// number appended if that exists.
    ///
    /// # Errors
    ///
    /// Returns one line if the folder cannot be written, or if a run in it is in progress.
    pub fn create(folder: Option<&Path>, moment: &str) -> Result<Self, Problem> {
        let folder = match folder {
            Some(folder) => {
                fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
                folder.to_path_buf()
            }
            None => fresh(moment)?,
        };
        let path = folder.join(SAMPLES);
        // WHY not truncated here: it may belong to a run in progress.
        let opened = File::options().write(true).create(true).truncate(false).open(&path);
        let samples = lock(opened.map_err(|error| unwritable(&path, &error))?, &folder)?;
        for old in [PLAN, RESULTS, PAGE].map(|name| folder.join(name)) {
            match fs::remove_file(&old) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unwritable(&old, &error));
                }
                _ => {}
            }
        }
        samples.set_len(0).map_err(|error| unwritable(&path, &error))?;
        Ok(Self { folder, samples })
    }

    /// Opens the folder of an interrupted run.
    ///
    /// # Errors
    ///
    /// Returns one line if there are no samples, they cannot be written, or the run is in progress.
    pub fn open(folder: &Path) -> Result<Self, Problem> {
        let path = folder.join(SAMPLES);
        let opened = File::options().read(true).append(true).open(&path);
        let samples = lock(opened.map_err(|error| no_run(&path, &error))?, folder)?;
        Ok(Self { folder: folder.to_path_buf(), samples })
    }

    /// Reads the samples of the run. An incomplete last line is removed.
    ///
    /// # Errors
    ///
    /// Returns one line if they cannot be read or written, or a line is not a sample.
    pub fn past(&mut self) -> Result<Past, Problem> {
        let path = self.path(SAMPLES);
        let mut text = Vec::new();
        let read = self.samples.read_to_end(&mut text);
        read.map_err(|error| unreadable(&path, &error.to_string()))?;
        let (past, whole) = Past::read(&text).map_err(|what| unreadable(&path, &what))?;
        self.samples.set_len(whole as u64).map_err(|error| unwritable(&path, &error))?;
        Ok(past)
    }

    /// Appends one sample as a line, in a single write.
    ///
    /// # Errors
    ///
    /// Returns one line if it cannot be written.
    pub fn append(&mut self, record: &impl Serialize) -> Result<(), Problem> {
        let path = self.folder.join(SAMPLES);
        let mut line =
            serde_json::to_vec(record).map_err(|error| unwritable(&path, &error.into()))?;
        line.push(b'\n');
        let written = self.samples.write_all(&line).and_then(|()| self.samples.flush());
        written.map_err(|error| unwritable(&path, &error))
    }

    /// Syncs the samples to disk.
    ///
    /// # Errors
    ///
    /// Returns one line if that fails.
    pub fn sync(&self) -> Result<(), Problem> {
        self.samples.sync_data().map_err(|error| unwritable(&self.path(SAMPLES), &error))
    }

    /// Replaces a file of this run atomically: a reader sees either the old or the new content.
    ///
    /// # Errors
    ///
    /// Returns one line if it cannot be written.
    pub fn replace(&self, name: &str, content: &str) -> Result<(), Problem> {
        let (path, draft) = (self.path(name), self.path(&format!("{name}.new")));
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(content.as_bytes())?;
            file.sync_data()?;
            fs::rename(&draft, &path)
        });
        written.map_err(|error| unwritable(&path, &error))
    }

    /// Returns the path of a file of this run.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// Creates a folder that does not exist yet.
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

/// Writes a whole file. A regular file, new or not, is written under another name and then renamed,
/// so that no program reads a part of it, and the old content stays if the new one cannot be written.
///
/// # Errors
///
/// Returns one line if it cannot be written.
pub fn write(path: &Path, content: &str) -> Result<(), Problem> {
    let written = match fs::symlink_metadata(path) {
        Ok(old) if old.is_file() => overwrite(path, content, &old),
        // WHY no draft: a rename would replace the device, the pipe or the link.
        Ok(_) => fs::write(path, content),
        Err(_) => write_draft(path, content, None),
    };
    written.map_err(|error| unwritable(path, &error))
}

/// Replaces a regular file by one with the same permissions.
fn overwrite(path: &Path, content: &str, old: &Metadata) -> io::Result<()> {
    // WHY: a rename would replace a write-protected file.
    File::options().append(true).open(path)?;
    match write_draft(path, content, Some(old)) {
        // WHY in place: the folder takes no new file, or the file is a mount point.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::PermissionDenied
                    | ErrorKind::ReadOnlyFilesystem
                    | ErrorKind::ResourceBusy
            ) =>
        {
            fs::write(path, content)
        }
        written => written,
    }
}

/// Writes a draft, with the permissions of an `old` file, and renames it. After an error there is no
/// draft.
fn write_draft(path: &Path, content: &str, old: Option<&Metadata>) -> io::Result<()> {
    let (draft, mut file) = create_draft(path)?;
    let renamed = file.write_all(content.as_bytes()).and_then(|()| {
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_data()?;
        fs::rename(&draft, path)
    });
    if renamed.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    renamed
}

/// Checks that a file can be written later. An existing file is unchanged, and none is created.
///
/// # Errors
///
/// Returns one line if it cannot be written.
pub fn probe(path: &Path) -> Result<(), Problem> {
    let opened = if path.exists() {
        File::options().append(true).open(path).map(drop)
    } else {
        create_draft(path).and_then(|(draft, _)| fs::remove_file(draft))
    };
    opened.map_err(|error| unwritable(path, &error))
}

/// Creates an empty file with a name of this process, in the folder of the file that it will replace.
fn create_draft(path: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut number = 1;
    loop {
        let mut draft = path.as_os_str().to_owned();
        draft.push(match number {
            1 => format!(".{process}.new"),
            _ => format!(".{process}-{number}.new"),
        });
        match File::options().write(true).create_new(true).open(&draft) {
            // WHY another one: a killed process leaves its draft, and process ids repeat.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            opened => return Ok((draft.into(), opened?)),
        }
    }
}

/// Locks the file of a run's samples until it is closed. On a file system without locks it stays
/// unlocked.
fn lock(samples: File, folder: &Path) -> Result<File, Problem> {
    #[cfg(unix)]
    if rustix::fs::flock(&samples, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK)
    {
        return Err(Problem::new(format!(
            "a run in {} is in progress; wait for its end, or interrupt it",
            folder.display()
        )));
    }
    #[cfg(not(unix))]
    let _ = folder;
    Ok(samples)
}

fn unwritable(path: &Path, error: &io::Error) -> Problem {
    Problem::new(format!("cannot write {}: {error}; choose another place", path.display()))
}

fn no_run(path: &Path, error: &io::Error) -> Problem {
    let hint = "give the folder of an interrupted run";
    Problem::new(format!("cannot read {}: {error}; {hint}", path.display()))
}

fn unreadable(path: &Path, what: &str) -> Problem {
    Problem::new(format!("cannot go on with {}: {what}; begin a new run", path.display()))
}

/// Reads the plan of an interrupted run.
///
/// # Errors
///
/// Returns one line if the folder holds no run that can be resumed.
pub fn plan(folder: &Path) -> Result<Plan, Problem> {
    let path = folder.join(PLAN);
    let text = fs::read_to_string(&path).map_err(|error| no_run(&path, &error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(&path, &error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_written_as_a_line_immediately() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(Some(&folder.path().join("a/b")), "now").unwrap();
        store.append(&"one").unwrap();
        store.append(&"two").unwrap();
        let text = fs::read_to_string(store.path(SAMPLES)).unwrap();
        assert_eq!(text, "\"one\"\n\"two\"\n");
    }

    #[test]
    fn reused_folder_keeps_no_files_of_the_earlier_run() {
        let folder = tempfile::tempdir().unwrap();
        for name in [PLAN, RESULTS, PAGE, SAMPLES] {
            fs::write(folder.path().join(name), "old").unwrap();
        }
        let store = Store::create(Some(folder.path()), "now").unwrap();
        for name in [PLAN, RESULTS, PAGE] {
            assert!(!store.path(name).exists(), "{name}");
        }
        store.replace(PLAN, "new").unwrap();
        assert_eq!(fs::read_to_string(store.path(PLAN)).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn run_resumes_after_its_last_complete_sample() {
        let folder = tempfile::tempdir().unwrap();
        let whole = "{\"problem\":\"gone\"}\n";
        fs::write(folder.path().join(SAMPLES), format!("{whole}{{\"pro")).unwrap();
        let mut store = Store::open(folder.path()).unwrap();
        assert_eq!(store.past().unwrap().len(), 1);
        store.append(&"next").unwrap();
        let text = fs::read_to_string(store.path(SAMPLES)).unwrap();
        assert_eq!(text, format!("{whole}\"next\"\n"));
        let refused = Store::open(&folder.path().join("none")).unwrap_err().to_string();
        assert!(refused.contains("give the folder of an interrupted run"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn folder_of_a_run_in_progress_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::create(Some(folder.path()), "now").unwrap();
        store.append(&"one").unwrap();
        store.replace(PLAN, "plan").unwrap();
        let again = [
            Store::create(Some(folder.path()), "now").map(drop),
            Store::open(folder.path()).map(drop),
        ];
        for refused in again {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("is in progress"), "{refused}");
        }
        assert_eq!(fs::read_to_string(store.path(SAMPLES)).unwrap(), "\"one\"\n");
        assert_eq!(fs::read_to_string(store.path(PLAN)).unwrap(), "plan");
        drop(store);
        Store::create(Some(folder.path()), "now").unwrap();
    }

    #[test]
    fn unwritable_path_is_reported_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "mine").unwrap();
        let refused = Store::create(Some(&file.join("run")), "now").unwrap_err();
        assert!(refused.to_string().contains("file/run"), "{refused}");
        assert!(probe(&file.join("out.json")).is_err());
        probe(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }

    #[test]
    fn probe_creates_no_file_and_write_leaves_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.json");
        probe(&file).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        for content in ["one", "two"] {
            write(&file, content).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_with_the_names_of_drafts_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.json");
        let process = std::process::id();
        let others = ["new".to_owned(), format!("{process}.new"), format!("{process}-2.new")];
        let others = others.map(|ending| folder.path().join(format!("out.json.{ending}")));
        for other in &others {
            fs::write(other, "mine").unwrap();
        }
        probe(&file).unwrap();
        write(&file, "one").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "one");
        for other in &others {
            assert_eq!(fs::read_to_string(other).unwrap(), "mine", "{}", other.display());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn an_existing_file_is_replaced_as_a_whole_and_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.json");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let mut begun = File::open(&file).unwrap();
        write(&file, "new").unwrap();
        // A program that reads the old file meanwhile reads no part of the new one.
        let mut text = String::new();
        begun.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&file).unwrap().as_str()), ("old", "new"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_are_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, dangling] =
            ["file", "link", "dangling"].map(|one| folder.path().join(one));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink("created", &dangling).unwrap();
        for path in [&link, &dangling] {
            probe(path).unwrap();
            write(path, "new").unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_symlink(), "{}", path.display());
            assert_eq!(fs::read_to_string(path).unwrap(), "new");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        write(Path::new("/dev/null"), "nothing").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn no_draft_is_left_after_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.json");
        fs::create_dir(&file).unwrap();
        assert!(write_draft(&file, "one", None).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
