//! Simulated runtime that replaces real programs, and a watcher that records.

#![allow(dead_code, reason = "each test file uses its own part")]

pub(crate) mod honest;

use std::collections::BTreeMap;

use purlin_lab::contender::{Failure, Reply};
use purlin_lab::error::Problem;
use purlin_lab::experiments::{Experiment, Params, select};
use purlin_lab::profile::{Budget, FEWEST, Profile};
use purlin_lab::sampling::{Entrant, Executor, Outcome, Record, Request, Watch, sample};
use serde_json::Value;

/// Runtime that answers by arithmetic; the contender at position k costs k + 1 times the base time.
#[derive(Default)]
pub(crate) struct MadeUpRuntime {
    /// All requests, as position and parameters.
    pub(crate) asked: Vec<(usize, Params)>,
    /// Applied to each valid answer before it is returned.
    pub(crate) spoil: Option<Spoil>,
}

/// Modifies or refuses an answer; arguments: number of earlier requests, position, answer.
pub(crate) type Spoil = Box<dyn FnMut(usize, usize, &mut Value) -> Result<(), Failure>>;

impl MadeUpRuntime {
    /// Creates a runtime whose valid answers pass through `spoil`.
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

/// Watcher that records its calls.
#[derive(Default)]
pub(crate) struct Memory {
    /// The records, as they are stored on disk.
    pub(crate) records: Vec<Value>,
    /// The messages.
    pub(crate) lines: Vec<String>,
    /// The completed rounds.
    pub(crate) rounds: Vec<usize>,
}

impl Watch for Memory {
    fn record(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        self.records.push(serde_json::to_value(record).expect("a record is JSON"));
        Ok(())
    }

    fn print(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    fn round(&mut self, done: usize, _of: usize) {
        self.rounds.push(done);
    }
}

/// Returns the experiment with this id.
pub(crate) fn experiment(id: &str) -> &'static Experiment {
    select(&[id.to_owned()]).expect("it is known")[0]
}

/// Returns contenders `a`, `b`, … without variants.
pub(crate) fn entrants(count: usize) -> Vec<Entrant> {
    let labels = ["a", "b", "c", "d"];
    let entrant = |(place, label): (usize, &&str)| Entrant {
        place,
        label: (*label).to_owned(),
        variants: BTreeMap::new(),
    };
    labels.iter().take(count).enumerate().map(entrant).collect()
}

/// Returns the budget of a quick run with six rounds, the fewest that have ratios.
pub(crate) fn budget() -> Budget {
    Budget::new(Profile::Quick, Some(FEWEST), None, None)
}

/// Samples an experiment on a runtime.
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
