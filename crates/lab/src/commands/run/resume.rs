//! `purlin lab run --resume DIR`: resumes an interrupted run.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::active_run::ActiveRun;
use super::options::{Ended, RunOptions};
use super::selection::RunSelection;
use crate::contender::Surroundings;
use crate::error::Problem;
use crate::host::{Fitness, Host, Process};
use crate::interrupt::Interrupt;
use crate::plan::{Plan, Resumption, rfc3339};
use crate::profile::Profile;
use crate::store::{self, PAGE, PLAN, RESULTS, Store};
use crate::stored;

/// Options of `purlin lab run --resume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// An additional output file for the results, overriding that of the run.
    pub json: Option<PathBuf>,
}

/// Resumes a run and completes it as [`run`](super::run) would have.
///
/// A completed run is left unchanged, and a line says so.
///
/// # Errors
///
/// Returns one line if there is no run to resume, or if the program, the machine, a contender or
/// its samples differ from the record.
pub fn resume(
    asked: &ResumeOptions,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<Ended, Problem> {
    let folder = &asked.folder;
    let refused = |problem: Problem| {
        Problem::new(format!("the run in {} cannot go on: {problem}", folder.display()))
    };
    let mut plan = store::plan(folder)?;
    if has_ended(folder)? {
        let page = folder.join(PAGE);
        // WHY: a reader that closed the output does not affect the stored run.
        let _ = writeln!(out, "the run came to its end; its page is {}", page.display());
        return Ok(Ended::Well);
    }
    plan.fits(&Host::snapshot()).map_err(refused)?;
    let mut options = options(&plan, folder.clone()).map_err(refused)?;
    options.json = asked.json.clone().or(options.json);
    let selection = RunSelection::find(&options, surroundings)?;
    let (store, past) = Store::resume(folder)?;
    let resumption = Resumption { at: rfc3339(Timestamp::now()), after: past.len() };
    // WHY: an earlier resumption without a new sample carries no information.
    plan.resumed.retain(|earlier| earlier.after != resumption.after);
    plan.resumed.push(resumption);
    plan.process = Process::own();
    let fitness = Fitness::snapshot();
    let invited = plan.contenders.clone();
    let mut active_run = ActiveRun::begin(&options, plan, &selection, store, &past, interrupt);
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

/// Returns the options of the command that started the run, for this folder.
///
/// # Errors
///
/// Returns one line if the profile is unknown or a number is out of the range the command
/// accepts.
fn options(plan: &Plan, folder: PathBuf) -> Result<RunOptions, Problem> {
    let wrong = |what: &str| Problem::new(format!("its {what} cannot be; begin a new run"));
    let limit = plan.limit.map(Duration::try_from_secs_f64).transpose();
    Ok(RunOptions {
        experiments: plan.experiments.clone(),
        contenders: plan.contenders.iter().map(|one| one.text.clone()).collect(),
        profile: Profile::of_word(&plan.profile).ok_or_else(|| wrong("profile"))?,
        seed: Some(plan.seed),
        dir: Some(folder),
        json: plan.json.clone(),
        samples: plan.samples,
        sample_ms: plan.sample_ms,
        limit: limit.map_err(|_| wrong("limit"))?,
        fresh: plan.fresh,
    })
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
