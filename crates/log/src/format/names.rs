//! Names of the files of a log.
//!
//! The number in a name is the sequence number at the file's beginning, in 20 digits.

use super::LARGEST_SEQUENCE;

/// Ending of segments.
const SEGMENT: &str = ".log";
/// Ending of checkpoints.
const CHECKPOINT: &str = ".clients";
/// File that becomes a checkpoint when it is whole.
pub(crate) const WRITING: &str = "clients.new";
/// File that becomes the confirmed position when it is whole. WHY another: another process writes it.
pub(crate) const CONFIRMING: &str = "confirmed.new";
/// File with the position that the reader has confirmed.
pub(crate) const CONFIRMED: &str = "confirmed";

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
