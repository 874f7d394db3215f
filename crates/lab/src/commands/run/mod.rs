//! `purlin lab run`: chooses, samples, stores, draws; and goes on where it was interrupted.
//!
//! [`run`] begins a run, [`resume`] goes on with one; both hand it to a
//! [`Course`], which takes it to its end.

mod course;
mod resume;
mod watcher;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::contender::{Choice, CommandLine, Contender, LOAD, Surroundings, choose, remedy};
use crate::error::Problem;
use crate::experiments::{Experiment, select};
use crate::host::{Fitness, Host, Process, ticks_per_ns};
use crate::interrupt::Interrupt;
use crate::plan::{Invited, Plan};
use crate::profile::Profile;
use crate::sampling::Past;
use crate::store::{self, Store};
use course::Course;
pub use resume::{ResumeOptions, resume};

/// What `purlin lab run` was asked.
#[derive(Debug, Clone, PartialEq)]
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
    /// Whether each round has programs of its own.
    pub fresh: bool,
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

/// What is measured, and how it is started.
struct LineUp {
    experiments: Vec<&'static Experiment>,
    choice: Choice,
    commands: Vec<CommandLine>,
    surroundings: Surroundings,
}

impl LineUp {
    /// Finds everything that was asked for, and compiles what must be compiled.
    fn find(options: &RunOptions, surroundings: &Surroundings) -> Result<Self, Problem> {
        let mut experiments = select(&options.experiments)?;
        let mut choice = choose(&options.contenders, surroundings)?;
        let met = |one: &Experiment| one.manner.meets();
        if let Some(missing) = remedy(LOAD, surroundings)
            && experiments.iter().any(|one| met(one))
        {
            let what = format!(
                "the experiments with a server (ack-…) need their client, and those with two nodes (dist-…) its epmd: {missing}"
            );
            if !options.experiments.is_empty() {
                return Err(Problem::new(what));
            }
            experiments.retain(|one| !met(one));
            choice.left_out.push(format!("{what}; they are left out"));
        }
        if let Some(json) = &options.json {
            store::probe(json)?;
        }
        let commands = choice.contenders.iter().map(|one| one.command(surroundings));
        let commands = commands.collect::<Result<_, _>>()?;
        Ok(Self { experiments, choice, commands, surroundings: surroundings.clone() })
    }

    fn contenders(self) -> impl Iterator<Item = (Contender, CommandLine)> {
        self.choice.contenders.into_iter().zip(self.commands)
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
    let line_up = LineUp::find(options, surroundings)?;
    let now = Timestamp::now();
    let moment = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let store = Store::create(options.dir.as_deref(), &moment)?;
    let plan = Plan {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        started: rfc3339(now),
        experiments: line_up.experiments.iter().map(|one| one.id.to_owned()).collect(),
        named: !options.experiments.is_empty() && !options.contenders.is_empty(),
        profile: options.profile.word().into(),
        // WHY: 53 bits, which every reader of JSON keeps exactly.
        seed: options.seed.unwrap_or(now.as_microsecond().unsigned_abs() & ((1 << 53) - 1)),
        samples: options.samples,
        sample_ms: options.sample_ms,
        limit: options.limit.map(|limit| limit.as_secs_f64()),
        fresh: options.fresh,
        json: options.json.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone())),
        host: Host { fitness: Some(Fitness::look()), ..Host::look() },
        ticks_per_ns: ticks_per_ns(),
        process: Process::own(),
        contenders: Vec::new(),
        resumed: Vec::new(),
        warnings: Vec::new(),
    };
    let fitness = plan.host.fitness.clone().unwrap_or_default();
    let past = Past::default();
    let mut course = Course::begin(options, plan, &line_up, store, &past, interrupt);
    for line in &line_up.choice.left_out {
        course.say(line);
    }
    for (contender, command) in line_up.contenders() {
        let (hello, problem) = match course.invite(&contender, command) {
            Ok(hello) => (Some(hello), None),
            Err(_) if interrupt.is_raised() => return Ok(course.broken_off()),
            Err(problem) => (None, Some(problem)),
        };
        course.plan.contenders.push(Invited { text: contender.text, hello, problem });
    }
    course.go(&fitness, out)
}

fn rfc3339(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
