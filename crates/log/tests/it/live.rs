//! Reading a log that removes files meanwhile.

use std::any::Any;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use purlin_log::simulated::Disk;
use purlin_log::storage::{File, Storage};
use purlin_log::{Error, Log, Options, Reader, Summary};

use crate::common::{Part, commit, open};

/// Storage that removes these files when the first one of them is opened.
struct Removing {
    disk: Disk,
    files: Mutex<Vec<String>>,
}

impl Removing {
    fn storage(disk: &Disk, files: &[String]) -> Arc<dyn Storage> {
        Arc::new(Self { disk: disk.clone(), files: Mutex::new(files.to_vec()) })
    }
}

impl Storage for Removing {
    fn path(&self) -> PathBuf {
        self.disk.path()
    }

    fn lock(&self) -> io::Result<Box<dyn Any + Send>> {
        self.disk.lock()
    }

    fn wait_for_lock(&self, name: &str) -> io::Result<Box<dyn Any + Send>> {
        self.disk.wait_for_lock(name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.disk.names()
    }

    fn open(&self, name: &str, read_only: bool) -> io::Result<Box<dyn File>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.first().is_some_and(|first| first == name) {
            files.drain(..).try_for_each(|file| self.disk.remove(&file))?;
        }
        self.disk.open(name, read_only)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn File>> {
        self.disk.create(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_names()
    }

    fn now(&self) -> u64 {
        self.disk.now()
    }

    fn random(&self) -> io::Result<u64> {
        self.disk.random()
    }
}

fn send(log: &mut Log) {
    let part = Part { messages: vec![(0, b"hello".to_vec())], ..Part::default() };
    commit(log, &[part], true).expect("it works");
}

/// Returns a log of four segments with one record each.
fn four() -> Disk {
    let disk = Disk::new(1);
    let options = Options { segment_bytes: 1, ..Options::default() };
    let mut log = open(&disk, &options).expect("it is new");
    (0..4).for_each(|_| send(&mut log));
    disk
}

fn segment(base: u64) -> String {
    format!("{base:020}.log")
}

#[test]
fn summary_leaves_out_a_checkpoint_that_is_removed_meanwhile() {
    let disk = four();
    let names = disk.names().expect("it works").into_iter();
    let oldest = names.filter(|name| name.ends_with(".clients")).min().expect("there are two");
    let summary = Summary::of_storage(&Removing::storage(&disk, &[oldest])).expect("it is whole");
    assert!(summary.is_whole() && summary.damaged_checkpoints.is_empty(), "{summary:?}");
    assert_eq!(summary.records(), 4);
}

#[test]
fn summary_leaves_out_a_segment_that_is_removed_meanwhile() {
    let removing = Removing::storage(&four(), &[segment(0)]);
    let summary = Summary::of_storage(&removing).expect("it is whole");
    assert!(summary.is_whole(), "{summary:?}");
    assert_eq!((summary.records(), summary.next), (3, 4));
}

#[test]
fn reader_begins_at_the_oldest_segment_that_is_left() {
    let removing = Removing::storage(&four(), &[segment(0)]);
    let mut reader = Reader::open_on(removing, 0).expect("it is whole");
    let record = reader.next().expect("it is whole").expect("it is there");
    assert_eq!(record.sequence, 1);
}

#[test]
fn reader_reports_a_segment_that_is_removed_before_it_is_opened() {
    let removing = Removing::storage(&four(), &[segment(1), segment(0)]);
    let mut reader = Reader::open_on(removing, 0).expect("it is whole");
    reader.next().expect("it is whole").expect("it is there");
    let removed = reader.next();
    assert!(matches!(removed, Err(Error::Removed { first: 1, oldest: 2, .. })), "{removed:?}");
}

#[test]
fn file_that_is_listed_and_cannot_be_opened_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join(segment(0));
    std::os::unix::fs::symlink("nowhere", name).expect("there is room");
    assert!(matches!(Summary::of(folder.path()), Err(Error::Io { .. })));
    assert!(matches!(Reader::open(folder.path(), 0), Err(Error::Io { .. })));
}
