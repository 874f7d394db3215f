//! Supervisors and those they supervise, as a tree.
//!
//! A supervisor's children are the processes that it has spawned. So the tree is read out of the table of
//! processes, and no supervisor is asked for anything: one that restarts its children has other things to do.

use std::any::type_name;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use purlin::ProcessId;
use purlin::supervisor::SupervisorMail;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::answer::Refusal;
use super::processes::aside;
use super::site::Site;
use crate::census::{Row, Table};

/// How many children of one supervisor are shown, and how many members a tree has.
const MOST_CHILDREN: usize = 100;
const MOST: usize = 2000;
/// How deep a tree is followed.
const DEEPEST: usize = 64;

#[derive(Serialize)]
pub(crate) struct Answer {
    roots: Vec<Member>,
}

/// A supervisor, or a process that one has started.
#[derive(Serialize)]
struct Member {
    pid: String,
    name: Option<String>,
    kind: &'static str,
    function: &'static str,
    children: Vec<Member>,
    /// How many children are not shown.
    more: usize,
}

/// Which rows each supervisor has spawned.
struct Families<'a> {
    table: &'a Table,
    children: FxHashMap<ProcessId, Vec<usize>>,
    left: usize,
}

fn is_supervisor(row: &Row<'_>) -> bool {
    row.message_type == type_name::<SupervisorMail>()
}

pub(crate) async fn tree(State(site): State<Arc<Site>>) -> Result<Json<Answer>, Refusal> {
    let census = site.census().await?;
    aside(move || Json(Answer { roots: roots(&census.processes) })).await
}

fn roots(table: &Table) -> Vec<Member> {
    let mut children: FxHashMap<_, _> = FxHashMap::default();
    children.extend(table.rows().filter(is_supervisor).map(|row| (row.id, Vec::new())));
    let mut roots = Vec::new();
    for (number, row) in table.rows().enumerate() {
        match row.parent.and_then(|parent| children.get_mut(&parent)) {
            Some(siblings) => siblings.push(number),
            None if is_supervisor(&row) => roots.push(number),
            None => {}
        }
    }
    let mut families = Families { table, children, left: MOST };
    roots.into_iter().filter_map(|row| families.member(row, DEEPEST)).collect()
}

impl Families<'_> {
    fn member(&mut self, row: usize, deeper: usize) -> Option<Member> {
        let row = self.table.row(row)?;
        self.left = self.left.checked_sub(1)?;
        let below = self.children.remove(&row.id).unwrap_or_default();
        let shown = below.iter().take(if deeper == 0 { 0 } else { MOST_CHILDREN });
        let children: Vec<_> = shown.filter_map(|&child| self.member(child, deeper - 1)).collect();
        Some(Member {
            pid: row.id.to_string(),
            name: row.name.map(ToString::to_string),
            kind: if is_supervisor(&row) { "supervisor" } else { "process" },
            function: row.function,
            more: below.len() - children.len(),
            children,
        })
    }
}
