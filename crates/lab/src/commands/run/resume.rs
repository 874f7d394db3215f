//! `purlin lab run --resume DIR`: resumes an interrupted run.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::active_run::ActiveRun;
use super::selection::RunSelection;
use crate::commands::output::Ended;
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::host::{Fitness, Host};
use crate::interrupt::Interrupt;
use crate::measured;
use crate::options::RunOptions;
use crate::plan::{Resumption, rfc3339};
use crate::store::{self, PAGE, PLAN, RESULTS, Store};
use crate::stored;

/// Resumes a run and completes it as it would have been completed; `json` is an additional output
/// file for the results, overriding that of the run.
///
/// A completed run is left unchanged, and a line says so. Returns an error if there is no run to
/// resume, if it is in progress, or if the program, the machine, a contender or its samples differ
/// from the record.
pub(super) fn resume(
    folder: &Path,
    json: Option<&PathBuf>,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    let refused = |problem: Problem| {
        Problem::new(format!("the run in {} cannot go on: {problem}", folder.display()))
    };
    if has_ended(folder)? {
        let page = folder.join(PAGE);
        // WHY: a reader that closed the output does not affect the stored run.
        let _ = writeln!(out, "the run came to its end; its page is {}", page.display());
        return Ok(Ended::Well);
    }
    // WHY before the plan is read: no other program may change the folder meanwhile.
    let mut store = Store::open(folder)?;
    let mut plan = store::plan(folder)?;
    let sources = env::current_dir().ok().and_then(|folder| measured::of_checkout(&folder));
    plan.fits(&Host::snapshot(), sources.as_deref()).map_err(refused)?;
    // WHY not before: another version may have written samples that this one cannot read.
    let past = store.past()?;
    if plan.options.limit.is_some_and(|limit| !(0.0..=1e6).contains(&limit)) {
        return Err(refused(Problem::new(
            "its time limit is not from 0 to 1000000 s; begin a new run",
        )));
    }
    plan.options.json = json.cloned().or(plan.options.json);
    let contenders = plan.contenders.iter().map(|one| one.text.clone()).collect();
    let options = RunOptions { contenders, ..plan.options.clone() };
    let selection = RunSelection::find(&options, surroundings)?;
    let resumption = Resumption { at: rfc3339(Timestamp::now()), after: past.len() };
    // WHY: an earlier resumption without a new sample carries no information.
    plan.resumed.retain(|earlier| earlier.after != resumption.after);
    plan.resumed.push(resumption);
    let fitness = Fitness::snapshot();
    let invited = plan.contenders.clone();
    let mut active_run = ActiveRun::begin(plan, &selection, store, &past, interrupt);
    for ((contender, command), invited) in selection.contenders.into_iter().zip(invited) {
        if let Some(problem) = invited.problem {
            active_run.leave_out(&contender.label, problem);
            continue;
        }
        match active_run.invite(&contender, command) {
            Ok(hello) => invited.is_still(&hello).map_err(refused)?,
            Err(_) if interrupt.is_raised() => return Ok(active_run.broken_off()),
            Err(problem) => {
                return Err(refused(Problem::new(format!(
                    "contender {} took part and now {problem}",
                    contender.label
                ))));
            }
        }
    }
    active_run.go(&fitness, out)
}

/// Returns whether the folder holds the complete results of a run.
fn has_ended(folder: &Path) -> Result<bool, Problem> {
    let results = folder.join(RESULTS);
    if !results.exists() {
        return Ok(false);
    }
    let interrupted = stored::read(&results)?.get("interrupted") == Some(&true.into());
    Ok(!interrupted && folder.join(PLAN).exists())
}
