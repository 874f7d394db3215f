//! A run in progress: its contenders, its experiments, and the results it stores.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::selection::RunSelection;
use super::watcher::Watcher;
use crate::commands::output::Ended;
use crate::contender::{CommandLine, Contender, Failure, Hello, Runtimes, sources};
use crate::error::Problem;
use crate::experiments::{ALL, Experiment, SamplingMode};
use crate::host::{Fitness, SmtProbe, StealWatch};
use crate::instrument::Instrument;
use crate::interrupt::Interrupt;
use crate::options::RunOptions;
use crate::page;
use crate::plan::{Plan, Resumption};
use crate::profile::{Budget, FEWEST};
use crate::progress::Progress;
use crate::results::{
    AboutContender, Absence, Control, Document, ResultEntry, SCHEMA, Tool, Trouble, control,
    drifts, figures, outliers, ratios,
};
use crate::sampling::{Entrant, Outcome, Past, Replay, ReplayCheck, Stop, Watch, sample};
use crate::store::{self, PAGE, PLAN, RESULTS, Store};
use crate::table::table;
use crate::warning::{self, Warning};

/// A run in progress.
pub(super) struct ActiveRun {
    /// The request, with the warnings given so far.
    pub(super) plan: Plan,
    experiments: Vec<&'static Experiment>,
    budget: Budget,
    steal: StealWatch,
    entrants: Vec<(Entrant, Hello)>,
    asked: Replay<Runtimes>,
    watch: ReplayCheck<Watcher>,
    document: Document,
    /// Warnings derived from the samples.
    warnings: Vec<Warning>,
    losses: bool,
}

impl ActiveRun {
    /// Creates a run without contenders.
    pub(super) fn begin(
        plan: Plan,
        selection: &RunSelection,
        store: Store,
        past: &Past,
        interrupt: &Interrupt,
    ) -> Self {
        let experiments = selection.experiments.clone();
        let RunOptions { profile, samples, sample_ms, limit, fresh, .. } = plan.options;
        let samples = samples.map(|count| count as usize);
        let limit = limit.map(Duration::from_secs_f64);
        let budget = Budget { fresh, ..Budget::new(profile, samples, sample_ms, limit) };
        let watcher = Watcher {
            store,
            progress: Progress::new(experiments.len(), budget.rounds),
            smt: SmtProbe::default(),
            sampled: false,
            before_ms: past.at_ms(),
            began: Instant::now(),
        };
        Self {
            steal: StealWatch::begin(),
            entrants: Vec::new(),
            asked: Replay::new(
                past,
                Runtimes::new(&budget, selection.surroundings.clone(), interrupt.clone()),
            ),
            watch: ReplayCheck::new(past, watcher),
            budget,
            document: Document {
                schema: SCHEMA,
                tool: Tool {
                    name: "purlin lab",
                    version: env!("CARGO_PKG_VERSION"),
                    sources: plan.sources.clone(),
                },
                started: plan.started.clone(),
                interrupted: false,
                seconds: 0.0,
                seed: plan.options.seed.unwrap_or(0),
                fresh,
                profile,
                host: plan.host.clone(),
                warnings: Vec::new(),
                contenders: Vec::new(),
                experiments: experiments.iter().map(|&one| one.into()).collect(),
                results: Vec::new(),
                instrument: Instrument::measure(),
                ratios: Vec::new(),
                control: None,
                steps: Vec::new(),
                invalid: Vec::new(),
                absences: Vec::new(),
                problems: Vec::new(),
            },
            plan,
            experiments,
            warnings: Vec::new(),
            losses: false,
        }
    }

    /// Prints a line, whether or not an earlier part of the run printed it already.
    pub(super) fn print(&mut self, line: &str) {
        self.watch.then.print(line);
    }

    /// Gives a warning that the samples reproduce when an interrupted run is resumed.
    fn warn(&mut self, warning: Warning) {
        self.watch.print(&format!("warning: {warning}"));
        self.warnings.push(warning);
    }

    /// Gives warnings that cannot be derived again later, and stores them in the plan.
    fn warn_at_once(&mut self, warnings: impl IntoIterator<Item = Warning>) -> Result<(), Problem> {
        for warning in warnings {
            self.print(&format!("warning: {warning}"));
            self.plan.warnings.push(warning);
        }
        let text = json(&self.plan)?;
        self.watch.then.store.replace(PLAN, &text)
    }

