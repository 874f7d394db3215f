//! Outbox of a client: messages in a file, so that they survive a kill of the client.
//!
//! The first line of the file is the identity of the client and its epoch. Every further line is a
//! message, and its place is its number: the first one is message 0. A line without a line feed at
//! the end of the file was being written during a crash, and is cut off.
//!
//! INVARIANT: a message is in the file and synced before it is sent. So a client that is started
//! again has all messages that the server may know, with the same numbers.
//!
//! COST: a write and a sync for each [`append`](Outbox::append), whatever its number of messages.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::io::AsyncWriteExt as _;

/// The messages of one client.
#[derive(Debug)]
pub struct Outbox {
    path: PathBuf,
    /// Locked as long as it is open.
    lock: File,
    file: tokio::fs::File,
    client: [u8; 16],
    epoch: u64,
    count: u64,
}

impl Outbox {
    /// Opens an outbox, and creates it, for a new client, if the file does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, is not an outbox, or is used by
    /// another client.
    pub fn open(path: &Path) -> io::Result<Self> {
        let lock = lock(path)?;
        if !path.try_exists()? {
            let mut client = [0; 16];
            getrandom::fill(&mut client)?;
            return Self::create(path, lock, client, 1);
        }
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let mut lines = BufReader::new(&file);
        let mut line = Vec::new();
        let mut length = lines.read_until(b'\n', &mut line)? as u64;
        let header = std::str::from_utf8(&line).ok().and_then(parse);
        let (client, epoch) = header.ok_or_else(|| io::Error::other("not an outbox"))?;
        let mut count = 0;
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line)?;
            if !line.ends_with(b"\n") {
                break;
            }
            length += read as u64;
            count += 1;
        }
        file.set_len(length)?;
        // What an earlier client wrote without a sync is sent, too.
        file.sync_all()?;
        Ok(Self { path: path.to_owned(), lock, file: file.into(), client, epoch, count })
    }

    /// Replaces the file atomically by one without messages.
    fn create(path: &Path, lock: File, client: [u8; 16], epoch: u64) -> io::Result<Self> {
        let new = beside(path, ".new");
        let mut file = OpenOptions::new().create(true).append(true).open(&new)?;
        file.set_len(0)?;
        writeln!(file, "{:032x} {epoch}", u128::from_be_bytes(client))?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(Self { path: path.to_owned(), lock, file: file.into(), client, epoch, count: 0 })
    }

    /// Returns the identity of the client.
    #[must_use]
    pub fn client(&self) -> [u8; 16] {
        self.client
    }

    /// Returns the epoch of the numbers.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Reads the messages from this number on. Blocks the thread while it reads.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn messages_from(
        &self,
        number: u64,
    ) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>> + use<>> {
        let lines = BufReader::new(File::open(&self.path)?).split(b'\n');
        // The header, and the messages before.
        let before = usize::try_from(number).ok().and_then(|number| number.checked_add(1));
        Ok(lines.skip(before.ok_or(ErrorKind::InvalidInput)?))
    }

    /// Appends messages, each with a line feed at its end. They may be sent once this has returned.
    ///
    /// # Errors
    /// Returns an error if the messages may not be stored. The outbox must be opened again then.
    pub async fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines).await?;
        // WHY: tokio writes in the background, and a sync does not return the error of a write.
        self.file.flush().await?;
        self.file.sync_data().await?;
        self.count += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(())
    }

    /// Removes all messages, which must be answered, and begins the next epoch.
    ///
    /// # Errors
    /// Returns an error if the file cannot be replaced.
    pub fn clear(self) -> io::Result<Self> {
        Self::create(&self.path, self.lock, self.client, self.epoch + 1)
    }
}

/// Locks an outbox, with a lock file in the same folder.
///
/// WHY not the outbox itself: it is replaced.
fn lock(path: &Path) -> io::Result<File> {
    let lock = OpenOptions::new().create(true).append(true).open(beside(path, ".lock"))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(io::Error::other("another client uses it")),
        locked => Ok(locked.map(|()| lock)?),
    }
}

/// Returns the path with this ending after its name.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(ending);
    beside.into()
}

/// Parses the first line of an outbox.
fn parse(line: &str) -> Option<([u8; 16], u64)> {
    let (client, epoch) = line.strip_suffix('\n')?.split_once(' ')?;
    let client = u128::from_str_radix(client, 16).ok().filter(|_| client.len() == 32)?;
    Some((client.to_be_bytes(), epoch.parse().ok()?))
}
