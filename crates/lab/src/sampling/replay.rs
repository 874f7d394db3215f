//! Resumption of an interrupted run by replaying its recorded answers.
//!
//! The seed and the answers determine the order of requests. A session that receives the same
//! answers therefore reaches the request at which the run was interrupted, and sends it. [`Replay`]
//! wraps the executor and answers from the record as long as it lasts. [`ReplayCheck`] wraps the watcher
//! and verifies that requests, answers and verdicts agree with the record. A record that was
//! modified, or written by a different program, is rejected at the first line that differs.
//!
//! Pure: the caller supplies the text.

use std::collections::VecDeque;

use serde_json::Value;

use super::executor::{Executor, Request};
use super::record::{Record, Watch};
use crate::contender::{Failure, Reply};
use crate::error::Problem;

/// Time of the request; depends on the clock, so it is excluded from the comparison.
const AT: &str = "at_ms";

/// The recorded answers of an interrupted run, in order. COST: holds the answers twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    answers: VecDeque<Result<Reply, Failure>>,
    records: VecDeque<Value>,
    /// Time of the last request.
    at_ms: u64,
}

impl Past {
    /// Reads recorded samples; also returns the number of bytes they fill.
    ///
    /// An incomplete last line, left by a crash during a write, is ignored.
    ///
    /// # Errors
    ///
    /// Returns the number of a line before the last that holds no sample.
    pub fn read(text: &[u8]) -> Result<(Self, usize), String> {
        let mut past = Self::default();
        let mut whole = 0;
        let lines: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').collect();
        for (number, line) in (1..).zip(&lines) {
            match line.strip_suffix(b"\n").and_then(sample) {
                Some((answer, record)) => {
                    past.at_ms = record.get(AT).and_then(Value::as_u64).unwrap_or(past.at_ms);
                    past.answers.push_back(answer);
                    past.records.push_back(record);
                    whole += line.len();
                }
                None if number == lines.len() => {}
                None => return Err(format!("line {number} holds no sample")),
            }
        }
        Ok((past, whole))
    }

    /// Returns the number of recorded samples, including warm-ups.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the time of the last request, in ms since the run began.
    pub fn at_ms(&self) -> u64 {
        self.at_ms
    }
}

/// Parses a line; returns the answer and the whole record.
fn sample(line: &[u8]) -> Option<(Result<Reply, Failure>, Value)> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let answer = match (record.get("reply"), record.get("problem")) {
        (Some(Value::Object(raw)), None) => {
            let wall_ns = record.get("wall_ns").and_then(Value::as_u64)?;
            let stolen_ms = record.get("stolen_ms").and_then(Value::as_u64);
            Ok(Reply { wall_ns, stolen_ms, ..Reply::read(raw.clone()).ok()? })
        }
        // For any kind of failure, the run uses only its message.
        (None, Some(Value::String(problem))) => Err(Failure::Broken(problem.clone())),
        _ => return None,
    };
    Some((answer, record))
}

/// Executor that answers from the record first, then from the wrapped executor.
#[derive(Debug)]
pub struct Replay<E> {
    past: VecDeque<Result<Reply, Failure>>,
    /// The wrapped executor.
    pub then: E,
}

impl<E> Replay<E> {
    /// Creates an executor that returns the answers of `past`, then those of `then`.
    pub fn new(past: &Past, then: E) -> Self {
        Self { past: past.answers.clone(), then }
    }
}

impl<E: Executor> Executor for Replay<E> {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        self.past.pop_front().unwrap_or_else(|| self.then.run(contender, request))
    }
}

/// Watcher that compares with the record first, then passes records on.
#[derive(Debug)]
pub struct ReplayCheck<W> {
    past: VecDeque<Value>,
    line: usize,
    /// The wrapped watcher.
    pub then: W,
}

