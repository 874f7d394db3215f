//! The process that has the file.
//!
//! May block its thread, and does nothing else. What waits when it comes to its
//! mailbox is written together, [`TOGETHER`] bytes at most, and then all who gave it
//! are answered. If a write fails the file is cut back to what it was, and they are
//! told; if it cannot be cut back either, nothing that stands behind could be
//! trusted, and the process ends.

use std::fs::File;
use std::io::{self, Write as _};

use purlin::{Exit, ExitReason, Process, Reply};

use super::contents::Contents;
use crate::handler::{Block, Stored};
use crate::session::Level;

/// How many bytes are written together, a little more if a block is large.
const TOGETHER: usize = 4 << 20;

/// What the writer is told.
#[derive(Debug)]
pub(super) enum Mail {
    /// To store these messages; says whether it has.
    Store(Block, Reply<bool>),
    /// To say what is stored of a client.
    Stored([u8; 16], Reply<Option<Stored>>),
    /// An exit signal.
    Exit(Exit),
}

impl From<Exit> for Mail {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
}

/// What the writer keeps.
pub(super) struct Writer {
    file: File,
    contents: Contents,
    /// What is about to be written, and who waits for it.
    bytes: Vec<u8>,
    wait: Vec<Reply<bool>>,
    /// Who is to be told what is stored of whom, when that has been written.
    ///
    /// WHY not before: a client may ask whose old connection was killed while its messages were on
    /// their way to here, and would send them again.
    asked: Vec<([u8; 16], Reply<Option<Stored>>)>,
}

impl Writer {
    pub(super) fn new(file: File, contents: Contents) -> Self {
        Self { file, contents, bytes: Vec::new(), wait: Vec::new(), asked: Vec::new() }
    }

    /// The process.
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

    /// Writes what is to be written, and answers.
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
