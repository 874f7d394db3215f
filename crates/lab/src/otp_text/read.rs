//! Converts records to a document of schema 1. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::lines::{AS_OTP, EXPERIMENT, LABEL, OPTIONS, RUN, fit, version};
use super::records::{Field, Record, SCENARIO, at, quoted, records, whole};
use super::title::{Measure, Title};
use crate::error::Problem;
use crate::experiments::{Better, Params};
use crate::results::{AboutContender, AboutExperiment, ResultEntry};

/// Maximum number of sender counts per scenario.
const SENDERS: usize = 1024;
/// Maximum number of figures per text.
const FIGURES: usize = 200_000;
/// Unit of all figures.
const UNIT: &str = "signals/s";

/// Converts a text to a document: the figures of `signals`, with one sample each, because the text
/// does not contain their spread.
///
/// Each label becomes a contender, each title a graph, and the receiver's message queue option the
/// variant. A repeated scenario with equal title and options is another run, whose labels get the
/// prefix `Ver: 2 `.
///
/// # Errors
///
/// Returns one line that begins with the number of the malformed line.
///
/// COST: one figure of about 0.5 kB for each number in the text.
pub fn read(text: &str) -> Result<Value, Problem> {
    let mut reader = Reader::default();
    for record in records(text)? {
        reader.take(&record)?;
    }
    reader.complete()?;
    if reader.results.is_empty() {
        return Err(at(1, &format!("no line begins with {SCENARIO:?}; copy the whole output")));
    }
    let contenders: Vec<_> = reader.labels.iter().map(|label| contender(label)).collect();
    Ok(json!({
        "schema": 1,
        "tool": {"name": "parallel_messages_SUITE", "version": ""},
        "started": "",
        "profile": "",
        "experiments": [about()],
        "contenders": contenders,
        "results": reader.results,
    }))
}

/// A scenario that is being read.
struct Scenario<'a> {
    /// The line number of the title.
    line: usize,
    title: Title<'a>,
    measure: Measure,
    run: u64,
    /// The sender counts; empty until they are read.
    senders: Vec<u64>,
    lines: usize,
}

/// State of the conversion: the scenario being read, and the results so far.
#[derive(Default)]
struct Reader<'a> {
    current: Option<Scenario<'a>>,
    /// Number of occurrences of each title.
    titles: HashMap<Title<'a>, u64>,
    /// All graph lines so far.
    drawn: HashSet<(Title<'a>, String)>,
    /// The labels, in order of first occurrence.
    labels: Vec<String>,
    known: HashSet<String>,
    results: Vec<ResultEntry>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, record: &Record<'a>) -> Result<(), Problem> {
        let line = record.line();
        if let Some(written) = record.title() {
            self.complete()?;
            let (title, measure) = Title::parse(written?).ok_or_else(|| {
                let form = "Send Throughput, send_duration=500 ms,  …, Spawn Options=[…]$";
                at(line, &format!("no scenario of parallel_messages_SUITE; it reads \"{form}\""))
            })?;
            let run = self.titles.entry(title).or_default();
            *run += 1;
            let run = *run;
            let senders = Vec::new();
            self.current = Some(Scenario { line, title, measure, run, senders, lines: 0 });
            return Ok(());
        }
        let fields = record.fields()?;
        match &mut self.current {
            Some(scenario) if scenario.senders.is_empty() => {
                scenario.senders = senders(line, &fields)?;
                Ok(())
            }
            _ => self.line(line, &fields),
        }
    }

    /// Reads a line of the graph.
    fn line(&mut self, line: usize, fields: &[Field<'_>]) -> Result<(), Problem> {
        let (Some(scenario), Some(((_, name), values))) = (&mut self.current, fields.split_first())
        else {
            return Err(at(line, "a record that belongs to no scenario; copy its title too"));
        };
        if fit(name) != *name {
            let due = format!("it has 1 to {LABEL} characters, none of control");
            let what = format!("{} cannot be a label ({due})", quoted(name));
            return Err(at(line, &format!("{what}; copy the record again")));
        }
        let (due, there) = (scenario.senders.len(), values.len());
        if there != due {
            let what = format!("{} has {there} values and {due} are due", quoted(name));
            return Err(at(line, &format!("{what}; copy the record again")));
        }
        if self.results.len() + due > FIGURES {
            let what = format!("more than {FIGURES} figures");
            return Err(at(line, &format!("{what}; give the text in parts")));
        }
        let label = version(scenario.run) + name;
        if !self.drawn.insert((scenario.title, label.clone())) {
            let what = format!("{} is in this graph already", quoted(&label));
            return Err(at(line, &format!("{what}; leave one out or name it otherwise")));
        }
        for (&x, &(number, value)) in scenario.senders.iter().zip(values) {
            let value = throughput(number, value)?;
            self.results.push(scenario.figure(&label, x, value));
        }
        scenario.lines += 1;
        if self.known.insert(label.clone()) {
            self.labels.push(label);
        }
        Ok(())
    }

    /// Returns an error if the scenario has no line of values yet.
    fn complete(&self) -> Result<(), Problem> {
        self.current.as_ref().filter(|scenario| scenario.lines == 0).map_or(Ok(()), |scenario| {
            let what = "the scenario has no line of values";
            Err(at(scenario.line, &format!("{what}; copy it again, or leave it out")))
        })
    }
}

