//! Supervisors and those they supervise, as a tree.
//!
//! A supervisor's children are the processes that it has spawned. So the tree is read out of the table of
//! processes, and no supervisor is asked for anything: one that restarts its children has other things to do.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use purlin::ProcessId;
use purlin::observe::{Crash, Crashes};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::answer::Refusal;
use super::look::ns;
use super::processes::aside;
use super::site::Site;
use crate::census::Table;

/// How many children of one supervisor are shown, and how many members a tree has.
const MOST_CHILDREN: usize = 100;
const MOST: usize = 2000;
/// How deep a tree is followed.
const DEEPEST: usize = 64;
/// How many crashes are told.
const MOST_CRASHES: usize = 50;

#[derive(Serialize)]
pub(crate) struct Answer {
    roots: Vec<Member>,
    /// How many roots are not shown.
    more: usize,
    /// The last ones, the newest first.
    crashes: Vec<Crashed>,
    /// How many more there were.
    forgotten: u64,
}

/// A process that ended because of a panic or an error.
#[derive(Serialize)]
struct Crashed {
    /// 1 for the first of the node.
    number: u64,
    pid: String,
    name: Option<String>,
    function: &'static str,
    supervisor: Option<String>,
    reason: String,
    ago_ns: u64,
    mailbox: usize,
    messages_in: u64,
}

/// A supervisor, or a process that one has started.
#[derive(Serialize)]
struct Member {
    pid: String,
    name: Option<String>,
    kind: &'static str,
    function: &'static str,
    /// How often a supervisor has restarted a child; nothing for others.
    restarts: u64,
    /// How many of the crashes were of a child like this one: of that supervisor, and that name, or, where it
    /// has none, that function.
    crashes: usize,
    /// The number of the last of them.
    last_crash: Option<u64>,
    children: Vec<Member>,
    /// How many children are not shown.
    more: usize,
}

/// Which rows each supervisor has spawned.
struct Families<'a> {
    table: &'a Table,
    journal: &'a Crashes,
    children: FxHashMap<ProcessId, Vec<usize>>,
    left: usize,
}

pub(crate) async fn tree(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let census = site.census().await?;
    let node = site.node()?;
    let (journal, now) = (node.crashes(), node.uptime());
    aside(&site, move || {
        let last = journal.crashes.iter().rev().take(MOST_CRASHES);
        let crashes: Vec<_> = last.map(|crash| Crashed::of(crash, now)).collect();
        let (roots, more) = roots(&census.processes, &journal);
        Json(Answer {
            roots,
            more,
            forgotten: journal.all_crashes.saturating_sub(crashes.len() as u64),
            crashes,
        })
    })
    .await
}

impl Crashed {
    fn of(crash: &Crash, now: Duration) -> Self {
        Self {
            number: crash.number,
            pid: crash.id.to_string(),
            name: crash.name.as_ref().map(ToString::to_string),
            function: crash.function,
            supervisor: crash.parent.map(|parent| parent.to_string()),
            reason: crash.reason.clone(),
            ago_ns: ns(now.saturating_sub(crash.at)),
            mailbox: crash.mailbox_len,
            messages_in: crash.messages_in,
        }
    }
}

/// Those that are shown, and how many are not.
fn roots(table: &Table, journal: &Crashes) -> (Vec<Member>, usize) {
    let mut children: FxHashMap<_, _> = FxHashMap::default();
    let supervisors = table.kin().filter(|(_, _, supervises)| *supervises);
    children.extend(supervisors.map(|(id, _, _)| (id, Vec::new())));
    let mut roots = Vec::new();
    for (row, (_, parent, supervises)) in table.kin().enumerate() {
        match parent.and_then(|parent| children.get_mut(&parent)) {
            Some(siblings) => siblings.push(row),
            None if supervises => roots.push(row),
            None => {}
        }
    }
    let mut families = Families { table, journal, children, left: MOST };
    let shown: Vec<_> = roots.iter().filter_map(|&row| families.member(row, DEEPEST)).collect();
    let more = roots.len() - shown.len();
    (shown, more)
}

impl Families<'_> {
    fn member(&mut self, row: usize, deeper: usize) -> Option<Member> {
        let row = self.table.row(row)?;
        self.left = self.left.checked_sub(1)?;
        let below = self.children.remove(&row.id).unwrap_or_default();
        let shown = below.iter().take(if deeper == 0 { 0 } else { MOST_CHILDREN });
        let children: Vec<_> = shown.filter_map(|&child| self.member(child, deeper - 1)).collect();
        let restarts = self.journal.restarts.iter().find(|known| known.supervisor == row.id);
        let alike = |crash: &&Arc<Crash>| {
            row.parent.is_some()
                && crash.parent == row.parent
                && crash.name.as_ref() == row.name
                && (row.name.is_some() || crash.function == row.function)
        };
        let crashes = self.journal.crashes.iter().filter(alike);
        Some(Member {
            restarts: restarts.map_or(0, |known| known.total),
            last_crash: crashes.clone().next_back().map(|crash| crash.number),
            crashes: crashes.count(),
            pid: row.id.to_string(),
            name: row.name.map(ToString::to_string),
            kind: if row.supervises { "supervisor" } else { "process" },
            function: row.function,
            more: below.len() - children.len(),
            children,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin::observe::Crashes;

    use super::{MOST, roots};
    use crate::census::{Row, Table};
    use crate::warnings::fixture::{pid, row};

    #[test]
    fn supervisors_that_have_no_room_in_the_tree_are_counted() {
        let supervisors =
            (1..=MOST + 3).map(|number| Row { supervises: true, ..row(pid(number as u32)) });
        let table = Table::made_up(&supervisors.collect::<Vec<_>>(), Duration::ZERO);
        let (shown, more) = roots(&table, &Crashes::default());
        assert_eq!((shown.len(), more), (MOST, 3));
    }
}
