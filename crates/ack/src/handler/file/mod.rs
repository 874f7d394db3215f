//! Handler that appends messages to a file.
//!
//! One process of the node owns the file, for all connections. A handler sends it blocks and waits
//! for the reply. The process writes all blocks in its mailbox with one write, and with one sync if
//! one of them is [durable](crate::wire::session::Level::Durable), so the cost of a sync per client falls
//! with the number of clients.
//!
//! | module | role |
//! |---|---|
//! | `writer` | process that owns the file |
//! | `contents` | index of the file |
//!
//! COST: an allocation, a copy and a call per batch.

mod contents;
mod writer;

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use purlin::{ExitReason, Node, Pid, SpawnOptions};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use self::contents::Contents;
use self::writer::{Mail, Writer};
use super::{Batch, Handler, Stored, Unhandled};
use crate::wire::session::Level;

/// Appends messages to a file in the format id, little-endian size, payload.
///
/// Where the client changes, the opening of the new client's session is written before its messages
/// (see `docs/ack/protocol.md`), with zeros for a client without a session. After a restart this
/// tells what is stored of each client. The handler fails on a message that could be mistaken for
/// an opening, which closes its connection. An incomplete message at the end of the file, left by a
/// crash during a write, is truncated when the file is opened. Otherwise the file is truncated only
/// after a failed write, and it is not read again.
///
/// Clones write to the same file. The file is locked exclusively: a program that takes over from
/// another can open it once that program has ended.
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
/// # std::fs::remove_file(path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct File(Pid<Mail>);

/// Why a file cannot be opened for appending.
#[derive(Debug)]
pub struct OpenError {
    path: PathBuf,
    error: io::Error,
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
    /// Opens a file, creating it if necessary, and indexes its contents. The writer process lives
    /// as long as the node: drain the server before stopping the node.
    ///
    /// Blocks the thread while it reads.
    ///
    /// # Errors
    /// Returns [`OpenError`] if the file cannot be opened, read or truncated, if it is locked by
    /// another opener, or if the node has no capacity for the process.
    pub fn open(node: &Node, path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let failed = |error| OpenError { path: path.to_owned(), error };
        let options = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = options.map_err(failed)?;
        lock(&file).map_err(failed)?;
        let contents = Contents::of(&mut file).map_err(failed)?;
        file.set_len(contents.length()).map_err(failed)?;
        let writer = Writer::new(file, contents);
        let options = SpawnOptions::new().blocking();
        let spawned = node.spawn_opt(options, move |me| writer.run(me));
        let writer = spawned.map_err(|error| failed(io::Error::other(error.to_string())))?;
        Ok(Self(writer))
    }
}

/// WHY: opening truncates an incomplete message, which another process may be writing.
fn lock(file: &fs::File) -> io::Result<()> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        Errno::WOULDBLOCK => io::Error::other("it is open already, in this program or another"),
        error => error.into(),
    })
}

impl Handler for File {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        if contents::looks_like_opening(&batch) {
            return Err(Unhandled::Failed(ExitReason::shutdown_with(
                "a message whose id begins as an opening's cannot be stored",
            )));
        }
        let block = batch.take();
        // WHY no timeout: a slow disk slows the clients down, and a failing disk reports an error.
        let stored = self.0.call_timeout(|reply| Mail::Store(block, reply), Duration::MAX).await;
        match stored {
            Ok(true) => Ok(()),
            Ok(false) => Err(Unhandled::Failed(ExitReason::error("the file cannot be written"))),
            Err(error) => Err(Unhandled::Failed(ExitReason::error(error))),
        }
    }

    fn offers(&self) -> Level {
        Level::Durable
    }

    async fn stored(&mut self, client: [u8; 16]) -> Result<Option<Stored>, ExitReason> {
        let asked = self.0.call_timeout(|reply| Mail::Stored(client, reply), Duration::MAX).await;
        asked.map_err(ExitReason::error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Session;
    use crate::wire::frames::summarize;
    use crate::wire::{Head, Id, SizeOrder};

    #[test]
    fn stored_position_includes_queued_writes_and_file_is_locked() {
        let path = std::env::temp_dir().join(format!("purlin-ack-asked-{}", std::process::id()));
        let node = Node::builder().workers(1).build().expect("a node starts");
        let file = File::open(&node, &path).expect("it can be written");
        let session = Session { client: [7; 16], epoch: 1 };
        let (mut one, mut other) = (file.clone(), file);
        let stored = node.block_on(async move |_: purlin::Process<()>| {
            let mut stored = Vec::new();
            for id in 0..100_u64 {
                let bytes = Head { id: Id::from(id), size: 0 }.to_bytes(SizeOrder::Little);
                let found = summarize(&bytes, SizeOrder::Little, 0);
                let batch = Batch::new(&bytes, found, SizeOrder::Little, Level::Handled);
                let batch = batch.of(session, Level::Handled);
                // Both requests are in the mailbox before either is answered.
                let (handled, asked) =
                    tokio::join!(one.handle(batch), other.stored(session.client));
                handled.expect("it is written");
                stored.push(asked.expect("the writer lives").map(|stored| stored.newest));
            }
            stored
        });
        assert!(stored.into_iter().eq((0..100).map(Some)));

        let line = File::open(&node, &path).expect_err("it is locked").to_string();
        assert!(line.ends_with(": it is open already, in this program or another"), "{line}");
        node.stop_blocking();
        std::fs::remove_file(path).expect("it is there");
    }
}
