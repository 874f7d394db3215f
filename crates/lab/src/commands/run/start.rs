//! `purlin lab run`: starts a run.

use std::env;
use std::io::Write;

use jiff::Timestamp;

use super::active_run::ActiveRun;
use super::selection::RunSelection;
use crate::commands::output::Ended;
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::host::{Fitness, Host, ticks_per_ns};
use crate::interrupt::Interrupt;
use crate::measured;
use crate::options::RunOptions;
use crate::plan::{Invited, Plan, rfc3339};
use crate::sampling::Past;
use crate::store::Store;

/// Starts a run and completes it.
pub(super) fn start(
    mut options: RunOptions,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    let selection = RunSelection::find(&options, surroundings)?;
    let now = Timestamp::now();
    let moment = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let store = Store::create(options.dir.as_deref(), &moment)?;
    let named = !options.experiments.is_empty() && !options.contenders.is_empty();
    options.experiments = selection.experiments.iter().map(|one| one.id.to_owned()).collect();
    // WHY: 53 bits, which every JSON reader represents exactly.
    options.seed.get_or_insert(now.as_microsecond().unsigned_abs() & ((1 << 53) - 1));
    options.json = options.json.map(|path| std::path::absolute(&path).unwrap_or(path));
    let plan = Plan {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        started: rfc3339(now),
        options,
        named,
        host: Host { fitness: Some(Fitness::snapshot()), ..Host::snapshot() },
        sources: env::current_dir().ok().and_then(|folder| measured::of_checkout(&folder)),
        ticks_per_ns: ticks_per_ns(),
        contenders: Vec::new(),
        resumed: Vec::new(),
        warnings: Vec::new(),
    };
    let fitness = plan.host.fitness.clone().unwrap_or_default();
    let past = Past::default();
    let mut active_run = ActiveRun::begin(plan, &selection, store, &past, interrupt);
    for line in &selection.left_out {
        active_run.print(line);
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
