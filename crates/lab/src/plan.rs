//! The plan of a run: the request, stored as `run.json` before the first sample.
//!
//! With the samples in the same folder it is all that `--resume` needs. A run can be resumed only
//! by the same version of the program on the same machine with the same contenders, so that all
//! samples of a run are comparable.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::contender::Hello;
use crate::error::Problem;
use crate::host::Host;
use crate::options::RunOptions;
use crate::warning::Warning;

/// A run that was started.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// Schema version: 1.
    pub schema: u32,
    /// The version of the lab that started the run.
    pub version: String,
    /// Start time, RFC 3339 in UTC.
    pub started: String,
    /// The options of the command, with the ids of all experiments of the run and with the seed.
    #[serde(flatten)]
    pub(crate) options: RunOptions,
    /// Whether the user named both experiments and contenders.
    pub named: bool,
    /// The machine.
    pub host: Host,
    /// Hash of the measured sources, if the run was started in a checkout.
    #[serde(default)]
    pub sources: Option<String>,
    /// Ticks of the time stamp counter per nanosecond.
    pub ticks_per_ns: Option<f64>,
    /// The requested contenders, in order.
    pub contenders: Vec<Invited>,
    /// The resumptions, in order.
    pub resumed: Vec<Resumption>,
    /// Warnings that cannot be derived from the samples.
    pub warnings: Vec<Warning>,
}

/// A requested contender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Invited {
    /// The user's text.
    pub text: String,
    /// Its answer to `hello`.
    pub hello: Option<Hello>,
    /// Why it does not take part.
    pub problem: Option<String>,
}

/// A resumption of the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resumption {
    /// Time, RFC 3339 in UTC.
    pub at: String,
    /// Number of samples taken before it, including warm-ups.
    pub after: usize,
}

impl Plan {
    /// Checks that this program on this machine, started in a checkout with these sources, may resume
    /// the run.
    ///
    /// # Errors
    ///
    /// Returns one line that states the difference.
    pub fn fits(&self, host: &Host, sources: Option<&str>) -> Result<(), Problem> {
        let version = env!("CARGO_PKG_VERSION");
        if self.schema != 1 || self.version != version {
            return Err(Problem::new(format!(
                "it was begun by purlin {}, and this is {version}; go on with that one, or begin a new run",
                self.version
            )));
        }
        if let (Some(then), Some(now)) = (self.sources.as_deref(), sources)
            && then != now
        {
            return Err(Problem::new("the measured sources have changed since; begin a new run"));
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
    /// Checks that a contender has not changed since the run was started.
    ///
    /// # Errors
    ///
    /// Returns one line that states the difference.
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

/// Formats a time as it is stored: RFC 3339 in UTC, in seconds.
pub(crate) fn rfc3339(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn plan() -> Plan {
        Plan {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").into(),
            started: "2026-11-22T09:00:00Z".into(),
            options: RunOptions {
                experiments: vec!["ping-pong".into()],
                contenders: Vec::new(),
                profile: Profile::Quick,
                seed: Some(7),
                dir: None,
                resume: None,
                json: None,
                samples: Some(3),
                sample_ms: Some(0.1 + 0.2),
                limit: Some(2.5),
                fresh: true,
            },
            named: true,
            host: Host::snapshot(),
            sources: None,
            ticks_per_ns: None,
            contenders: vec![Invited { text: "a=b c".into(), hello: None, problem: None }],
            resumed: Vec::new(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn plan_round_trips_through_json() {
        let text = serde_json::to_string(&plan()).unwrap();
        let read: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!((read.options.sample_ms, read.options.limit), (Some(0.1 + 0.2), Some(2.5)));
    }

    #[test]
    fn other_version_or_machine_is_refused_with_the_difference() {
        let here = Host::snapshot();
        plan().fits(&here, None).unwrap();
        let older = Plan { version: "0.0.1".into(), ..plan() };
        assert!(older.fits(&here, None).unwrap_err().to_string().contains("begun by purlin 0.0.1"));
        let elsewhere = Host { cores: here.cores + 1, ..here };
        let refused = plan().fits(&elsewhere, None).unwrap_err().to_string();
        assert!(refused.contains("another machine (cores "), "{refused}");
    }

    #[test]
    fn run_of_other_sources_is_not_resumed() {
        let here = Host::snapshot();
        let of = |sources: &str| Plan { sources: Some(sources.into()), ..plan() };
        for now in [None, Some("one")] {
            of("one").fits(&here, now).unwrap();
        }
        let refused = of("one").fits(&here, Some("other")).unwrap_err().to_string();
        assert!(refused.contains("sources have changed"), "{refused}");
    }

    #[test]
    fn contender_of_another_version_is_refused_with_both_versions() {
        let hello = |version: &str| Hello { version: version.into(), ..Hello::default() };
        let known = Invited { text: "beam".into(), hello: Some(hello("25")), problem: None };
        known.is_still(&hello("25")).unwrap();
        let refused = known.is_still(&hello("26")).unwrap_err().to_string();
        assert!(refused.contains("beam") && refused.contains("\"25\" then, \"26\" now"));
        let other = Hello { experiments: vec!["call".into()], ..hello("25") };
        assert!(known.is_still(&other).is_err());
    }
}