impl<W> ReplayCheck<W> {
    /// Creates a watcher that checks against `past` first and then forwards to `then`.
    pub fn new(past: &Past, then: W) -> Self {
        Self { past: past.records.clone(), line: 0, then }
    }

    /// Checks at the end of the run that the whole record was replayed.
    ///
    /// # Errors
    ///
    /// Returns one line if the record holds samples the run did not request.
    pub fn is_complete(&self) -> Result<(), Problem> {
        if self.past.is_empty() {
            return Ok(());
        }
        Err(Problem::new(format!(
            "the run cannot go on: it ends before line {} of its samples; it was changed, or another purlin wrote it; begin a new run",
            self.line + 1
        )))
    }
}

impl<W: Watch> Watch for ReplayCheck<W> {
    fn record(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        let Some(mut known) = self.past.pop_front() else { return self.then.record(record) };
        self.line += 1;
        if let Some(known) = known.as_object_mut() {
            known.remove(AT);
        }
        let agrees = serde_json::to_value(record).is_ok_and(|record| record == known);
        agrees.then_some(()).ok_or_else(|| {
            Problem::new(format!(
                "the run cannot go on: line {} of its samples is not what it asks there ({} {}); it was changed, or another purlin wrote it; begin a new run",
                self.line, record.experiment, record.contender
            ))
        })
    }

    /// Suppresses messages that were already printed before the interruption.
    fn print(&mut self, line: &str) {
        if self.past.is_empty() {
            self.then.print(line);
        }
    }

    fn round(&mut self, done: usize, of: usize) {
        self.then.round(done, of);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str = r#"{"kind":"sample","wall_ns":9,"at_ms":7,"reply":{"elapsed_ns":5,"ops":1,"sent":2,"received":2}}"#;

    #[test]
    fn incomplete_last_line_is_ignored() {
        let torn = format!("{LINE}\n{LINE}\n{{\"kind\":\"sam");
        let (past, whole) = Past::read(torn.as_bytes()).unwrap();
        assert_eq!((past.len(), whole, past.at_ms()), (2, 2 * (LINE.len() + 1), 7));
        // A disk that acknowledged data without storing it returns zeros.
        let zeros = [LINE.as_bytes(), b"\n\0\0\0\n"].concat();
        assert_eq!(Past::read(&zeros).unwrap().0.len(), 1);
        assert!(Past::read(LINE.as_bytes()).unwrap().0.is_empty());
    }

    #[test]
    fn stolen_time_is_read_if_present() {
        let with_stolen = LINE.replacen("\"wall_ns\":9", "\"wall_ns\":9,\"stolen_ms\":20", 1);
        let (past, _) = Past::read(format!("{LINE}\n{with_stolen}\n").as_bytes()).unwrap();
        let stolen = past.answers.iter().map(|answer| answer.as_ref().unwrap().stolen_ms);
        assert_eq!(stolen.collect::<Vec<_>>(), [None, Some(20)]);
    }

    #[test]
    fn invalid_line_in_the_middle_is_named() {
        let text = format!("{LINE}\nhello\n{LINE}\n");
        assert_eq!(Past::read(text.as_bytes()), Err("line 2 holds no sample".into()));
    }

    proptest! {
        #[test]
        fn record_truncated_anywhere_is_read_to_its_last_complete_line(
            lines in 0usize..5, cut in any::<prop::sample::Index>()
        ) {
            let text = format!("{LINE}\n").repeat(lines);
            let kept = cut.index(text.len() + 1);
            let (past, whole) = Past::read(&text.as_bytes()[..kept]).unwrap();
            prop_assert_eq!(past.len(), kept / (LINE.len() + 1));
            prop_assert_eq!(whole, past.len() * (LINE.len() + 1));
        }

        #[test]
        fn any_record_is_read_or_refused(text: Vec<u8>) {
            if let Err(refused) = Past::read(&text) {
                prop_assert!(refused.starts_with("line "));
            }
        }
    }
}
