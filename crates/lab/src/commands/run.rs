//! `purlin lab run`: chooses, samples, stores, draws.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use crate::contender::{Contender, Failure, Fleet, Hello, Surroundings, choose};
use crate::error::Problem;
use crate::experiments::{Experiment, select};
use crate::host::{Host, ticks_per_ns};
use crate::interrupt::Interrupt;
use crate::page;
use crate::profile::{Budget, FEWEST, Profile};
use crate::progress::Progress;
use crate::results::{AboutContender, Absence, Document, Tool, Trouble, figures, ratios};
use crate::sampling::{Entrant, Outcome, Record, Stop, Watch, sample};
use crate::store::{self, PAGE, RESULTS, SAMPLES, Store};
use crate::table::table;

/// What `purlin lab run` was asked.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Experiments by id; all if empty.
    pub experiments: Vec<String>,
    /// Contenders as they were written; all that can run here if empty.
    pub contenders: Vec<String>,
    /// How thorough.
    pub profile: Profile,
    /// Repeats the order of the samples; from the clock if absent.
    pub seed: Option<u64>,
    /// The folder of the run.
    pub dir: Option<PathBuf>,
    /// Where the results go besides.
    pub json: Option<PathBuf>,
    /// Rounds, instead of the profile's.
    pub samples: Option<usize>,
    /// Milliseconds per sample, instead of the profile's.
    pub sample_ms: Option<f64>,
    /// How long an answer may take, instead of the profile's.
    pub limit: Option<Duration>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Everything that was asked for gave results.
    Well,
    /// A contender failed or samples are void; the rest gave results.
    WithLosses,
    /// The user stopped it.
    Interrupted,
}

/// A run under way.
struct Run<'a> {
    options: &'a RunOptions,
    budget: Budget,
    seed: u64,
    entrants: Vec<(Entrant, Hello)>,
    fleet: Fleet,
    watcher: Watcher,
    document: Document,
    losses: bool,
}

/// Keeps samples on disk and shows how far the run is.
struct Watcher {
    store: Store,
    progress: Progress,
}

impl Watch for Watcher {
    fn keep(&mut self, record: &Record<'_>) -> Result<(), Problem> {
        self.store.keep(record)
    }

    fn say(&mut self, line: &str) {
        self.progress.say(line);
    }

    fn round(&mut self, done: usize, of: usize) {
        self.progress.round(done, of);
    }
}

/// Runs, and prints the table and the path of the page to `out`.
///
/// # Errors
///
/// One line, if what was asked cannot be done: an unknown name, a runtime that
/// was asked for and is not there, a place that cannot be written.
pub fn run(
    options: &RunOptions,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    let experiments = select(&options.experiments)?;
    let choice = choose(&options.contenders, surroundings)?;
    if let Some(json) = &options.json {
        store::probe(json)?;
    }
    let commands = choice
        .contenders
        .iter()
        .map(|contender| contender.command(surroundings))
        .collect::<Result<Vec<_>, _>>()?;
    let mut run = Run::begin(options, &experiments, interrupt)?;
    for line in &choice.left_out {
        run.watcher.say(line);
    }
    for (contender, command) in choice.contenders.iter().zip(commands) {
        let greeting = run.fleet.enlist(command);
        if let Some(ended) = run.admit(contender, greeting) {
            return Ok(ended);
        }
    }
    if run.entrants.is_empty() {
        run.watcher.say("no contender takes part, so nothing is measured");
    } else if run.budget.rounds < FEWEST {
        run.watcher.say(&format!(
            "with fewer than {FEWEST} samples the intervals are too narrow for 95 %; do not judge by them"
        ));
    }
    let began = Instant::now();
    let ticks = ticks_per_ns();
    for experiment in experiments {
        if !run.experiment(experiment, ticks)? {
            return Ok(run.interrupted());
        }
    }
    run.watcher.progress.end();
    run.finish(began, out)
}

