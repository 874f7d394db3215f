//! The text of `parallel_messages_SUITE`, OTP's own benchmark of signals: read and written. Pure.
//!
//! The commands call [`is_text`] to tell such text from JSON, [`read`] to make
//! of it a document of schema 1, and [`write()`] for the way back. Nothing here
//! opens a file or believes what it reads: lines, records and points are
//! bounded, and what is malformed is refused with the number of its line.
//!
//! # The form
//!
//! ```text
//! #BENCHMARK STARTED$
//! Scenario: Send Throughput, send_duration=500 ms,  100.000000% {message_size,1}, Spawn Options=[…]$
//! ; 1; 2; 4$
//! 25; 2122486.416527; 3478835.182096; 3852898.985834$
//!
//! #BENCHMARK ENDED$
//! ```
//!
//! A record ends with `$` at the end of a line. Lines that begin with `#` are
//! comments, may stand within a record and hold any `$` they like. A scenario
//! is its title, its numbers of senders, and a record for each line of the
//! graph. Around all of it there may be what else a shell printed.
//!
//! | module | role |
//! |---|---|
//! | `records` | lines without comments, put together to records |
//! | `title` | what a title says, and what it is to merge by |
//! | `read` | records to a document |
//! | `lines` | the lines of graphs that a document holds |
//! | `write` | lines to text |

mod lines;
mod read;
mod records;
mod title;
mod write;

use records::trim;

pub use read::read;
pub use write::write;

/// How each scenario begins.
const SCENARIO: &str = "Scenario: ";
/// The experiment that the suite's figures belong to.
const EXPERIMENT: &str = "signals";
/// Follows the metric of a figure that was computed as the suite does: by the time that was set.
const AS_OTP: &str = ", as OTP computes it";
/// The parameter that keeps the spawn options of a scenario as they were written.
const OPTIONS: &str = "spawn_options";
/// The parameter that counts runs of the same scenario in one text, from 2.
const RUN: &str = "run";
/// The longest label, in characters.
const LABEL: usize = 200;

/// Whether text is to be read as the suite's: it is not JSON, and has a scenario or a record.
#[must_use]
pub fn is_text(text: &str) -> bool {
    let record = |line: &str| line.starts_with(SCENARIO) || line.ends_with('$');
    !trim(text).starts_with(['{', '[']) && text.lines().any(|line| record(trim(line)))
}

/// What precedes the label of a run that is not the first.
fn version(run: u64) -> String {
    if run < 2 { String::new() } else { format!("Ver: {run} ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_json_by_what_is_in_it() {
        for text in ["Scenario: x", "\u{feff}\r\n # x\r\n; 1; 2$\r\n", "1> run().\n25; 1.0$"] {
            assert!(is_text(text), "{text}");
        }
        for other in ["", "{\"a\": \"\nScenario: x$\n\"}", " [\n$\n]", "hello\n", "\u{feff}{\n$\n"]
        {
            assert!(!is_text(other), "{other}");
        }
    }
}
