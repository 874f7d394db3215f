//! Journal: the process that writes the lines of all rooms.
//!
//! It takes all requests that wait, writes their lines, syncs the file once, and answers them
//! (*group commit*). Its turns block, so it runs on its own thread.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;

use purlin::supervisor::InitAck;
use purlin::{Overflow, Process, Reply, SpawnOptions};

use crate::storage::{Line, Storage};

/// Name of the journal's process.
pub(crate) const JOURNAL: &str = "journal";
/// Number of lines of each room that are kept in memory.
const HISTORY: usize = 200;
/// Largest number of lines that are synced together.
const BATCH: usize = 1000;
/// Bound of the mailbox. Each room has at most one request.
const BOUND: usize = 100_000;

/// Message of the journal.
pub(crate) enum Request {
    /// Writes a line; answers with the line after it has been synced.
    Append { room: String, who: String, text: String, reply: Reply<Line> },
    /// Answers with the last lines of a room, from those after a number.
    History { room: String, after: u64, reply: Reply<Vec<Line>> },
}

/// Spawn options of the journal.
pub(crate) fn options() -> SpawnOptions {
    SpawnOptions::new().name(JOURNAL).blocking().bound(BOUND, Overflow::Reject)
}

/// Process function. A write that fails ends the process; the supervisor restarts it from the file.
pub(crate) async fn run(mut me: Process<Request>, ack: InitAck, path: PathBuf) -> io::Result<()> {
    let mut recent = Recent::default();
    let mut storage = Storage::open(&path, |line| recent.add(line))?;
    ack.ok();
    loop {
        let mut next = Some(me.receive().await);
        let (mut lines, mut replies) = (Vec::new(), Vec::new());
        while let Some(request) = next {
            match request {
                Request::Append { room, who, text, reply } => {
                    let number = recent.last + 1 + lines.len() as u64;
                    lines.push(Line { number, room, who, text });
                    replies.push(reply);
                }
                Request::History { room, after, reply } => reply.send(recent.after(&room, after)),
            }
            next = if lines.len() < BATCH { me.try_receive() } else { None };
        }
        if lines.is_empty() {
            continue;
        }
        storage.append(&lines)?;
        for (line, reply) in lines.into_iter().zip(replies) {
            recent.add(line.clone());
            reply.send(line);
        }
    }
}

/// The last lines of each room.
#[derive(Default)]
struct Recent {
    rooms: HashMap<String, VecDeque<Line>>,
    /// Number of the last line.
    last: u64,
}

impl Recent {
    fn add(&mut self, line: Line) {
        self.last = line.number;
        let lines = self.rooms.entry(line.room.clone()).or_default();
        if lines.len() == HISTORY {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn after(&self, room: &str, after: u64) -> Vec<Line> {
        let lines = self.rooms.get(room).into_iter().flatten();
        lines.filter(|line| line.number > after).cloned().collect()
    }
}
