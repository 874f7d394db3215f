//! Journal: the process that writes the lines of all rooms.
//!
//! It takes all requests that wait, writes their lines, syncs the file once, and answers them
//! (*group commit*). Its turns block, so it runs on its own thread.
//!
//! When most of the file's lines are older than the histories, it replaces the file by one of the histories alone.

use std::io;
use std::path::PathBuf;

use purlin::supervisor::InitAck;
use purlin::{Overflow, Process, Reply, SpawnOptions};

use crate::history::History;
use crate::storage::{Line, Storage};

/// Name of the journal's process.
pub(crate) const JOURNAL: &str = "journal";
/// Largest number of lines that are synced together.
const BATCH: usize = 1000;
/// Number of records of the file beyond twice the lines of the histories at which it is replaced.
const SLACK: usize = 1000;
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
pub(crate) async fn run(
    mut me: Process<Request>,
    ack: InitAck,
    path: PathBuf,
    history: usize,
) -> io::Result<()> {
    let mut history = History::new(history);
    let mut storage = Storage::open(&path, |line| history.add(line))?;
    compact(&mut storage, &history)?;
    ack.ok();
    loop {
        let mut next = Some(me.receive().await);
        let (mut lines, mut answers) = (Vec::new(), Vec::new());
        while let Some(request) = next {
            match request {
                Request::Append { room, who, text, reply } => {
                    let number = history.last() + 1 + lines.len() as u64;
                    lines.push(Line { number, room, who, text });
                    answers.push(Answer::Append(reply));
                }
                Request::History { room, after, reply } => {
                    answers.push(Answer::History { room, after, reply });
                }
            }
            next = if lines.len() < BATCH { me.try_receive() } else { None };
        }
        if !lines.is_empty() {
            storage.append(&lines)?;
        }
        let mut lines = lines.into_iter();
        for answer in answers {
            match answer {
                Answer::Append(reply) => {
                    let line = lines.next().expect("each request has its line");
                    history.add(line.clone());
                    reply.send(line);
                }
                Answer::History { room, after, reply } => reply.send(history.after(&room, after)),
            }
        }
        compact(&mut storage, &history)?;
    }
}

/// Replaces the file if it has become too long.
///
/// COST: as each replacement follows at least as many lines as it writes, one more write per line on average.
fn compact(storage: &mut Storage, history: &History) -> io::Result<()> {
    if storage.is_longer_than(2 * history.len() + SLACK) {
        storage.replace(&history.all())?;
    }
    Ok(())
}

/// Answer to a request, sent after the sync.
///
/// WHY also a history: a line before it may be that of a room that has been killed since, which sends it to no session.
enum Answer {
    Append(Reply<Line>),
    History { room: String, after: u64, reply: Reply<Vec<Line>> },
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use purlin::supervisor::{ChildSpec, SupervisorSpec};
    use purlin::{Process, whereis, yield_now};
    use tokio::sync::Semaphore;

    use super::{JOURNAL, Request, options, run};

    #[purlin::test]
    async fn a_history_has_the_line_of_an_earlier_request_of_its_batch(me: Process<()>) {
        let folder = tempfile::tempdir().expect("a folder");
        let (gate, path) = (Arc::new(Semaphore::new(0)), folder.path().join("journal"));
        let opened = Arc::clone(&gate);
        let journal = ChildSpec::worker_with_ack("journal", move |me, ack| {
            let (gate, path) = (Arc::clone(&opened), path.clone());
            async move {
                gate.acquire().await.expect("it is never closed").forget();
                run(me, ack, path, 10).await
            }
        });
        let tree = SupervisorSpec::one_for_one().child(journal.options(options()));
        let requests = async {
            let journal = loop {
                match whereis::<Request>(JOURNAL) {
                    Ok(journal) => break journal,
                    Err(_) => yield_now().await,
                }
            };
            let [room, who, text] = ["lobby", "ann", "hello"].map(str::to_owned);
            let append = journal.call(|reply| Request::Append { room, who, text, reply });
            let room = "lobby".to_owned();
            let history = journal.call(|reply| Request::History { room, after: 0, reply });
            tokio::join!(append, history, async { gate.add_permits(1) })
        };
        let (tree, (line, history, ())) = tokio::join!(tree.start_link(&me), requests);
        let _tree = tree.expect("it starts");
        assert_eq!(history.expect("it answers"), [line.expect("it is written")]);
    }
}
