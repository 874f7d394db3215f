//! The program is killed while it replaces its journal again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::client::{Acked, Client};
use crate::support::{HANG, start};

const CLIENTS: usize = 40;
const ROOMS: usize = 20;
/// Number of lines of a room that are kept.
const HISTORY: u16 = 5;
/// Largest number of records: twice the lines that are kept, the slack of the journal, and a last batch.
const RECORDS: usize = 2 * ROOMS * HISTORY as usize + 1000 + ROOMS;
/// Number of acknowledged lines before each kill. The journal is replaced at least once meanwhile.
const LINES: u32 = 1500;
const KILLS: u32 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_is_bounded_and_no_kept_line_is_lost_through_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal");
    let mut acked = Vec::new();
    for life in 0..KILLS {
        let (program, at) = start(&journal, HISTORY);
        let lines = Arc::new(Semaphore::new(0));
        let mut clients = JoinSet::new();
        for n in 0..CLIENTS {
            let lines = Arc::clone(&lines);
            clients.spawn(async move {
                let (room, who) = (format!("room-{}", n % ROOMS), format!("client-{n}"));
                let Ok(mut client) = Client::connect(at, &room, &who).await else {
                    return Vec::new();
                };
                // Ends with the program.
                while let Ok(true) = client.say(&format!("line {life}")).await {
                    lines.add_permits(1);
                }
                client.acked
            });
        }
        let said = timeout(HANG, lines.acquire_many(LINES)).await;
        said.expect("lines are acknowledged").expect("it is open").forget();
        drop(program);
        while let Some(more) = clients.join_next().await {
            acked.extend(more.expect("no panic"));
        }
        assert_kept(&journal, &acked);
    }
}

/// Checks that each acknowledged line is in the journal, unless it is older than the kept lines of its room.
fn assert_kept(journal: &Path, acked: &[Acked]) {
    let lines = chat::read(journal).expect("it is valid");
    assert!(lines.len() <= RECORDS, "{} records", lines.len());
    let mut rooms: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    let mut by_number = BTreeMap::new();
    for line in &lines {
        rooms.entry(&line.room).or_default().push(line.number);
        by_number.insert(line.number, line);
    }
    for one in acked {
        if let Some(line) = by_number.get(&one.number) {
            let found = (&line.room, &line.who, &line.text);
            assert_eq!(found, (&one.room, &one.who, &one.text), "line {}", one.number);
            continue;
        }
        let room = rooms.get(&one.room).map_or(&[][..], |numbers| numbers);
        let later = room.iter().filter(|number| **number > one.number).count();
        assert!(later >= usize::from(HISTORY), "{one:?} is missing");
    }
    let numbers: BTreeSet<_> = acked.iter().map(|one| one.number).collect();
    assert_eq!(numbers.len(), acked.len(), "a number is used once");
}
