//! A made-up runtime in the place of real programs, and a watcher that remembers.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod honest;

use std::collections::BTreeMap;

use purlin_lab::contender::{Failure, Reply};
use purlin_lab::error::Problem;
use purlin_lab::experiments::{Experiment, Params, select};
use purlin_lab::profile::{Budget, Profile};
use purlin_lab::sampling::{Entrant, Executor, Outcome, Record, Request, Watch, sample};
use serde_json::Value;

/// Answers by arithmetic; the contender in place k costs k + 1 times the base time.
#[derive(Default)]
pub(crate) struct MadeUpRuntime {
    /// Every request: the place and what was asked.
    pub(crate) asked: Vec<(usize, Params)>,
    /// Is given each honest answer before it is given back.
    pub(crate) spoil: Option<Spoil>,
}

/// Changes an answer, or refuses it: (how many were asked before, place, answer).
pub(crate) type Spoil = Box<dyn FnMut(usize, usize, &mut Value) -> Result<(), Failure>>;

impl MadeUpRuntime {
    /// One whose honest answers go through `spoil` first.
    pub(crate) fn spoiling(
        spoil: impl FnMut(usize, usize, &mut Value) -> Result<(), Failure> + 'static,
    ) -> Self {
        Self { asked: Vec::new(), spoil: Some(Box::new(spoil)) }
    }
}

impl Executor for MadeUpRuntime {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        let mut answer = honest::honest(request.experiment, request.params, contender as u64 + 1);
        let before = self.asked.len();
        self.asked.push((contender, request.params.clone()));
        if let Some(spoil) = &mut self.spoil {
            spoil(before, contender, &mut answer)?;
        }
        let object = answer.as_object().cloned().unwrap_or_default();
        Reply::read(object).map_err(Failure::Broken)
    }
}

/// Remembers what it was told.
#[derive(Default)]
pub(crate) struct Memory {
    /// Every record as it would stand on disk.
    pub(crate) records: Vec<Value>,
    /// Every line.
    pub(crate) lines: Vec<String>,
    /// The rounds that were done.
    pub(crate) rounds: Vec<usize>,
}

impl Watch for Memory {
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        self.records.push(serde_json::to_value(record).expect("a record is JSON"));
        Ok(())
    }

    fn say(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn round(&mut self, done: usize, _of: usize) {
        self.rounds.push(done);
    }
}

/// The experiment of this name.
pub(crate) fn experiment(id: &str) -> &'static Experiment {
    select(&[id.to_owned()]).expect("it is known")[0]
}

/// Contenders `a`, `b`, … without variants.
pub(crate) fn entrants(count: usize) -> Vec<Entrant> {
    let labels = ["a", "b", "c", "d"];
    let entrant = |(place, label): (usize, &&str)| Entrant {
        place,
        label: (*label).to_owned(),
        variants: BTreeMap::new(),
    };
    labels.iter().take(count).enumerate().map(entrant).collect()
}

/// A quick run of five rounds.
pub(crate) fn budget() -> Budget {
    Budget::new(Profile::Quick, Some(5), None, None)
}

/// Samples an experiment on the made-up runtime.
pub(crate) fn sampled(
    id: &str,
    entrants: &[Entrant],
    seed: u64,
    runtime: &mut dyn Executor,
) -> (Outcome, Memory) {
    let mut memory = Memory::default();
    let outcome =
        sample(experiment(id), entrants, Profile::Quick, &budget(), seed, runtime, &mut memory);
    (outcome.expect("nothing stops it"), memory)
}
