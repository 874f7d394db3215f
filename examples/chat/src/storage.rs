//! File of the journal: a line of JSON for each line of the chat.
//!
//! A crash while a record is being written leaves an incomplete last one, which was not
//! acknowledged; opening removes it. Any other invalid record is an error. A file is open in one
//! program at a time: the program locks another file, `.lock`, which is never replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

/// A line of the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Position in the journal, from 1; that of a line that was removed is not used again.
    pub number: u64,
    /// Name of the room.
    pub room: String,
    /// Name of the author.
    pub who: String,
    /// The text.
    pub text: String,
}

/// A journal that is open for appending.
pub(crate) struct Storage {
    file: File,
    path: PathBuf,
    /// Length of the synced records.
    synced: u64,
    /// Number of the synced records.
    records: usize,
    /// Number of records up to which the file is not replaced, after a failed attempt.
    replace_at: usize,
    _lock: File,
}

impl Storage {
    /// Opens or creates the file. Passes each line in it to `each`.
    pub(crate) fn open(path: &Path, mut each: impl FnMut(Line)) -> io::Result<Self> {
        let create =
            |path: &Path| OpenOptions::new().create(true).read(true).append(true).open(path);
        // WHY: a symbolic link leads to the file also after it was replaced.
        let real = create(path).and_then(|_| fs::canonicalize(path));
        let path = &real.map_err(|error| told(path, &error))?;
        let lock = create(&with_ending(path, ".lock"));
        let lock = lock.map_err(|error| told(path, &error))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            told(path, &io::Error::new(io::ErrorKind::WouldBlock, "another program uses the file"))
        })?;
        // WHY again: the program that had the lock may have replaced the file meanwhile.
        let file = create(path).map_err(|error| told(path, &error))?;
        let mut records = 0;
        let synced = scan(path, &file, |line| {
            records += 1;
            each(line);
        })?;
        let prepare = || {
            file.set_len(synced)?;
            file.sync_all()?;
            sync_folder(path)
        };
        prepare().map_err(|error| told(path, &error))?;
        Ok(Self { file, path: path.to_owned(), synced, records, replace_at: 0, _lock: lock })
    }

    /// Returns whether the file has more records, and twice as many as when it could not be replaced.
    pub(crate) fn is_longer_than(&self, records: usize) -> bool {
        self.records > records.max(self.replace_at)
    }

    /// Appends lines and waits until they are on the disk.
    pub(crate) fn append(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut records = Vec::new();
        write(lines, &mut records)?;
        let written = self.file.write_all(&records).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // WHY: after a failed sync the page cache may have records that the disk never gets,
            // and later ones would follow them.
            let _ = self.file.set_len(self.synced);
            return Err(told(&self.path, &error));
        }
        self.synced += records.len() as u64;
        self.records += lines.len();
        Ok(())
    }

    /// Replaces the records by those of these lines. A crash leaves the old file or the new one, which is synced before it
    /// gets the name.
    ///
    /// If the new file cannot be written, for example because the disk is full, the old one stays in use. An error of this
    /// function means that it is unknown which one has the name after a crash.
    pub(crate) fn replace(&mut self, lines: &[&Line]) -> io::Result<()> {
        let new = with_ending(&self.path, ".new");
        let replaced = self.write_new(&new, lines).and_then(|written| {
            fs::rename(&new, &self.path)?;
            Ok(written)
        });
        match replaced {
            Ok((file, length)) => {
                // WHY before a line is appended: after a crash the old file could have the name again.
                sync_folder(&self.path).map_err(|error| told(&self.path, &error))?;
                (self.file, self.synced) = (file, length);
                (self.records, self.replace_at) = (lines.len(), 0);
            }
            Err(error) => {
                let _ = fs::remove_file(&new);
                self.replace_at = 2 * self.records;
                let path = self.path.display();
                eprintln!("chat: journal {path} cannot be compacted: {error}");
            }
        }
        Ok(())
    }

    /// Writes and syncs a new file of these lines. Returns it with its length.
    fn write_new(&self, path: &Path, lines: &[&Line]) -> io::Result<(File, u64)> {
        // WHY removed first: a crash may have left one.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = OpenOptions::new().create_new(true).append(true).open(path)?;
        file.set_permissions(self.file.metadata()?.permissions())?;
        let mut records = BufWriter::new(file);
        write(lines, &mut records)?;
        let file = records.into_inner()?;
        file.sync_all()?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }
}

/// Writes a record for each line.
fn write(lines: &[impl Serialize], to: &mut impl Write) -> io::Result<()> {
    for line in lines {
        serde_json::to_writer(&mut *to, line)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}

/// Returns the path with an ending appended to the name.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Waits until the names in the file's folder are on the disk.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Reads the lines of a journal.
///
/// # Errors
/// Returns an error if the file cannot be read, or a record before the last one is invalid.
pub fn read(path: &Path) -> io::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let file = File::open(path).map_err(|error| told(path, &error))?;
    scan(path, &file, |line| lines.push(line))?;
    Ok(lines)
}

/// Passes each record to `each`. Returns the length of the file without an incomplete last record.
fn scan(path: &Path, file: &File, mut each: impl FnMut(Line)) -> io::Result<u64> {
    let mut reader = BufReader::new(file);
    let (mut whole, mut count, mut last, mut record) = (0, 0, 0, Vec::new());
    loop {
        record.clear();
        let length = reader.read_until(b'\n', &mut record)?;
        if record.last() != Some(&b'\n') {
            return Ok(whole);
        }
        count += 1;
        let line = serde_json::from_slice::<Line>(&record).ok().filter(|line| line.number > last);
        let Some(line) = line else {
            let why = format!("record {count} is invalid: restore the file or move it away");
            return Err(told(path, &io::Error::new(io::ErrorKind::InvalidData, why)));
        };
        last = line.number;
        each(line);
        whole += length as u64;
    }
}

fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("journal {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::{Line, Storage, read, write};

    fn line(number: u64, text: &str) -> Line {
        Line { number, room: "lobby".into(), who: "ann".into(), text: text.into() }
    }

    #[test]
    fn lines_are_read_back_and_an_incomplete_record_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let lines = [line(1, "hello\nworld"), line(2, "\u{1f600} \"quoted\"")];
        let mut storage = Storage::open(&path, |_| panic!("it is new")).expect("it is created");
        storage.append(&lines).expect("there is room");
        drop(storage);
        let whole = fs::read(&path).expect("it exists");
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).expect("there is room");
            let mut found = Vec::new();
            drop(Storage::open(&path, |line| found.push(line)).expect("the end is removed"));
            let complete = whole[..length].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(found, lines[..complete], "{length}");
            assert_eq!(read(&path).expect("it is valid"), found);
        }
    }

    #[test]
    fn a_file_in_use_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let first = Storage::open(&path, drop).expect("it is created");
        let error = Storage::open(&path, drop).err().expect("it is in use").to_string();
        assert!(error.ends_with("journal: another program uses the file"), "{error}");
        drop(first);
        Storage::open(&path, drop).expect("it is free");
    }

    #[test]
    fn an_invalid_record_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        for second in
            ["{\"number\":2}", "text", "{\"number\":1,\"room\":\"a\",\"who\":\"b\",\"text\":\"c\"}"]
        {
            let first = serde_json::to_string(&line(1, "hello")).expect("it is JSON");
            fs::write(&path, format!("{first}\n{second}\n{first}\n")).expect("there is room");
            let Err(error) = Storage::open(&path, drop) else { panic!("{second} is accepted") };
            let said = error.to_string();
            assert!(said.contains("record 2 is invalid") && said.contains("journal"), "{said}");
        }
    }

    #[test]
    fn a_replaced_file_has_the_kept_lines_and_is_appended_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let lines: Vec<_> = (1..=4).map(|number| line(number, "hello")).collect();
        let mut storage = Storage::open(&path, drop).expect("it is created");
        storage.append(&lines[..3]).expect("there is room");
        // A crash during an earlier attempt has left a part of a new file.
        fs::write(folder.path().join("journal.new"), "{\"number\":1,").expect("there is room");
        storage.replace(&[&lines[1]]).expect("there is room");
        assert!(storage.is_longer_than(0) && !storage.is_longer_than(1));
        assert_eq!(read(&path).expect("it is valid"), [lines[1].clone()]);
        assert!(Storage::open(&path, drop).is_err(), "it is in use");
        storage.append(&lines[3..]).expect("there is room");
        drop(storage);
        let due = [lines[1].clone(), lines[3].clone()];
        let mut found = Vec::new();
        let storage = Storage::open(&path, |line| found.push(line)).expect("it is valid");
        assert_eq!(found, due);
        assert!(storage.is_longer_than(1) && !storage.is_longer_than(2));
        assert!(!folder.path().join("journal.new").exists());
    }

    #[test]
    fn a_replaced_file_keeps_its_permissions_and_a_link_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("journal"), folder.path().join("link"));
        fs::write(&path, "").expect("there is room");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("it is ours");
        symlink(&path, &link).expect("there is room");
        let mut storage = Storage::open(&link, drop).expect("it exists");
        assert!(Storage::open(&path, drop).is_err(), "it is in use");
        storage.append(&[line(1, "hello"), line(2, "world")]).expect("there is room");
        storage.replace(&[&line(2, "world")]).expect("there is room");
        assert!(link.is_symlink());
        assert_eq!(read(&path).expect("it is valid"), [line(2, "world")]);
        let mode = fs::metadata(&path).expect("it exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_crash_at_any_point_of_a_replacement_loses_no_kept_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, new) = (folder.path().join("journal"), folder.path().join("journal.new"));
        let lines: Vec<_> = (1..=3).map(|number| line(number, "hello")).collect();
        let [mut old, mut whole] = [Vec::new(), Vec::new()];
        write(&lines, &mut old).expect("they are JSON");
        write(&lines[1..], &mut whole).expect("they are JSON");
        for length in 0..=whole.len() {
            fs::write(&path, &old).expect("there is room");
            fs::write(&new, &whole[..length]).expect("there is room");
            let mut found = Vec::new();
            let mut storage = Storage::open(&path, |line| found.push(line)).expect("it is valid");
            assert_eq!(found, lines, "{length}");
            storage.replace(&[&lines[1], &lines[2]]).expect("there is room");
            assert_eq!(fs::read(&path).expect("it exists"), whole, "{length}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_in_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        let lines: Vec<_> = (1..=5).map(|number| line(number, "hello")).collect();
        let mut storage = Storage::open(&path, drop).expect("it is created");
        storage.append(&lines[..2]).expect("there is room");
        // A folder cannot be replaced by a file.
        let new = folder.path().join("journal.new");
        fs::create_dir(&new).expect("there is room");
        storage.replace(&[&lines[1]]).expect("the old file stays");
        storage.append(&lines[2..4]).expect("there is room");
        assert_eq!(read(&path).expect("it is valid"), lines[..4]);
        assert!(!storage.is_longer_than(1), "it has not doubled");
        fs::remove_dir(&new).expect("it is empty");
        storage.append(&lines[4..]).expect("there is room");
        assert!(storage.is_longer_than(1));
        storage.replace(&[&lines[4]]).expect("there is room");
        assert_eq!(read(&path).expect("it is valid"), lines[4..]);
    }
}