impl Scenario<'_> {
    fn figure(&self, label: &str, x: u64, value: f64) -> ResultEntry {
        let mut params = Params::new();
        params.insert("senders".into(), x.into());
        params.insert("ms".into(), self.measure.ms.into());
        params.insert("mode".into(), self.measure.mode.into());
        params.insert(OPTIONS.into(), self.title.options.into());
        if self.run > 1 {
            params.insert(RUN.into(), self.run.into());
        }
        ResultEntry {
            experiment: EXPERIMENT.into(),
            contender: label.into(),
            variant: self.title.variant().map(Into::into),
            graph: Some(self.title.graph.into()),
            params,
            x: Some(x),
            metric: self.measure.metric() + AS_OTP,
            unit: UNIT.into(),
            better: Better::Higher.word().into(),
            rounds: Vec::new(),
            samples: vec![value],
            median: value,
            low: value,
            high: value,
            fit: None,
            primary: false,
        }
    }
}

fn senders(line: usize, fields: &[Field<'_>]) -> Result<Vec<u64>, Problem> {
    let Some(((_, ""), values @ [_, ..])) = fields.split_first() else {
        return Err(at(line, "the numbers of senders are due here, such as \"; 1; 2; 4$\""));
    };
    if values.len() > SENDERS {
        return Err(at(line, &format!("more than {SENDERS} numbers of senders; leave some out")));
    }
    let mut senders = Vec::with_capacity(values.len());
    for &(number, text) in values {
        let found = whole(text).filter(|found| !senders.contains(found)).ok_or_else(|| {
            let what = format!("{} is no number of senders, or is there twice", quoted(text));
            at(number, &format!("{what}; give each once, such as \"; 1; 2; 4$\""))
        })?;
        senders.push(found);
    }
    Ok(senders)
}

/// Parses a number as printed by `~f`.
fn throughput(line: usize, text: &str) -> Result<f64, Problem> {
    let digit = |letter: char| letter.is_ascii_digit();
    let plain = text.trim_start_matches('-').starts_with(digit)
        && text.ends_with(digit)
        && text.chars().all(|letter| digit(letter) || letter == '.' || letter == '-');
    let number = text.parse::<f64>().ok().filter(|number| plain && number.is_finite());
    number.ok_or_else(|| {
        let what = format!("{} is no throughput", quoted(text));
        at(line, &format!("{what}; one reads 2122486.416527"))
    })
}

fn contender(label: &str) -> AboutContender {
    AboutContender {
        id: label.into(),
        label: label.into(),
        version: String::new(),
        notes: vec!["out of the text of OTP's parallel_messages_SUITE".into()],
        variants: Default::default(),
        sources: Default::default(),
    }
}

fn about() -> AboutExperiment {
    AboutExperiment {
        id: EXPERIMENT,
        title: "Signals, many to one",
        what: "N processes send to one for a time, messages or exit signals or both",
        notes: vec![
            "Figures out of OTP's text are means of its repeats; how far these lay apart it does not say.",
        ],
        metric: "throughput",
        unit: UNIT,
        better: Better::Higher.word(),
        x: json!({"param": "senders", "label": "senders", "scale": "log"}),
        y: json!({"label": "throughput", "unit": UNIT}),
    }
}
