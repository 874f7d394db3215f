//! Inspection of a log without opening it for appending.

use std::path::Path;
use std::sync::Arc;

use crate::analysis::{self, Analysis, Depth, Segment, Torn};
use crate::confirmed;
use crate::error::{Damage, Error};
use crate::storage::{Folder, Storage};

/// Contents of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The segments, the oldest first.
    pub segments: Vec<Segment>,
    /// Number of clients whose state is known.
    pub clients: usize,
    /// Sequence number of the next record.
    pub next: u64,
    /// Sequence number before which the reader has confirmed all records.
    pub confirmed: u64,
    /// Damaged or missing bytes that were synced. Opening the log fails if there are any.
    pub damage: Vec<Damage>,
    /// Torn end, which opening the log cuts off.
    pub torn: Option<Torn>,
    /// Checkpoints that are damaged. Opening the log does without them.
    pub damaged_checkpoints: Vec<String>,
}

impl Summary {
    /// Reads a log as a whole and checks everything in it. Changes nothing.
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or a newer release has written the log. Damage is no error.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let folder = Folder::existing(path);
        let folder =
            folder.map_err(|error| Error::Io { action: "open", path: path.to_owned(), error })?;
        Self::of_storage(&(Arc::new(folder) as Arc<dyn Storage>))
    }

    /// Reads the log in this storage.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn of_storage(storage: &Arc<dyn Storage>) -> Result<Self, Error> {
        let confirmed = confirmed::read(&**storage)?;
        let analysis = analysis::analyse(&**storage, Depth::Whole)?;
        let Analysis { segments, clients, next, damage, torn, damaged_checkpoints, .. } = analysis;
        let clients = clients.len();
        Ok(Self { segments, clients, next, confirmed, damage, torn, damaged_checkpoints })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.segments.iter().map(|segment| segment.records).sum()
    }

    /// Returns the number of bytes of all segments.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// Returns whether the log can be opened.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
    }
}
