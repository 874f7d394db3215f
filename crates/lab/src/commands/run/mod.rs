//! `purlin lab run`: selects, samples, stores and reports; resumes an interrupted run.
//!
//! [`run`] starts a run and [`resume`] continues one; both pass it to a [`Course`], the run in
//! progress, which completes it.

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

/// Options of `purlin lab run`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOptions {
    /// Experiment ids; all experiments if empty.
    pub experiments: Vec<String>,
    /// Contenders as the user wrote them; all that can run here if empty.
    pub contenders: Vec<String>,
    /// The profile: number of rounds and duration of samples.
    pub profile: Profile,
    /// Seed of the sample order; taken from the clock if absent.
    pub seed: Option<u64>,
    /// The folder of the run.
    pub dir: Option<PathBuf>,
    /// An additional output file for the results.
    pub json: Option<PathBuf>,
    /// Number of rounds, overriding the profile.
    pub samples: Option<usize>,
    /// Milliseconds per sample, overriding the profile.
    pub sample_ms: Option<f64>,
    /// Time limit per answer, overriding the profile.
    pub limit: Option<Duration>,
    /// Whether every round starts fresh programs.
    pub fresh: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every requested measurement produced results.
    Well,
    /// A contender failed or samples are invalid; the rest produced results.
    WithLosses,
    /// The user interrupted the run.
    Interrupted,
}

/// The selected experiments and contenders, and the commands that start them.
struct LineUp {
    experiments: Vec<&'static Experiment>,
    choice: Choice,
    commands: Vec<CommandLine>,
    surroundings: Surroundings,
}

impl LineUp {
    /// Resolves the request, and compiles contenders that need compiling.
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

/// Runs the experiments; prints the table and the path of the page to `out`.
///
/// # Errors
///
/// Returns one line if the request cannot be carried out: an unknown name, a requested runtime that
/// is not installed, an output file that cannot be written.
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
        // WHY: 53 bits, which every JSON reader represents exactly.
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
