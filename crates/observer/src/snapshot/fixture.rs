//! Sample snapshots for tests.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Name, ProcessId, ProcessState};

use super::{Age, Overview, Row, Snapshot, Table};

/// Returns the pid with that number.
pub(crate) fn pid(number: u32) -> ProcessId {
    ProcessId::from_parts(number, 0, 1).expect("there can be such a pid")
}

/// Returns the snapshot at uptime `second` of a node without processes and with room for a thousand, measured.
pub(crate) fn at(second: u64) -> Snapshot {
    let mut snapshot = Snapshot::none();
    snapshot.number = second;
    overview(&mut snapshot).at = Duration::from_secs(second);
    overview(&mut snapshot).measured = true;
    overview(&mut snapshot).max_processes = 1000;
    with(snapshot, &[])
}

/// Returns the overview for modification.
pub(crate) fn overview(snapshot: &mut Snapshot) -> &mut Overview {
    Arc::make_mut(&mut snapshot.overview)
}

/// Replaces the process table by `rows`, which must be in pid order.
pub(crate) fn with(mut snapshot: Snapshot, rows: &[Row<'_>]) -> Snapshot {
    let made = snapshot.overview.at;
    overview(&mut snapshot).processes = rows.len();
    snapshot.processes = Arc::new(Table::made_up(rows, made));
    snapshot
}

/// Returns the row of an idle process.
pub(crate) fn row(id: ProcessId) -> Row<'static> {
    Row {
        id,
        name: None,
        state: ProcessState::Receiving,
        function: "crate::run",
        message_type: "crate::Message",
        parent: None,
        serves: false,
        supervises: false,
        mailbox_len: 0,
        messages_in: 0,
        messages_in_per_second: 0.0,
        messages_out: 0,
        messages_out_per_second: 0.0,
        reductions: 0,
        reductions_per_second: 0.0,
        memory: 0,
        age: Age::About(Duration::ZERO),
    }
}

/// Returns the row of an idle process with a name.
pub(crate) fn named(id: ProcessId, name: &Name) -> Row<'_> {
    Row { name: Some(name), ..row(id) }
}
