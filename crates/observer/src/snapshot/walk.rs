//! Making a process table in slices.
//!
//! The walk reads the previous table in step with the new one, as both are in slot order. Rates are differences to the
//! previous row. A process without a previous row is new.

use std::sync::Arc;
use std::time::Duration;

use purlin::observe::ProcessSnapshot;
use purlin::{Node, ProcessId};

use super::table::{Moment, Since};
use super::{Call, Table};

/// Slots of the process table read in one slice, which takes some 0.1 to 0.3 ms.
const SLICE: u32 = 4096;
/// Names looked up at a time, under the lock of the name registry.
const NAMES: usize = 256;

/// A table under construction.
pub(super) struct Walk {
    table: Table,
    before: Before,
    next: u32,
    /// Waiting process and the slot of the process it waits for.
    calls: Vec<(ProcessId, u32)>,
    left_out: u64,
}

/// Result of a walk.
pub(super) struct Walked {
    pub(super) table: Table,
    pub(super) calls: Vec<Call>,
    pub(super) left_out: u64,
    /// Bytes of all processes and their queued messages.
    pub(super) memory: u64,
}

/// Cursor into the previous table.
struct Before {
    table: Arc<Table>,
    row: usize,
    /// The previous table belongs to the same uninterrupted sampling: a process that it lacks has been spawned since.
    fresh: bool,
}

impl Before {
    /// Returns the rates and the first sighting of a process, from its previous row.
    fn since(&mut self, seen: &ProcessSnapshot, now: Duration) -> Since {
        let ids = &self.table.ids;
        while ids.get(self.row).is_some_and(|id| id.id() < seen.id.id()) {
            self.row += 1;
        }
        let row = self.row;
        if ids.get(row) != Some(&seen.id) {
            let first_seen = Moment::new(now, self.fresh);
            return Since { first_seen, received_rate: 0.0, sent_rate: 0.0, reduction_rate: 0.0 };
        }
        // WHY interpolated by row: a walk reads the rows one after the other, so a row's number gives the time it was
        // read.
        let walked = self.table.until.saturating_sub(self.table.from);
        let then = self.table.from + walked.mul_f64(row as f64 / ids.len() as f64);
        let span = now.saturating_sub(then).as_secs_f32();
        let rate = |now: u64, before: u64| {
            if span > 0.0 { now.saturating_sub(before) as f32 / span } else { 0.0 }
        };
        Since {
            first_seen: self.table.first_seen[row],
            received_rate: rate(seen.messages_in, self.table.received[row]),
            sent_rate: rate(seen.messages_out, self.table.sent[row]),
            reduction_rate: rate(seen.reductions, self.table.reductions[row]),
        }
    }
}

impl Walk {
    /// Starts a walk. `fresh` states that sampling has not been interrupted since the previous table.
    pub(super) fn begin(node: &Node, before: Arc<Table>, fresh: bool) -> Self {
        let table = Table::with_room(node.uptime(), node.processes_about());
        let before = Before { table: before, row: 0, fresh };
        Self { table, before, next: 0, calls: Vec::new(), left_out: 0 }
    }

    /// Reads one slice. Returns `true` if it was the last.
    pub(super) fn slice(&mut self, node: &Node) -> bool {
        let now = node.uptime();
        let mut keepers = Vec::new();
        let from = self.next;
        let Self { table, before, calls, left_out, .. } = self;
        let next = node.snapshots(from, SLICE, |seen| {
            let row = table.len() as u32;
            calls.extend(seen.waits_for.map(|place| (seen.id, place)));
            if !table.push(&seen, &before.since(&seen, now)) {
                *left_out += 1;
            } else if seen.has_extended_state {
                keepers.push((row, seen.id));
            }
        });
        for some in keepers.chunks(NAMES) {
            let ids: Vec<_> = some.iter().map(|(_, id)| *id).collect();
            node.names_of(&ids, |at, name| table.names.push((some[at].0, name.clone())));
        }
        self.next = next.unwrap_or(from);
        next.is_none()
    }

    /// Completes the walk.
    pub(super) fn end(mut self, node: &Node) -> Walked {
        self.table.until = node.uptime();
        let table = self.table;
        let call =
            |(caller, place)| Some(Call { caller, callee: table.ids[table.at_place(place)?] });
        let calls = self.calls.into_iter().filter_map(call).collect();
        let memory = (0..table.len()).map(|row| table.memory_of(row)).sum();
        Walked { calls, memory, left_out: self.left_out, table }
    }
}
