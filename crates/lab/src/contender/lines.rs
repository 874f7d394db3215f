//! Bounded readers of a contender's output, in separate threads.
//!
//! One thread turns standard output into events, another keeps the last lines of standard error.
//! Both end when the contender closes its end; each buffers at most one bounded line.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::answer::one_line;

/// Maximum length of a line, in bytes.
pub(super) const LINE_LIMIT: usize = 1 << 20;

/// Number of last lines of standard error kept.
const KEPT: usize = 5;

/// Event while the client waits for an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A line, without its newline.
    Line(Vec<u8>),
    /// A line longer than [`LINE_LIMIT`]; reading stops.
    TooLong,
    /// The contender closed its output, possibly within a line.
    Ended,
    /// The user interrupted the run.
    Interrupted,
}

/// Sends each line of `output` as an event, up to the last event.
pub(super) fn watch(output: impl Read + Send + 'static, events: Sender<Event>) {
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let event = next(&mut output);
            let last = matches!(event, Event::TooLong | Event::Ended);
            if events.send(event).is_err() || last {
                return;
            }
        }
    });
}

fn next(output: &mut impl BufRead) -> Event {
    let mut line = Vec::new();
    let read = output.take(LINE_LIMIT as u64 + 1).read_until(b'\n', &mut line);
    match (read, line.last()) {
        (Ok(_), Some(b'\n')) => {
            line.pop();
            Event::Line(line)
        }
        (Ok(_), Some(_)) if line.len() > LINE_LIMIT => Event::TooLong,
        _ => Event::Ended,
    }
}

/// The last lines of a contender's standard error.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<String>>>);

impl LastWords {
    /// Reads `errors` to its end, then signals `done`.
    pub(super) fn capture(&self, errors: impl Read + Send + 'static, done: Sender<()>) {
        let kept = Arc::clone(&self.0);
        thread::spawn(move || {
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            let mut help = false;
            loop {
                line.clear();
                // WHY: the read is bounded; the rest of an overlong line is read as the next line.
                let read = (&mut errors).take(4096).read_until(b'\n', &mut line);
                if !matches!(read, Ok(bytes) if bytes > 0) {
                    let _ = done.send(());
                    return;
                }
                let text = one_line(String::from_utf8_lossy(&line).trim());
                // WHY: a program that rejects an option prints the error first and then its usage;
                // the BEAM's has 130 lines.
                help |= text.starts_with("Usage:");
                if !text.is_empty() && !help {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() == KEPT {
                        kept.pop_front();
                    }
                    kept.push_back(text);
                }
            }
        });
    }

    /// Returns the last line, if there is one.
    pub(super) fn last(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.back().cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::mpsc;

    use super::*;

    fn events(output: Vec<u8>) -> Vec<Event> {
        let (send, receive) = mpsc::channel();
        watch(Cursor::new(output), send);
        receive.iter().collect()
    }

    #[test]
    fn complete_lines_are_events_and_a_partial_last_line_ends_the_output() {
        assert_eq!(
            events(b"{}\n\nhalf".to_vec()),
            [Event::Line(b"{}".to_vec()), Event::Line(Vec::new()), Event::Ended]
        );
    }

    #[test]
    fn line_without_newline_stops_reading_at_the_limit() {
        assert_eq!(events(vec![b'x'; 3 * LINE_LIMIT]), [Event::TooLong]);
        let mut longest = vec![b'x'; LINE_LIMIT];
        longest.push(b'\n');
        assert_eq!(events(longest).len(), 2);
    }

    fn last_words(text: String) -> LastWords {
        let words = LastWords::default();
        let (send, receive) = mpsc::channel();
        words.capture(Cursor::new(text), send);
        receive.recv().unwrap();
        words
    }

    #[test]
    fn last_lines_of_standard_error_are_kept() {
        let noise: String = (0..50_000).map(|line| format!("line {line}\n")).collect();
        let words = last_words(noise + "\n");
        assert_eq!(words.last().as_deref(), Some("line 49999"));
        assert_eq!(words.0.lock().unwrap().len(), KEPT);
    }

    #[test]
    fn usage_text_is_not_kept() {
        let words = last_words("bad option -x\nUsage: it [flags]\n\n-y  does more\n".into());
        assert_eq!(words.last().as_deref(), Some("bad option -x"));
    }
}