    /// Starts a contender and adds it to the run; if that fails, records and prints why.
    pub(super) fn invite(
        &mut self,
        contender: &Contender,
        command: CommandLine,
    ) -> Result<Hello, String> {
        let label = contender.label.as_str();
        let hello = match self.asked.then.enlist(contender, command) {
            Ok(hello) => hello,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted.to_string()),
            Err(failure) => {
                let message = format!("{failure}; it takes no part");
                self.print(&format!("{label}: {message}"));
                self.leave_out(label, message.clone());
                return Err(message);
            }
        };
        self.document.contenders.push(AboutContender {
            id: label.to_owned(),
            label: label.to_owned(),
            version: hello.version.clone(),
            notes: hello.notes.clone(),
            variants: hello.variants.clone(),
            sources: sources(label, hello.experiments.iter().map(String::as_str)),
        });
        let mut variants = hello.variants.clone();
        for paired in ALL.iter().filter(|one| one.mode == SamplingMode::Paired) {
            let can_pair = |far: &String| self.asked.then.can_pair(contender, far);
            variants.entry(paired.id.to_owned()).or_default().retain(can_pair);
        }
        let entrant = Entrant { place: self.entrants.len(), label: label.to_owned(), variants };
        let trips = self.asked.then.round_trips(entrant.place);
        self.document.instrument.request(label, &trips);
        self.entrants.push((entrant, hello.clone()));
        Ok(hello)
    }

    /// Records that a contender does not take part.
    pub(super) fn leave_out(&mut self, label: &str, message: String) {
        self.trouble(None, label, message);
        self.losses = true;
    }

    /// Completes the run: stores the results, writes the page and prints the table.
    pub(super) fn go(mut self, fitness: &Fitness, out: &mut dyn Write) -> Result<Ended, Problem> {
        self.warn_at_once(fitness.warnings())?;
        if self.entrants.is_empty() {
            self.print("no contender takes part, so nothing is measured");
        } else if self.budget.rounds < FEWEST {
            let message =
                format!("with fewer than {FEWEST} samples the intervals are too narrow for 95 %");
            let advice = "do not judge by them; take --samples 6 or more";
            self.warn(Warning::new("few-samples", message, advice));
        }
        for experiment in self.experiments.clone() {
            let entrants = self.entrants_of(experiment);
            if entrants.is_empty() {
                continue;
            }
            self.watch.then.progress.begin(experiment.id);
            let steal = StealWatch::begin();
            let sampled = sample(
                experiment,
                &entrants,
                self.document.profile,
                &self.budget,
                self.document.seed,
                &mut self.asked,
                &mut self.watch,
            );
            let shared = self.watch.then.smt.end(experiment.id);
            self.warn_at_once(shared)?;
            match sampled {
                Ok(outcome) => self.conclude(experiment, outcome),
                Err(Stop::Interrupted(so_far)) => {
                    if let Some(outcome) = so_far {
                        self.conclude(experiment, *outcome);
                    }
                    self.document.interrupted = true;
                    self.warn_at_once(steal.warning(experiment.id))?;
                    self.store()?;
                    return Ok(self.broken_off());
                }
                Err(Stop::Problem(problem)) => return Err(problem),
            }
            self.warn_at_once(steal.warning(experiment.id))?;
            self.watch.then.store.sync()?;
        }
        self.watch.is_complete()?;
        self.watch.then.progress.end();
        let page = self.store()?;
        // WHY: a reader that closed the output does not affect the stored run.
        let _ = write!(
            out,
            "\n{}\n{}{}\n",
            table(&self.document),
            warning::list(&self.document.warnings),
            page.display()
        );
        Ok(if self.losses { Ended::WithLosses } else { Ended::Well })
    }

    /// Prints that the run was interrupted and how to resume it.
    pub(super) fn broken_off(mut self) -> Ended {
        self.watch.then.progress.end();
        let folder = self.watch.then.store.path("");
        let planned = self.watch.then.store.path(PLAN).exists();
        self.print(&if planned {
            let folder = folder.display();
            format!("interrupted; go on with: purlin lab run --resume {folder}")
        } else {
            "interrupted before anything was measured".to_owned()
        });
        Ended::Interrupted
    }

    /// Returns the contenders that offer the experiment, and reports those that do not.
    ///
    /// A contender that offers no experiment of this kind is not reported unless the user named
    /// both experiments and contenders: a contender without servers misses no experiment with
    /// servers, and one that is not a distribution node none with two nodes.
    fn entrants_of(&mut self, experiment: &Experiment) -> Vec<Entrant> {
        let offers = |hello: &Hello| hello.experiments.iter().any(|id| id == experiment.id);
        let (able, unable): (Vec<_>, Vec<_>) =
            self.entrants.iter().partition(|(_, hello)| offers(hello));
        let able = able.into_iter().map(|(entrant, _)| entrant.clone()).collect();
        let kind = |one: &Experiment| one.mode.needs_load_client().then_some(one.mode);
        let like =
            |id: &String| ALL.iter().any(|one| one.id == id && kind(one) == kind(experiment));
        let named = self.plan.named;
        let missed = |(_, hello): &&(Entrant, Hello)| named || hello.experiments.iter().any(like);
        let unable = unable.into_iter().filter(missed);
        let unable: Vec<String> = unable.map(|(entrant, _)| entrant.label.clone()).collect();
        if !unable.is_empty() {
            let how = if unable.len() == 1 { "does" } else { "do" };
            self.watch.print(&format!(
                "{} {}: {how} not offer this experiment",
                experiment.id,
                unable.join(", ")
            ));
            // WHY: a run counts as incomplete only if the user named both experiments and
            // contenders.
            self.losses |= self.plan.named;
        }
        for label in unable {
            let message = "does not offer this experiment";
            self.absent(experiment, &label, "not offered", message.into());
        }
        able
    }

    /// Computes the figures of one experiment from its samples.
    fn conclude(&mut self, experiment: &'static Experiment, outcome: Outcome) {
        self.losses |= !outcome.lost.is_empty() || !outcome.invalid.is_empty();
        for (label, failure) in outcome.lost {
            let message = format!("{failure}; its samples of this experiment are lost");
            self.trouble(Some(experiment.id), &label, message);
        }
        for (label, message) in outcome.starved {
            self.absent(experiment, &label, "starves", message);
        }
        for lane in &outcome.lanes {
            let own: Vec<_> =
                outcome.invalid.iter().filter(|invalid| invalid.contender == lane.label).collect();
            if let (Some(first), true) = (own.first(), lane.natural) {
                let (count, reason) = (own.len(), &first.reason);
                let plural = if count == 1 { " is" } else { "s are" };
                let (id, label) = (experiment.id, &lane.label);
                let message = format!("{id} {label}: {count} sample{plural} invalid: {reason}");
                let advice = "believe nothing of this contender here until it keeps count";
                self.warn(Warning::new("void", message, advice).about(id, Some(label)));
            }
            let results = figures(experiment, lane, self.plan.ticks_per_ns);
            if lane.natural && results.is_empty() {
                let message = "too few samples count to give a figure".to_owned();
                self.watch.print(&format!("{} {}: {message}", experiment.id, lane.label));
                self.trouble(Some(experiment.id), &lane.label, message);
                self.losses = true;
            }
            self.document.results.extend(results);
        }
        self.document.instrument.samples(experiment.id, &outcome.lanes);
        let own = |result: &&ResultEntry| result.experiment == experiment.id;
        let own: Vec<_> = self.document.results.iter().filter(own).cloned().collect();
        if let Some(warning) = outliers(&own) {
            self.warn(warning);
        }
        self.document.invalid.extend(outcome.invalid);
        self.document.steps.extend(outcome.steps);
    }

    fn trouble(&mut self, experiment: Option<&str>, contender: &str, message: String) {
        self.document.problems.push(Trouble {
            experiment: experiment.map(Into::into),
            contender: contender.into(),
            message,
        });
    }

    fn absent(&mut self, experiment: &Experiment, contender: &str, word: &str, message: String) {
        self.document.absences.push(Absence {
            experiment: experiment.id.into(),
            contender: contender.into(),
            word: word.into(),
            message,
        });
    }

    fn all_warnings(&self) -> Vec<Warning> {
        let resumed = self.plan.resumed.iter().map(|Resumption { at, after }| {
            let message =
                format!("the run was interrupted and went on at {at} behind {after} samples");
            let advice = "what the machine did in between may divide the samples";
            Warning::new("resumed", message, advice)
        });
        let interrupted = self.document.interrupted.then(Warning::interrupted);
        let given = self.plan.warnings.iter().chain(&self.warnings).cloned();
        given.chain(resumed).chain(interrupted).collect()
    }

    /// Stores the results and renders the page. Returns the page's path.
    fn store(&mut self) -> Result<PathBuf, Problem> {
        self.document.seconds = self.watch.then.elapsed_ms() as f64 / 1000.0;
        self.document.ratios = ratios(&self.document.results);
        self.document.control = control(&self.document.results);
        let doubts = drifts(&self.document.results).into_iter();
        let control = self.document.control.as_ref().and_then(Control::warning);
        for warning in doubts.chain(control).chain(self.document.instrument.warnings()) {
            self.warn(warning);
        }
        self.document.warnings = self.all_warnings();
        if let Some(fitness) = &mut self.document.host.fitness {
            fitness.steal_percent_during = self.steal.percent();
            let smt = &self.watch.then.smt;
            fitness.smt_ratio_during = smt.median();
            fitness.smt_shared_percent_during = smt.shared_percent();
        }
        let text = json(&self.document)?;
        let value: Value = serde_json::from_str(&text).map_err(|error| unwritten(&error))?;
        let store = &self.watch.then.store;
        let page = store.path(PAGE);
        store::write(&page, &page::render(&[value]))?;
        if let Some(json) = &self.plan.options.json {
            store::write(json, &text)?;
        }
        // WHY: written last, because a complete results file marks a completed run.
        store.replace(RESULTS, &text)?;
        Ok(page)
    }
}

/// Serializes a value as it is stored.
fn json(value: &impl serde::Serialize) -> Result<String, Problem> {
    let text = serde_json::to_string_pretty(value).map_err(|error| unwritten(&error))?;
    Ok(text + "\n")
}

fn unwritten(error: &serde_json::Error) -> Problem {
    Problem::new(format!("the results cannot be written as JSON: {error}"))
}
