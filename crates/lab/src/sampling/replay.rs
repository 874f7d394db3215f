//! How a run that was interrupted goes on: what it was told before is told again.
//!
//! The order of the questions is fixed by the seed and by the answers. So the
//! same session, given the same answers, comes to the question at which the run
//! was interrupted, and asks it. [`Replay`] stands before the executor and
//! answers from the record while it lasts; [`Retold`] stands before the watcher
//! and makes sure that what is asked, answered and judged is what the record
//! holds. A record that another program wrote, or that somebody changed, is
//! refused at the first line that differs.
//!
//! Pure: the text comes from the caller.

use std::collections::VecDeque;

use serde_json::Value;

use super::{Executor, Record, Request, Watch};
use crate::contender::{Failure, Reply};
use crate::error::Problem;

/// When a sample was asked for; the clock's, and so no part of what must agree.
const AT: &str = "at_ms";

/// What a run was told before it was interrupted, in order. COST: the answers, twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    answers: VecDeque<Result<Reply, Failure>>,
    records: VecDeque<Value>,
    /// When the last of them was asked for.
    at_ms: u64,
}

impl Past {
    /// Reads the lines of samples; gives also how many bytes of the text they fill.
    ///
    /// A last line that is not whole, because the machine stopped in its middle,
    /// is not among them.
    ///
    /// # Errors
    ///
    /// The number of a line before the last that holds no sample.
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

    /// How many samples there are, warm-ups among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether the run was told nothing yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// When the last sample was asked for, in ms since the run began.
    #[must_use]
    pub fn at_ms(&self) -> u64 {
        self.at_ms
    }
}

/// The answer in a line, and the line.
fn sample(line: &[u8]) -> Option<(Result<Reply, Failure>, Value)> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let answer = match (record.get("reply"), record.get("problem")) {
        (Some(Value::Object(raw)), None) => {
            let wall_ns = record.get("wall_ns").and_then(Value::as_u64)?;
            let stolen_ms = record.get("stolen_ms").and_then(Value::as_u64);
            Ok(Reply { wall_ns, stolen_ms, ..Reply::read(raw.clone()).ok()? })
        }
        // Whatever the failure was, its line is what the run made of it.
        (None, Some(Value::String(problem))) => Err(Failure::Broken(problem.clone())),
        _ => return None,
    };
    Some((answer, record))
}

/// Answers from the record while it lasts, and asks from there on.
#[derive(Debug)]
pub struct Replay<E> {
    past: VecDeque<Result<Reply, Failure>>,
    /// Who is asked.
    pub then: E,
}

impl<E> Replay<E> {
    /// The answers of `past`, then those of `then`.
    pub fn new(past: &Past, then: E) -> Self {
        Self { past: past.answers.clone(), then }
    }
}

impl<E: Executor> Executor for Replay<E> {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        self.past.pop_front().unwrap_or_else(|| self.then.run(contender, request))
    }
}

/// Compares with the record while it lasts, and passes on what comes after.
#[derive(Debug)]
pub struct Retold<W> {
    past: VecDeque<Value>,
    line: usize,
    /// Who is told.
    pub then: W,
}

impl<W> Retold<W> {
    /// What `past` holds goes no further; the rest goes to `then`.
    pub fn new(past: &Past, then: W) -> Self {
        Self { past: past.records.clone(), line: 0, then }
    }

    /// Whether the run, at its end, has come to the end of the record too.
    ///
    /// # Errors
    ///
    /// One line, if there are samples that it never asked for.
    pub fn is_told(&self) -> Result<(), Problem> {
        if self.past.is_empty() {
            return Ok(());
        }
        Err(Problem::new(format!(
            "the run cannot go on: it ends before line {} of its samples; it was changed, or another purlin wrote it; begin a new run",
            self.line + 1
        )))
    }
}

impl<W: Watch> Watch for Retold<W> {
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        let Some(mut known) = self.past.pop_front() else { return self.then.keep(record) };
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

    /// What was said before is not said again.
    fn say(&mut self, line: &str) {
        if self.past.is_empty() {
            self.then.say(line);
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
    fn a_last_line_that_is_not_whole_is_left_out() {
        let torn = format!("{LINE}\n{LINE}\n{{\"kind\":\"sam");
        let (past, whole) = Past::read(torn.as_bytes()).unwrap();
        assert_eq!((past.len(), whole, past.at_ms()), (2, 2 * (LINE.len() + 1), 7));
        // A disc that was promised the bytes and never got them gives zeros.
        let zeros = [LINE.as_bytes(), b"\n\0\0\0\n"].concat();
        assert_eq!(Past::read(&zeros).unwrap().0.len(), 1);
        assert!(Past::read(LINE.as_bytes()).unwrap().0.is_empty());
    }

    #[test]
    fn what_was_stolen_is_read_where_it_was_written() {
        let told = LINE.replacen("\"wall_ns\":9", "\"wall_ns\":9,\"stolen_ms\":20", 1);
        let (past, _) = Past::read(format!("{LINE}\n{told}\n").as_bytes()).unwrap();
        let stolen = past.answers.iter().map(|answer| answer.as_ref().unwrap().stolen_ms);
        assert_eq!(stolen.collect::<Vec<_>>(), [None, Some(20)]);
    }

    #[test]
    fn a_line_in_the_middle_that_is_no_sample_is_named() {
        let text = format!("{LINE}\nhello\n{LINE}\n");
        assert_eq!(Past::read(text.as_bytes()), Err("line 2 holds no sample".into()));
    }

    proptest! {
        #[test]
        fn a_record_that_was_cut_anywhere_is_read_to_its_last_whole_line(
            lines in 0usize..5, cut in any::<prop::sample::Index>()
        ) {
            let text = format!("{LINE}\n").repeat(lines);
            let kept = cut.index(text.len() + 1);
            let (past, whole) = Past::read(&text.as_bytes()[..kept]).unwrap();
            prop_assert_eq!(past.len(), kept / (LINE.len() + 1));
            prop_assert_eq!(whole, past.len() * (LINE.len() + 1));
        }

        #[test]
        fn whatever_a_record_holds_is_read_or_refused(text: Vec<u8>) {
            if let Err(refused) = Past::read(&text) {
                prop_assert!(refused.starts_with("line "));
            }
        }
    }
}
