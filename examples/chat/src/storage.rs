//! File of the journal: a line of JSON for each line of the chat.
//!
//! A crash while a record is being written leaves an incomplete last one, which was not
//! acknowledged; opening removes it. Any other invalid record is an error.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A line of the chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Position in the journal, from 1.
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
}

impl Storage {
    /// Opens or creates the file. Passes each line in it to `each`.
    pub(crate) fn open(path: &Path, each: impl FnMut(Line)) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut file = file.map_err(|error| told(path, &error))?;
        let whole = scan(path, &file, each)?;
        if whole < file.metadata()?.len() {
            file.set_len(whole)?;
        }
        file.seek(SeekFrom::End(0))?;
        file.sync_all()?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Appends lines and waits until they are on the disk.
    pub(crate) fn append(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut records = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut records, line)?;
            records.push(b'\n');
        }
        let written = self.file.write_all(&records).and_then(|()| self.file.sync_data());
        written.map_err(|error| told(&self.path, &error))
    }
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
    let (mut whole, mut number, mut record) = (0, 0, Vec::new());
    loop {
        record.clear();
        let length = reader.read_until(b'\n', &mut record)?;
        if record.last() != Some(&b'\n') {
            return Ok(whole);
        }
        number += 1;
        let line =
            serde_json::from_slice::<Line>(&record).ok().filter(|line| line.number == number);
        let Some(line) = line else {
            let why = format!("record {number} is invalid: restore the file or move it away");
            return Err(told(path, &io::Error::new(io::ErrorKind::InvalidData, why)));
        };
        each(line);
        whole += length as u64;
    }
}

fn told(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("journal {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Line, Storage, read};

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
    fn an_invalid_record_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal");
        for second in
            ["{\"number\":2}", "text", "{\"number\":3,\"room\":\"a\",\"who\":\"b\",\"text\":\"c\"}"]
        {
            let first = serde_json::to_string(&line(1, "hello")).expect("it is JSON");
            fs::write(&path, format!("{first}\n{second}\n{first}\n")).expect("there is room");
            let Err(error) = Storage::open(&path, drop) else { panic!("{second} is accepted") };
            let said = error.to_string();
            assert!(said.contains("record 2 is invalid") && said.contains("journal"), "{said}");
        }
    }
}
