//! Interface of a rule: a check for one kind of problem.

use purlin::ProcessId;

use super::warning::Warning;
use crate::snapshot::Snapshot;

/// Largest number of warnings of one kind. More would add cost and no information.
pub const MOST_OF_A_KIND: usize = 100;

/// A check for one kind of problem.
pub(super) trait Rule: Send {
    /// Returns what is detected now, worst first; the start of a problem as far as the rule has tracked it. Called for
    /// each snapshot in order; its process table may be the same as in the previous one.
    fn check(&mut self, snapshot: &Snapshot) -> Vec<Warning>;
}

/// Formats a process for a line: its name or function, and its pid.
pub(super) fn describe(snapshot: &Snapshot, id: ProcessId) -> String {
    let table = &snapshot.processes;
    let Some(row) = table.find(id).and_then(|row| table.row(row)) else {
        return id.to_string();
    };
    match row.name {
        Some(name) => format!("{name} ({id})"),
        None => format!("{id} ({})", row.function),
    }
}
