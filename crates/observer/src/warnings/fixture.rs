//! Censuses that tests make up.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Name, ProcessId, ProcessState};

use crate::census::{Age, Census, Overview, Row, Table};

/// A process of that number.
pub(crate) fn pid(number: u32) -> ProcessId {
    ProcessId::from_parts(number, 0, 1).expect("there can be such a pid")
}

/// The census of that second, of a node that has no process and room for a thousand. Somebody had looked just
/// before.
pub(crate) fn at(second: u64) -> Census {
    let mut census = Census::none();
    census.number = second;
    overview(&mut census).at = Duration::from_secs(second);
    overview(&mut census).measured = true;
    overview(&mut census).max_processes = 1000;
    with(census, &[])
}

/// Its figures, to be changed.
pub(crate) fn overview(census: &mut Census) -> &mut Overview {
    Arc::make_mut(&mut census.overview)
}

/// It, with these processes, in the order of their pids.
pub(crate) fn with(mut census: Census, rows: &[Row<'_>]) -> Census {
    let made = census.overview.at;
    overview(&mut census).processes = rows.len();
    census.processes = Arc::new(Table::made_up(rows, made));
    census
}

/// A process that does nothing.
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

/// One with a name.
pub(crate) fn named(id: ProcessId, name: &Name) -> Row<'_> {
    Row { name: Some(name), ..row(id) }
}
