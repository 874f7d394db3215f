//! Text representation of a node's data. Pure. All text from the node is passed through
//! [`harmless`] here.

use indicatif::BinaryBytes;
use purlin_ack::load::short;

use super::ask::{Overview, Row, Seen, Warning};
use super::figures::{percent, time};
use super::harmless::harmless;

/// Largest width of a node's name or a warning, in columns.
const LONG: usize = 300;
/// Largest number of workers that are listed.
const MOST_WORKERS: usize = 16;

/// Column headings of the table.
pub(super) const HEADS: [&str; 9] =
    ["PID", "NAME", "STATE", "MAILBOX", "RECEIVED", "SENT", "REDUCTIONS", "MEMORY", "FUNCTION"];
/// Whether a column is numeric, and so right-aligned.
pub(super) const NUMBERS: [bool; 9] = [false, false, false, true, true, true, true, true, false];
/// Largest width of each column in a terminal.
pub(super) const WIDTHS: [usize; 9] = [16, 24, 24, 9, 11, 11, 11, 11, 200];

/// Returns three lines about the node.
pub(super) fn head(seen: &Seen) -> [String; 3] {
    let Overview { node, uptime_ns, snapshot, hogs, drops, sampler } = &seen.overview;
    let busy = |part: Option<f64>| part.map_or_else(|| "?".into(), percent);
    let workers = snapshot.workers.iter().take(MOST_WORKERS).map(|worker| busy(worker.utilization));
    let mut workers = workers.collect::<Vec<_>>().join("  ");
    if snapshot.workers.len() > MOST_WORKERS {
        workers += "  …";
    }
    let resident =
        snapshot.resident_bytes.map_or_else(|| "?".into(), |bytes| BinaryBytes(bytes).to_string());
    [
        format!(
            "{}  up {}  {} processes  {} messages/s  {} reductions/s",
            harmless(node, LONG),
            time(*uptime_ns),
            snapshot.processes,
            short(snapshot.messages_per_second),
            short(snapshot.reductions_per_second)
        ),
        format!(
            "workers {workers}  ready {}  timers {}  hogs {}",
            snapshot.ready,
            snapshot.timers,
            hogs_line(hogs)
        ),
        format!(
            "memory {resident}, of processes {}  dropped {}  the observer takes {:.1} % of a core, left out {}",
            BinaryBytes(snapshot.process_bytes),
            drops.all(),
            sampler.share * 100.0,
            sampler.left_out
        ),
    ]
}

/// Returns the number of hogs and the first one.
fn hogs_line(hogs: &[super::ask::Hog]) -> String {
    match hogs {
        [] => "0".into(),
        [first, ..] => format!("{} ({})", hogs.len(), harmless(&first.pid, 24)),
    }
}

/// Formats a warning as one line.
pub(super) fn warning(warning: &Warning) -> String {
    let Warning { kind, text, for_ns } = warning;
    format!("{} for {}: {}", harmless(kind, 30), time(*for_ns), harmless(text, LONG))
}

/// Returns the cells of a process' row.
pub(super) fn cells(row: &Row) -> [String; 9] {
    let state = match &row.waits_for {
        Some(other) => format!("waiting for {other}"),
        None => row.state.clone(),
    };
    let cells = [
        row.pid.clone(),
        row.name.clone().unwrap_or_default(),
        state,
        row.mailbox.to_string(),
        row.messages_in.to_string(),
        row.messages_out.to_string(),
        row.reductions.to_string(),
        BinaryBytes(row.memory).to_string(),
        row.function.clone(),
    ];
    let mut widths = WIDTHS.into_iter();
    cells.map(|cell| harmless(&cell, widths.next().unwrap_or_default()))
}