impl<'a> Run<'a> {
    fn begin(
        options: &'a RunOptions,
        experiments: &[&'static Experiment],
        interrupt: &Interrupt,
    ) -> Result<Self, Problem> {
        let now = Timestamp::now();
        let host = Host::look();
        let budget =
            Budget::new(options.profile, options.samples, options.sample_ms, options.limit);
        // WHY: 53 bits, which every reader of JSON keeps exactly.
        let seed = options.seed.unwrap_or(now.as_microsecond().unsigned_abs() & ((1 << 53) - 1));
        let store =
            Store::create(options.dir.as_deref(), &now.strftime("%Y%m%dT%H%M%SZ").to_string())?;
        Ok(Self {
            options,
            seed,
            entrants: Vec::new(),
            fleet: Fleet::new(budget.limit, interrupt.clone()),
            watcher: Watcher { store, progress: Progress::new(experiments.len(), budget.rounds) },
            budget,
            document: Document {
                schema: 1,
                tool: Tool { name: "purlin lab", version: env!("CARGO_PKG_VERSION") },
                started: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
                seconds: 0.0,
                seed,
                profile: options.profile.word().into(),
                host,
                contenders: Vec::new(),
                experiments: experiments.iter().map(|&one| one.into()).collect(),
                results: Vec::new(),
                ratios: Vec::new(),
                steps: Vec::new(),
                void: Vec::new(),
                absences: Vec::new(),
                problems: Vec::new(),
            },
            losses: false,
        })
    }

    /// Takes a contender in that greeted, or notes why it did not.
    fn admit(&mut self, contender: &Contender, greeting: Result<Hello, Failure>) -> Option<Ended> {
        match greeting {
            Ok(hello) => {
                self.document.contenders.push(AboutContender {
                    id: contender.label.clone(),
                    label: contender.label.clone(),
                    version: hello.version.clone(),
                    notes: hello.notes.clone(),
                    variants: hello.variants.clone(),
                });
                let entrant = Entrant {
                    place: self.entrants.len(),
                    label: contender.label.clone(),
                    variants: hello.variants.clone(),
                };
                self.entrants.push((entrant, hello));
                None
            }
            Err(Failure::Interrupted) => Some(self.interrupted()),
            Err(failure) => {
                let message = format!("{failure}; it takes no part");
                self.watcher.say(&format!("{}: {message}", contender.label));
                self.trouble(None, &contender.label, message);
                self.losses = true;
                None
            }
        }
    }

    /// Samples one experiment; `false` if the user wants to stop.
    fn experiment(
        &mut self,
        experiment: &'static Experiment,
        ticks: Option<f64>,
    ) -> Result<bool, Problem> {
        let entrants = self.entrants_of(experiment);
        if entrants.is_empty() {
            return Ok(true);
        }
        self.watcher.progress.begin(experiment.id);
        let sampled = sample(
            experiment,
            &entrants,
            self.options.profile,
            &self.budget,
            self.seed,
            &mut self.fleet,
            &mut self.watcher,
        );
        match sampled {
            Ok(outcome) => self.conclude(experiment, outcome, ticks),
            Err(Stop::Interrupted) => return Ok(false),
            Err(Stop::Problem(problem)) => return Err(problem),
        }
        Ok(true)
    }

    /// Those that offer the experiment; it is said of the others that they do not.
    fn entrants_of(&mut self, experiment: &Experiment) -> Vec<Entrant> {
        let offers = |hello: &Hello| hello.experiments.iter().any(|id| id == experiment.id);
        let (able, unable): (Vec<_>, Vec<_>) =
            self.entrants.iter().partition(|(_, hello)| offers(hello));
        let able = able.into_iter().map(|(entrant, _)| entrant.clone()).collect();
        let unable: Vec<String> =
            unable.into_iter().map(|(entrant, _)| entrant.label.clone()).collect();
        for label in unable {
            let message = "does not offer this experiment";
            self.watcher.say(&format!("{} {label}: {message}", experiment.id));
            self.absent(experiment, &label, "not offered", message.into());
            // WHY: only who asked for both by name has not got what they asked for.
            let named = !self.options.experiments.is_empty() && !self.options.contenders.is_empty();
            self.losses |= named;
        }
        able
    }

    /// Makes figures of the samples of one experiment.
    fn conclude(&mut self, experiment: &'static Experiment, outcome: Outcome, ticks: Option<f64>) {
        self.losses |= !outcome.lost.is_empty() || !outcome.void.is_empty();
        for (label, failure) in outcome.lost {
            let message = format!("{failure}; its samples of this experiment are lost");
            self.trouble(Some(experiment.id), &label, message);
        }
        for (label, message) in outcome.starved {
            self.absent(experiment, &label, "starves", message);
        }
        for lane in &outcome.lanes {
            let own: Vec<_> =
                outcome.void.iter().filter(|void| void.contender == lane.label).collect();
            if let (Some(first), true) = (own.first(), lane.natural) {
                let (count, plural) = (own.len(), if own.len() == 1 { " is" } else { "s are" });
                let (id, label, reason) = (experiment.id, &lane.label, &first.reason);
                self.watcher.say(&format!("{id} {label}: {count} sample{plural} void: {reason}"));
            }
            let results = figures(experiment, lane, ticks);
            if lane.natural && results.is_empty() {
                let message = "too few samples count to give a figure".to_owned();
                self.watcher.say(&format!("{} {}: {message}", experiment.id, lane.label));
                self.trouble(Some(experiment.id), &lane.label, message);
                self.losses = true;
            }
            self.document.results.extend(results);
        }
        self.document.void.extend(outcome.void);
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

    fn interrupted(&mut self) -> Ended {
        self.watcher.progress.end();
        let samples = self.watcher.store.path(SAMPLES);
        self.watcher.say(&format!("interrupted; what was sampled is in {}", samples.display()));
        Ended::Interrupted
    }

    /// Stores the results, draws the page and prints the table.
    fn finish(mut self, began: Instant, out: &mut dyn Write) -> Result<Ended, Problem> {
        self.document.seconds = began.elapsed().as_secs_f64();
        self.document.ratios = ratios(&self.document.results, self.seed);
        let value: Value = serde_json::to_value(&self.document).map_err(|error| {
            Problem::new(format!("the results cannot be written as JSON: {error}"))
        })?;
        let mut text = serde_json::to_string_pretty(&self.document).map_err(|error| {
            Problem::new(format!("the results cannot be written as JSON: {error}"))
        })?;
        text.push('\n');
        let store = &self.watcher.store;
        store::write(&store.path(RESULTS), &text)?;
        if let Some(json) = &self.options.json {
            store::write(json, &text)?;
        }
        let page = store.path(PAGE);
        store::write(&page, &page::render(&[value]))?;
        // WHY: a reader of the output that went away takes nothing from the stored run.
        let _ = write!(out, "\n{}\n{}\n", table(&self.document), page.display());
        Ok(if self.losses { Ended::WithLosses } else { Ended::Well })
    }
}
