//! Handler that appends messages to a log on disk.
//!
//! One process of the node owns the log, for all connections. A handler sends it blocks and waits for
//! the reply. The process writes all blocks in its mailbox as one batch, and syncs it if one of them is
//! [durable](crate::wire::session::Level::Durable): group commit. The cost of a sync per client falls
//! with the number of clients.
//!
//! | module | role |
//! |---|---|
//! | `writer` | process that owns the log |
//! | `convert` | conversion of the single file that earlier versions wrote |
//!
//! COST: an allocation, a copy, a checksum and a call per batch.

mod convert;
mod writer;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use purlin::{ExitReason, Node, Pid, ProcessId, SpawnOptions};
use purlin_log::{Client, LARGEST_BATCH, Log, Options, Recovery};

pub use self::convert::{Converted, convert};
use self::writer::{Block, Mail, Writer};
use super::{Batch, Handler, Session, Stored, Unhandled};
use crate::wire::session::Level;
use crate::wire::{Head, Reason, Refusal, SizeOrder};

/// Largest payload that is stored; a larger one is refused.
///
/// WHY half: further blocks are written in the same batch.
const LARGEST_PAYLOAD: usize = LARGEST_BATCH as usize / 2;

/// Appends messages to a log: a folder of segments with checksums.
///
/// The position of each client is stored with its messages, so that a session continues after a
/// restart. Messages that were acknowledged as durable are there after a power loss; a torn end, left
/// by a crash, is cut off when the log is opened. A log whose synced bytes are damaged is not opened,
/// and nothing in it is changed. After a failed write or sync the writer process ends, and all further
/// messages fail until the log is opened again. [`Reader`](purlin_log::Reader) reads the messages.
///
/// Clones write to the same log. It is locked exclusively: a program that takes over from another can
/// open it once that program has ended.
///
/// ```
/// use purlin_ack::handler::File;
/// use purlin_ack::server::Server;
///
/// # #[purlin::main] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// # let path = std::env::temp_dir().join(format!("purlin-ack-example-{}", std::process::id()));
/// let node = purlin::Node::current().expect("this is a process");
/// let file = File::open(&node, &path)?;
/// let server = Server::builder(([127, 0, 0, 1], 0).into())
///     .handler(move |_peer| file.clone())
///     .start(&node)
///     .await?;
/// # server.drain().await;
/// # std::fs::remove_dir_all(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct File {
    writer: Pid<Mail>,
    recovery: Arc<Recovery>,
}

/// Why a log cannot be opened for appending.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    error: purlin_log::Error,
}

impl OpenError {
    /// Returns whether the log is damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self.error, purlin_log::Error::Damaged(_))
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot append messages to {}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl File {
    /// Opens a log with the default options, creating it if necessary. The writer process lives as
    /// long as the node, unless a write or sync fails: drain the server before stopping the node.
    ///
    /// Blocks the thread while it reads.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the log is damaged, cannot be read or written, or is locked by another
    /// opener, if `path` is a file, or if the node has no capacity for the process.
    pub fn open(node: &Node, path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(node, path, Options::default())
    }

    /// Opens a log with these options.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        node: &Node,
        path: impl AsRef<Path>,
        options: Options,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let failed = |error| OpenError { path: path.to_owned(), error };
        let other = |error| {
            let (action, path) = ("open", path.to_owned());
            failed(purlin_log::Error::Io { action, path, error })
        };
        if path.is_file() {
            let hint = "it is a file, and not the folder of a log; \
                `purlin ack log convert` converts a file of an earlier version";
            return Err(other(io::Error::other(hint)));
        }
        let log = Log::open(path, options).map_err(failed)?;
        Self::start(node, log).map_err(other)
    }

    /// Starts the writer process of a log.
    fn start(node: &Node, log: Log) -> io::Result<Self> {
        let recovery = Arc::new(log.recovery().clone());
        if let Some(cut) = &recovery.cut {
            let (bytes, offset, file) = (cut.bytes, cut.offset, cut.path.display());
            let zeros = if cut.zeros { ", all of them zeros," } else { "" };
            tracing::warn!(
                "cut {bytes} bytes{zeros} off the end of {file} at byte {offset}: they were never synced"
            );
        }
        for name in &recovery.damaged_checkpoints {
            tracing::warn!(
                "the checkpoint {name} was damaged and is removed; its contents come from an earlier one or the log"
            );
        }
        let writer = Writer::new(log);
        let spawned = SpawnOptions::new().blocking().spawn_on(node, move |me| writer.run(me));
        let writer = spawned.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self { writer, recovery })
    }

    /// Returns the writer process. It ends when a write or sync has failed, with the error as its exit
    /// reason. An exit signal syncs and closes the log: the process then ends with the reason of the
    /// signal, or with the error if that fails.
    pub fn process(&self) -> ProcessId {
        self.writer.id()
    }

    /// Returns what opening the log has found and done.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }
}

impl Handler for File {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let (block, refused) = block(&batch, LARGEST_PAYLOAD);
        // WHY no timeout: a slow disk slows the clients down, and a failing disk reports an error.
        let stored = self.writer.call_timeout(|reply| Mail::Store(block, reply), Duration::MAX);
        match stored.await {
            Ok(Ok(())) if refused.is_empty() => Ok(()),
            Ok(Ok(())) => Err(Unhandled::Refused(refused)),
            Ok(Err(failed)) => Err(Unhandled::Failed(ExitReason::error(failed))),
            Err(error) => Err(Unhandled::Failed(ExitReason::error(error))),
        }
    }

    fn offers(&self) -> Level {
        Level::Durable
    }

    async fn stored(&mut self, client: [u8; 16]) -> Result<Option<Stored>, ExitReason> {
        let asked = self.writer.call_timeout(|reply| Mail::Stored(client, reply), Duration::MAX);
        asked.await.map_err(ExitReason::error)?.map_err(ExitReason::error)
    }
}

/// Returns the block to store for a batch, and the refusals of messages with a payload over the limit.
fn block(batch: &Batch<'_>, largest: usize) -> (Block, Vec<Refusal>) {
    let (mut messages, mut refused) = (Vec::new(), Vec::new());
    if batch.order() == SizeOrder::Little && batch.bytes().len() <= largest {
        messages.extend_from_slice(batch.bytes());
    } else {
        for frame in batch.frames() {
            if frame.payload.len() > largest {
                refused.push(Refusal { id: frame.id.number(), reason: Reason::TOO_LARGE });
                continue;
            }
            // The payload was received with a 32-bit size.
            let size = frame.payload.len() as u32;
            messages.extend(Head { id: frame.id, size }.to_bytes(SizeOrder::Little));
            messages.extend_from_slice(frame.payload);
        }
    }
    let client = batch.session().map(|Session { client: id, epoch }| Client { id, epoch });
    let durable = batch.level() == Level::Durable;
    let stored = refused
        .iter()
        .map(|refusal| purlin_log::Refusal { id: refusal.id, reason: refusal.reason.0 });
    let block = Block { client, messages, refused: stored.collect(), durable };
    (block, refused)
}

#[cfg(test)]
mod tests;
