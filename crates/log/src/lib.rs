//! Append-only log of acknowledged messages.
//!
//! A log is a folder of segments. [`Log::commit`] writes the messages of any number of clients, and
//! the state of these clients, as one batch with checksums, and syncs it. What a commit has returned as
//! durable is there after a crash or a power loss, once and in order. Opening a log whose synced
//! bytes are damaged fails with the file and the offset, and changes nothing.
//!
//! ```
//! use purlin_log::{Block, Client, Log, Options, Reader};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("messages");
//! let mut log = Log::open(&path, Options::default())?;
//! // A message: its id, its size, its payload.
//! let mut message = 7_u64.to_le_bytes().to_vec();
//! message.extend(5_u32.to_le_bytes());
//! message.extend(b"hello");
//! let client = Some(Client { id: *b"abcdefghijklmnop", epoch: 1 });
//! log.commit(&[Block { client, messages: &message, refused: &[] }], true)?;
//! assert_eq!(log.position(*b"abcdefghijklmnop")?.map(|position| position.newest), Some(7));
//! log.close()?;
//!
//! let mut reader = Reader::open(&path, 0)?;
//! let record = reader.next()?.expect("one is stored");
//! assert_eq!((record.sequence, record.id, &record.payload[..]), (0, 7, &b"hello"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! | module | role |
//! |---|---|
//! | `log` | log that is open for appending: commit, rotation, checkpoints, retention |
//! | `recovery` | opening after a crash |
//! | `analysis` | which end is torn, and which bytes are damaged |
//! | `scan` | scanner of a segment |
//! | `reader`, `confirmed` | reader of records, and the position it has confirmed |
//! | `inspect`, `repair` | verification, and a copy of what is whole |
//! | `clients` | table of client states |
//! | `format` | on-disk format |
//! | `storage`, `simulated` | the file system, and a simulated one that fails |
//!
//! `docs/internals/ack-log.md` explains the format, and which guarantees of the file system it needs.

mod analysis;
mod clients;
mod confirmed;
mod error;
mod format;
mod inspect;
mod log;
mod options;
mod reader;
mod record;
mod recovery;
mod repair;
mod scan;
pub mod simulated;
pub mod storage;

pub use analysis::{Segment, Torn};
pub use error::{Damage, Error};
pub use format::batch::LARGEST_BATCH;
pub use inspect::Summary;
pub use log::Log;
pub use options::{Options, Retention};
pub use reader::Reader;
pub use record::{Block, Client, Position, Record, Refusal};
pub use recovery::Recovery;
pub use repair::{Omitted, Repaired, repair, repair_to};

/// Documents whose examples are compiled as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/ack/log.md")]
    struct Log;
}
