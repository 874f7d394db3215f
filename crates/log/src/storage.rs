//! Storage of a log: a flat folder of files, a clock and a source of random numbers.
//!
//! [`Folder`] is a folder of the file system. [`Disk`](crate::simulated::Disk) is a simulated one for
//! tests.

use std::any::Any;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, retry_on_intr};

/// Name of the file that is locked.
const LOCK: &str = "lock";

/// Folder that holds the files of one log.
///
/// As in POSIX, a file's contents are durable after [`File::sync`], and its name after
/// [`sync_names`](Self::sync_names).
pub trait Storage: Send + Sync {
    /// Returns the folder for error messages.
    fn path(&self) -> PathBuf;

    /// Locks the folder until the returned value is dropped.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::WouldBlock`] if the folder is locked.
    fn lock(&self) -> io::Result<Box<dyn Any + Send>>;

    /// Locks `name` until the returned value is dropped. Waits while it is locked.
    ///
    /// WHY not [`lock`](Self::lock): the writer of the log holds that one as long as it runs.
    ///
    /// # Errors
    /// Fails if `name` cannot be locked.
    fn wait_for_lock(&self, name: &str) -> io::Result<Box<dyn Any + Send>>;

    /// Returns the names of all files.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Opens a file for reading and writing, or for reading only if it is `read_only`.
    ///
    /// # Errors
    /// Fails if the file does not exist or cannot be opened.
    fn open(&self, name: &str, read_only: bool) -> io::Result<Box<dyn File>>;

    /// Creates an empty file, replacing one of that name.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    fn create(&self, name: &str) -> io::Result<Box<dyn File>>;

    /// Renames a file, replacing one of the new name.
    ///
    /// # Errors
    /// Fails if the file cannot be renamed.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// Fails if the file cannot be removed.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes created, renamed and removed names durable.
    ///
    /// # Errors
    /// Fails if the names may not be durable.
    fn sync_names(&self) -> io::Result<()>;

    /// Returns the time in milliseconds since 1970.
    fn now(&self) -> u64;

    /// Returns a number that clients cannot predict.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    fn random(&self) -> io::Result<u64>;
}

/// File of a log.
pub trait File: Send {
    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Fails if the length cannot be read.
    fn length(&self) -> io::Result<u64>;

    /// Fills `bytes` from an offset.
    ///
    /// # Errors
    /// Fails if the file ends before, or cannot be read.
    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all `bytes` at an offset.
    ///
    /// # Errors
    /// Fails if some bytes may not have been written.
    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Shortens the file.
    ///
    /// # Errors
    /// Fails if the file cannot be shortened.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Makes the contents and the length durable.
    ///
    /// # Errors
    /// Fails if they may not be durable, now or after any later sync.
    fn sync(&self) -> io::Result<()>;
}

/// Folder of the file system.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// Fails if `path` is not a folder and cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        if !path.is_dir() {
            fs::create_dir(path)?;
        }
        if fs::read_dir(path)?.next().is_none() {
            // WHY: the folder's own name must be durable before anything in it is acknowledged.
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            fs::File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(Self(path.to_owned()))
    }

    /// Opens an existing folder.
    ///
    /// # Errors
    /// Fails if `path` is not a folder.
    pub fn existing(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::read_dir(path.as_ref())?;
        Ok(Self(path.as_ref().to_owned()))
    }

    /// Opens the file of this name to lock it. It is created if it does not exist.
    fn lock_file(&self, name: &str) -> io::Result<fs::File> {
        OpenOptions::new().write(true).create(true).truncate(false).open(self.0.join(name))
    }
}

impl Storage for Folder {
    fn path(&self) -> PathBuf {
        self.0.clone()
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send>> {
        let file = self.lock_file(LOCK)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Box::new(file)),
            Err(Errno::WOULDBLOCK) => Err(io::ErrorKind::WouldBlock.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn wait_for_lock(&self, name: &str) -> io::Result<Box<dyn Any + Send>> {
        let file = self.lock_file(name)?;
        retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
        Ok(Box::new(file))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.0)?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn open(&self, name: &str, read_only: bool) -> io::Result<Box<dyn File>> {
        let file = OpenOptions::new().read(true).write(!read_only).open(self.0.join(name))?;
        Ok(Box::new(file))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Ok(Box::new(options.open(self.0.join(name))?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        fs::File::open(&self.0)?.sync_all()
    }

    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn random(&self) -> io::Result<u64> {
        getrandom::u64().map_err(io::Error::other)
    }
}

impl File for fs::File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(bytes, offset)
    }

    fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
