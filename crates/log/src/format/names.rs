//! Names of the files of a log.
//!
//! Segments and checkpoints are named after a sequence number in 20 digits: a segment after its first
//! record, a checkpoint after the first record that it does not cover.

use super::LARGEST_SEQUENCE;

/// Ending of segments.
const SEGMENT: &str = ".log";
/// Ending of checkpoints.
const CHECKPOINT: &str = ".clients";
/// Temporary file, renamed to a checkpoint when it is complete.
pub(crate) const WRITING: &str = "clients.new";
/// Temporary file, renamed to [`CONFIRMED`] when it is complete. WHY not [`WRITING`]: the reader writes it,
/// at the same time as the writer of the log its checkpoints.
pub(crate) const CONFIRMING: &str = "confirmed.new";
/// File with the position that the reader has confirmed.
pub(crate) const CONFIRMED: &str = "confirmed";
/// File that is locked while [`CONFIRMED`] is replaced. WHY not that file: a rename replaces it.
pub(crate) const CONFIRMED_LOCK: &str = "confirmed.lock";

pub(crate) fn segment(base: u64) -> String {
    format!("{base:020}{SEGMENT}")
}

pub(crate) fn checkpoint(sequence: u64) -> String {
    format!("{sequence:020}{CHECKPOINT}")
}

/// Returns the numbers of all segments, sorted.
pub(crate) fn segments(names: &[String]) -> Vec<u64> {
    numbers(names, SEGMENT)
}

/// Returns the numbers of all checkpoints, sorted.
pub(crate) fn checkpoints(names: &[String]) -> Vec<u64> {
    numbers(names, CHECKPOINT)
}

fn numbers(names: &[String], ending: &str) -> Vec<u64> {
    let digits = names.iter().filter_map(|name| name.strip_suffix(ending));
    let whole =
        digits.filter(|digits| digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit()));
    let numbers = whole.filter_map(|digits| digits.parse().ok());
    let mut numbers: Vec<u64> = numbers.filter(|number| *number <= LARGEST_SEQUENCE).collect();
    numbers.sort_unstable();
    numbers
}
