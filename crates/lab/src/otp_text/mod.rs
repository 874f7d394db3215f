//! Parser and writer for the text of `parallel_messages_SUITE`, OTP's own signal benchmark. Pure.
//!
//! The commands call [`is_text`] to distinguish such text from JSON, [`read`] to convert it to a
//! document of schema 1, and [`write()`] for the reverse. This module opens no files and does not
//! trust its input: lines, records and points are bounded, and malformed input is rejected with its
//! line number.
//!
//! # Format
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
//! A record ends with `$` at the end of a line. Lines that begin with `#` are comments; they may
//! occur within a record and contain `$`. A scenario consists of its title, its sender counts, and
//! one record per line of the graph. Other shell output may surround the whole.
//!
//! | module | role |
//! |---|---|
//! | `records` | removes comments, joins lines to records |
//! | `title` | parses titles, and defines which scenarios merge |
//! | `read` | converts records to a document |
//! | `lines` | extracts the graph lines of a document |
//! | `write` | converts lines to text |

mod lines;
mod read;
mod records;
mod title;
mod write;

use records::{SCENARIO, trim};

pub use read::read;
pub use write::write;

/// Returns whether the text is in the suite's format: not JSON, with a scenario or a record.
pub fn is_text(text: &str) -> bool {
    let record = |line: &str| line.starts_with(SCENARIO) || line.ends_with('$');
    !trim(text).starts_with(['{', '[']) && text.lines().any(|line| record(trim(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_distinguished_from_json_by_its_content() {
        for text in ["Scenario: x", "\u{feff}\r\n # x\r\n; 1; 2$\r\n", "1> run().\n25; 1.0$"] {
            assert!(is_text(text), "{text}");
        }
        for other in ["", "{\"a\": \"\nScenario: x$\n\"}", " [\n$\n]", "hello\n", "\u{feff}{\n$\n"]
        {
            assert!(!is_text(other), "{other}");
        }
    }
}
