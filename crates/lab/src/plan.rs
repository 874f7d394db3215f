//! What a run was asked, as its folder keeps it: `run.json`, written before the first sample.
//!
//! With the samples beside it, it is all that `--resume` needs. Whoever goes on
//! must be the same program on the same machine, and so must the contenders be:
//! half of a run is no run.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::commands::RunOptions;
use crate::contender::Hello;
use crate::error::Problem;
use crate::host::{Host, Process};
use crate::profile::Profile;
use crate::warning::StoredWarning;

/// A run that was begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// 1.
    pub schema: u32,
    /// The version of the lab that began it.
    pub version: String,
    /// When, RFC 3339 in UTC.
    pub started: String,
    /// The experiments, all of them by name.
    pub experiments: Vec<String>,
    /// Whether both experiments and contenders were asked for by name.
    pub named: bool,
    /// `quick` or `full`.
    pub profile: String,
    /// What repeats its order.
    pub seed: u64,
    /// Rounds, instead of the profile's.
    pub samples: Option<usize>,
    /// Milliseconds per sample, instead of the profile's.
    pub sample_ms: Option<f64>,
    /// Seconds for an answer, instead of the profile's.
    pub limit: Option<f64>,
    /// Whether each round has programs of its own.
    pub fresh: bool,
    /// Where the results go besides.
    pub json: Option<PathBuf>,
    /// The machine.
    pub host: Host,
    /// Ticks of its time stamp counter in a nanosecond.
    pub ticks_per_ns: Option<f64>,
    /// The program that takes the samples.
    pub process: Option<Process>,
    /// Who was to take part, in order.
    pub contenders: Vec<Invited>,
    /// When it went on, from the first interruption on.
    pub resumed: Vec<Resumption>,
    /// What was warned of and cannot be told from the samples.
    pub warnings: Vec<StoredWarning>,
}

/// A contender that was asked to take part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Invited {
    /// As it was written.
    pub text: String,
    /// What it greeted with.
    pub hello: Option<Hello>,
    /// Why it takes no part.
    pub problem: Option<String>,
}

/// A run that went on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resumption {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// How many samples there were, warm-ups among them.
    pub after: usize,
}

impl Plan {
    /// What the command was asked, for this folder.
    ///
    /// # Errors
    ///
    /// One line, if the profile is none or a number is none that a user could have given.
    pub fn options(&self, folder: PathBuf) -> Result<RunOptions, Problem> {
        let wrong = |what: &str| Problem::new(format!("its {what} cannot be; begin a new run"));
        let limit = self.limit.map(Duration::try_from_secs_f64).transpose();
        Ok(RunOptions {
            experiments: self.experiments.clone(),
            contenders: self.contenders.iter().map(|one| one.text.clone()).collect(),
            profile: Profile::of_word(&self.profile).ok_or_else(|| wrong("profile"))?,
            seed: Some(self.seed),
            dir: Some(folder),
            json: self.json.clone(),
            samples: self.samples,
            sample_ms: self.sample_ms,
            limit: limit.map_err(|_| wrong("limit"))?,
            fresh: self.fresh,
        })
    }

    /// Whether this program on this machine may go on with it.
    ///
    /// # Errors
    ///
    /// One line that says what differs.
    pub fn fits(&self, host: &Host) -> Result<(), Problem> {
        let version = env!("CARGO_PKG_VERSION");
        if self.schema != 1 || self.version != version {
            return Err(Problem::new(format!(
                "it was begun by purlin {}, and this is {version}; go on with that one, or begin a new run",
                self.version
            )));
        }
        if let Some(process) = self.process.filter(|process| process.runs()) {
            return Err(Problem::new(format!(
                "it is still under way, in process {}; wait for it, or end it first",
                process.pid
            )));
        }
        match self.host.changes(host).as_str() {
            "" => Ok(()),
            changes => Err(Problem::new(format!(
                "it was begun on another machine ({changes}); go on there, or begin a new run"
            ))),
        }
    }
}

impl Invited {
    /// Whether the contender that greets now is the one that greeted then.
    ///
    /// # Errors
    ///
    /// One line that says what differs.
    pub fn is_still(&self, now: &Hello) -> Result<(), Problem> {
        let Some(then) = &self.hello else { return Ok(()) };
        let what = if then.version != now.version {
            format!("version {:?} then, {:?} now", then.version, now.version)
        } else if then.experiments != now.experiments || then.variants != now.variants {
            "it offers other experiments than then".to_owned()
        } else {
            return Ok(());
        };
        let text = &self.text;
        Err(Problem::new(format!("contender {text} has changed ({what}); begin a new run")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").into(),
            started: "2026-11-22T09:00:00Z".into(),
            experiments: vec!["ping-pong".into()],
            named: true,
            profile: "quick".into(),
            seed: 7,
            samples: Some(3),
            sample_ms: Some(0.1 + 0.2),
            limit: Some(2.5),
            fresh: true,
            json: None,
            host: Host::look(),
            ticks_per_ns: None,
            process: Process::own(),
            contenders: vec![Invited { text: "a=b c".into(), hello: None, problem: None }],
            resumed: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn what_was_asked_is_read_as_it_was_written() {
        let text = serde_json::to_string(&plan()).unwrap();
        let read: Plan = serde_json::from_str(&text).unwrap();
        let (then, now) = (plan().options("run".into()), read.options("run".into()));
        assert_eq!(then.unwrap(), now.unwrap());
    }

    #[test]
    fn another_purlin_and_another_machine_are_refused_with_what_differs() {
        let here = Host::look();
        let plan = || Plan { process: None, ..plan() };
        plan().fits(&here).unwrap();
        let older = Plan { version: "0.0.1".into(), ..plan() };
        assert!(older.fits(&here).unwrap_err().to_string().contains("begun by purlin 0.0.1"));
        let elsewhere = Host { cores: here.cores + 1, ..here };
        let refused = plan().fits(&elsewhere).unwrap_err().to_string();
        assert!(refused.contains("another machine (cores "), "{refused}");
    }

    #[test]
    fn a_run_that_is_under_way_is_left_alone() {
        let refused = plan().fits(&Host::look()).unwrap_err().to_string();
        assert!(refused.contains("still under way"), "{refused}");
    }

    #[test]
    fn a_contender_of_another_version_is_refused_with_both() {
        let hello = |version: &str| Hello { version: version.into(), ..Hello::default() };
        let known = Invited { text: "beam".into(), hello: Some(hello("25")), problem: None };
        known.is_still(&hello("25")).unwrap();
        let refused = known.is_still(&hello("26")).unwrap_err().to_string();
        assert!(refused.contains("beam") && refused.contains("\"25\" then, \"26\" now"));
        let other = Hello { experiments: vec!["call".into()], ..hello("25") };
        assert!(known.is_still(&other).is_err());
    }
}
