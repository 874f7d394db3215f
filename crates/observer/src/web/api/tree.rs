//! Supervision tree.
//!
//! A supervisor's children are the processes it has spawned, so the tree is derived from the process table. No
//! supervisor is queried, as it may be busy restarting children.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use purlin::ProcessId;
use purlin::observe::{Crash, Crashes};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::values::ns;
use crate::snapshot::Table;
use crate::web::refusal::Refusal;
use crate::web::state::Site;

/// Largest number of children shown per supervisor, and of members in the whole answer.
const MOST_CHILDREN: usize = 100;
const MOST: usize = 2000;
/// Largest depth of the tree.
const DEEPEST: usize = 64;
/// Largest number of crashes shown.
const MOST_CRASHES: usize = 50;

/// Response of `/api/tree`.
#[derive(Serialize)]
pub(crate) struct Answer {
    roots: Vec<Member>,
    /// Number of roots that are not shown.
    more: usize,
    /// The last crashes, newest first.
    crashes: Vec<Crashed>,
    /// Number of earlier crashes.
    forgotten: u64,
}

/// A process that ended with a panic or an error.
#[derive(Serialize)]
struct Crashed {
    /// Sequence number, 1 for the first of the node.
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

/// A supervisor or a child of one.
#[derive(Serialize)]
struct Member {
    pid: String,
    name: Option<String>,
    kind: &'static str,
    function: &'static str,
    /// Restarts by this supervisor; 0 for other processes.
    restarts: u64,
    /// Number of recorded crashes of this child: same supervisor and same name, or the same function if it has no name.
    crashes: usize,
    /// Number of the last of these crashes.
    last_crash: Option<u64>,
    children: Vec<Member>,
    /// Number of children that are not shown.
    more: usize,
}

/// Children of each supervisor, as rows of the table.
struct Families<'a> {
    table: &'a Table,
    journal: &'a Crashes,
    children: FxHashMap<ProcessId, Vec<usize>>,
    /// Number of members that may still be added to the answer.
    left: usize,
}

pub(crate) async fn tree(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let snapshot = site.snapshot().await?;
    let node = site.node()?;
    let (journal, now) = (node.crashes(), node.uptime());
    site.run_blocking(move || {
        let last = journal.crashes.iter().rev().take(MOST_CRASHES);
        let crashes: Vec<_> = last.map(|crash| Crashed::of(crash, now)).collect();
        let (roots, more) = roots(&snapshot.processes, &journal);
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

/// Returns the shown roots and the number of others.
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
    /// Returns the process in this row with its children, down to `deeper` further levels.
    fn member(&mut self, row: usize, deeper: usize) -> Option<Member> {
        let row = self.table.row(row)?;
        self.left = self.left.checked_sub(1)?;
        let below = self.children.remove(&row.id).unwrap_or_default();
        let shown = below.iter().take(if deeper == 0 { 0 } else { MOST_CHILDREN });
        let children: Vec<_> = shown.filter_map(|&child| self.member(child, deeper - 1)).collect();
        let restarts = self.journal.restarts.iter().filter(|known| known.supervisor == row.id);
        let alike = |crash: &&Arc<Crash>| {
            row.parent.is_some()
                && crash.parent == row.parent
                && crash.name.as_ref() == row.name
                && (row.name.is_some() || crash.function == row.function)
        };
        let crashes = self.journal.crashes.iter().filter(alike);
        Some(Member {
            restarts: restarts.map(|known| known.total).sum(),
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
    use crate::snapshot::fixture::{pid, row};
    use crate::snapshot::{Row, Table};

    #[test]
    fn supervisors_beyond_the_limit_are_counted() {
        let supervisors =
            (1..=MOST + 3).map(|number| Row { supervises: true, ..row(pid(number as u32)) });
        let table = Table::made_up(&supervisors.collect::<Vec<_>>(), Duration::ZERO);
        let (shown, more) = roots(&table, &Crashes::default());
        assert_eq!((shown.len(), more), (MOST, 3));
    }
}
