//! Process that owns the file.
//!
//! It may block its thread and serves nothing else. It drains its mailbox up to [`TOGETHER`] bytes,
//! writes the blocks with one write, and then replies to all senders. If a write fails, the file is
//! truncated to its previous length and the senders are notified. If the truncation fails too, the
//! end of the file cannot be trusted, and the process ends.

use std::fs::File;
use std::io::{self, Write as _};

use purlin::{Exit, ExitReason, Process, Reply};

use super::contents::Contents;
use crate::handler::{Block, Stored};
use crate::wire::session::Level;

/// Target size of a write in bytes; the last block may exceed it.
const TOGETHER: usize = 4 << 20;

/// Requests to the writer.
#[derive(Debug)]
pub(super) enum Mail {
    /// Stores a block. The reply is whether it was stored.
    Store(Block, Reply<bool>),
    /// Asks for the stored position of a client.
    Stored([u8; 16], Reply<Option<Stored>>),
    /// An exit signal.
    Exit(Exit),
}

impl From<Exit> for Mail {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// State of the writer.
pub(super) struct Writer {
    file: File,
    contents: Contents,
    /// Bytes to be written, and the replies that wait for the write.
    bytes: Vec<u8>,
    wait: Vec<Reply<bool>>,
    /// Queries for stored positions, answered after the next write.
    ///
    /// WHY after: the old connection of the client may have been killed while its messages were in
    /// this mailbox. Answered earlier, the client would send them again.
    asked: Vec<([u8; 16], Reply<Option<Stored>>)>,
}

impl Writer {
    pub(super) fn new(file: File, contents: Contents) -> Self {
        Self { file, contents, bytes: Vec::new(), wait: Vec::new(), asked: Vec::new() }
    }

    /// Runs the writer process.
    pub(super) async fn run(mut self, mut me: Process<Mail>) -> Result<ExitReason, io::Error> {
        me.trap_exit(true);
        loop {
            let mut mail = Some(me.receive().await);
            let (mut last, mut durable, mut told) = (None, false, None);
            while let Some(now) = mail {
                match now {
                    Mail::Store(block, reply) => {
                        last = Some(self.contents.append(&block.batch(), last, &mut self.bytes));
                        durable |= block.level() == Level::Durable;
                        self.wait.push(reply);
                    }
                    Mail::Stored(client, reply) => self.asked.push((client, reply)),
                    Mail::Exit(exit) => told = Some(exit.reason),
                }
                mail = if self.bytes.len() < TOGETHER { me.try_receive() } else { None };
            }
            self.write(durable)?;
            for (client, reply) in self.asked.drain(..) {
                reply.send(self.contents.stored(client));
            }
            if let Some(reason) = told {
                self.file.sync_all()?;
                return Ok(reason);
            }
        }
    }

    /// Writes the collected bytes and replies to the senders.
    fn write(&mut self, durable: bool) -> io::Result<()> {
        if self.wait.is_empty() {
            return Ok(());
        }
        let sync = |file: &File| if durable { file.sync_data() } else { Ok(()) };
        let written = self.file.write_all(&self.bytes).and_then(|()| sync(&self.file));
        match &written {
            Ok(()) => {
                self.contents.see(&self.bytes);
            }
            Err(error) => {
                tracing::error!(%error, "messages could not be stored");
                self.file.set_len(self.contents.length())?;
            }
        }
        for wait in self.wait.drain(..) {
            wait.send(written.is_ok());
        }
        self.bytes.clear();
        self.bytes.shrink_to(TOGETHER);
        Ok(())
    }
}
