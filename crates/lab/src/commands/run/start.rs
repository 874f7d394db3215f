//! `purlin lab run`: starts a run.

use std::io::Write;

use jiff::Timestamp;

use super::active_run::ActiveRun;
use super::options::{Ended, RunOptions};
use super::selection::RunSelection;
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::host::{Fitness, Host, Process, ticks_per_ns};
use crate::interrupt::Interrupt;
use crate::plan::{Invited, Plan, rfc3339};
use crate::sampling::Past;
use crate::store::Store;

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
    let selection = RunSelection::find(options, surroundings)?;
    let now = Timestamp::now();
    let moment = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let store = Store::create(options.dir.as_deref(), &moment)?;
    let plan = Plan {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        started: rfc3339(now),
        experiments: selection.experiments.iter().map(|one| one.id.to_owned()).collect(),
        named: !options.experiments.is_empty() && !options.contenders.is_empty(),
        profile: options.profile.word().into(),
        // WHY: 53 bits, which every JSON reader represents exactly.
        seed: options.seed.unwrap_or(now.as_microsecond().unsigned_abs() & ((1 << 53) - 1)),
        samples: options.samples,
        sample_ms: options.sample_ms,
        limit: options.limit.map(|limit| limit.as_secs_f64()),
        fresh: options.fresh,
        json: options.json.as_ref().map(|path| std::path::absolute(path).unwrap_or(path.clone())),
        host: Host { fitness: Some(Fitness::snapshot()), ..Host::snapshot() },
        ticks_per_ns: ticks_per_ns(),
        process: Process::own(),
        contenders: Vec::new(),
        resumed: Vec::new(),
        warnings: Vec::new(),
    };
    let fitness = plan.host.fitness.clone().unwrap_or_default();
    let past = Past::default();
    let mut active_run = ActiveRun::begin(options, plan, &selection, store, &past, interrupt);
    for line in &selection.left_out {
        active_run.say(line);
    }
    for (contender, command) in selection.contenders {
        let (hello, problem) = match active_run.invite(&contender, command) {
            Ok(hello) => (Some(hello), None),
            Err(_) if interrupt.is_raised() => return Ok(active_run.broken_off()),
            Err(problem) => (None, Some(problem)),
        };
        active_run.plan.contenders.push(Invited { text: contender.text, hello, problem });
    }
    active_run.go(&fitness, out)
}
