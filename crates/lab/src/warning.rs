//! Warnings about the validity of figures, each with advice.
//!
//! The module that detects a problem creates a [`Warning`]; the run prints it when it arises, lists
//! all warnings at the end ([`list`]) and stores them ([`StoredWarning`]). Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::{short, wrap};
use crate::profile::FEWEST;

/// Maximum number of warnings listed per kind; all are stored.
const LISTED: usize = 4;

/// A threat to the validity of figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Other programs keep the machine busy.
    MachineLoaded {
        /// Percentage of all cores' time.
        percent: f64,
        /// The programs, each with the number of cores it uses.
        busiest: Vec<String>,
    },
    /// The hypervisor gave processor time to other guests.
    Steal {
        /// The experiment; `None` for before the run.
        experiment: Option<String>,
        /// Percentage of the time.
        percent: f64,
    },
    /// A control group limits CPU time.
    Quota {
        /// The limit in cores.
        allowed: f64,
        /// Number of online cores.
        online: usize,
    },
    /// CPU affinity excludes some cores.
    Pinned {
        /// Number of usable cores.
        allowed: usize,
        /// Number of online cores.
        online: usize,
    },
    /// The frequency depends on the load.
    Governor {
        /// The governors.
        governors: String,
    },
    /// Programs wait for memory.
    MemoryPressure {
        /// Percentage of the time.
        percent: f64,
    },
    /// Too few rounds for a confidence interval.
    FewSamples,
    /// Samples failed their validity check.
    Invalid {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// Number of invalid samples.
        count: usize,
        /// Reason of the first one.
        reason: String,
    },
    /// A figure has outliers.
    Outliers {
        /// The experiment's id.
        experiment: String,
        /// The contenders, with their numbers of outliers.
        counts: Vec<OutlierCount>,
    },
    /// A figure rose or fell steadily from round to round.
    Drift {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// Change in percent from the first round to the last.
        percent: f64,
        /// Number of rounds.
        rounds: usize,
    },
    /// A sample is short relative to the overhead of measuring.
    Instrument {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// Duration of the sample in µs.
        elapsed_us: f64,
        /// The overhead.
        what: &'static str,
        /// The overhead in percent of the sample.
        percent: f64,
    },
    /// The run was interrupted.
    Interrupted,
    /// The run was interrupted and resumed.
    Resumed {
        /// Time, RFC 3339 in UTC.
        at: String,
        /// Number of samples before the resumption.
        after: usize,
    },
}

/// Number of outliers of a contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlierCount {
    /// The contender's label.
    pub contender: String,
    /// Number of outliers.
    pub count: usize,
    /// Number of samples.
    pub of: usize,
}

/// A warning as it is stored; field names are part of the file format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWarning {
    /// The kind.
    pub kind: String,
    /// The experiment it concerns, or null.
    pub experiment: Option<String>,
    /// The contender it concerns, or null.
    pub contender: Option<String>,
    /// The problem, in one line.
    pub message: String,
    /// The advice, in one line.
    pub advice: String,
}

impl Warning {
    /// Returns the kind, as used in results.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::MachineLoaded { .. } => "machine-loaded",
            Self::Steal { .. } => "steal",
            Self::Quota { .. } => "quota",
            Self::Pinned { .. } => "pinned",
            Self::Governor { .. } => "governor",
            Self::MemoryPressure { .. } => "memory-pressure",
            Self::FewSamples => "few-samples",
            Self::Invalid { .. } => "void",
            Self::Outliers { .. } => "outliers",
            Self::Drift { .. } => "drift",
            Self::Instrument { .. } => "instrument",
            Self::Interrupted => "interrupted",
            Self::Resumed { .. } => "resumed",
        }
    }

    /// Returns the problem, in one line.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::MachineLoaded { percent, busiest } => {
                let who = match busiest.join(", ") {
                    names if names.is_empty() => names,
                    names => format!(" (cores: {names})"),
                };
                format!("other programs take {percent:.0} % of the machine before the run{who}")
            }
            Self::Steal { experiment, percent } => {
                let during = experiment.as_deref().unwrap_or("the machine before the run");
                format!("{during}: the hypervisor gave {percent:.1} % of the time to others")
            }
            Self::Quota { allowed, online } => {
                format!("a control group allows the time of {allowed} of {online} cores")
            }
            Self::Pinned { allowed, online } => {
                format!("only {allowed} of {online} cores may be used")
            }
            Self::Governor { governors } => {
                format!("the frequency of the cores follows the load (governor {governors})")
            }
            Self::MemoryPressure { percent } => {
                format!("programs waited for memory {percent:.1} % of the time before the run")
            }
            Self::FewSamples => {
                format!("with fewer than {FEWEST} samples the intervals are too narrow for 95 %")
            }
            Self::Invalid { experiment, contender, count, reason } => {
                let plural = if *count == 1 { " is" } else { "s are" };
                format!("{experiment} {contender}: {count} sample{plural} invalid: {reason}")
            }
            Self::Outliers { experiment, counts } => {
                let each = counts.iter();
                let each =
                    each.map(|one| format!("{} ({} of {})", one.contender, one.count, one.of));
                let each: Vec<_> = each.collect();
                format!("{experiment}: outliers: {}", each.join(", "))
            }
            Self::Drift { experiment, contender, percent, rounds } => format!(
                "{experiment} {contender} drifted by {percent:+.0} % over its {rounds} rounds"
            ),
            Self::Instrument { experiment, contender, elapsed_us, what, percent } => format!(
                "{what} is {percent:.0} % of the smallest sample ({} ms, {experiment}, {contender})",
                short(elapsed_us / 1000.0)
            ),
            Self::Interrupted => "the run was stopped before its end".into(),
            Self::Resumed { at, after } => {
                format!("the run was interrupted and went on at {at} behind {after} samples")
            }
        }
    }

    /// Returns the advice, in one line.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::MachineLoaded { .. } => "end them, or wait until they have, and run again",
            Self::Steal { .. } => "measure on a machine of its own, or at a quieter hour",
            Self::Quota { .. } => {
                "lift the quota: who uses it up stands still until the next period"
            }
            Self::Pinned { .. } => "compare only with runs on as many cores",
            Self::Governor { .. } => "set it to performance while measuring",
            Self::MemoryPressure { .. } => "end what needs much memory, and run again",
            Self::FewSamples => "do not judge by them; take --samples 6 or more",
            Self::Invalid { .. } => "believe nothing of this contender here until it keeps count",
            Self::Outliers { .. } => {
                "none is dropped, and a few do not move a median; see what else ran"
            }
            Self::Drift { .. } => {
                "ratios of the same rounds still hold; for the figure, measure longer or at rest"
            }
            Self::Instrument { .. } => "take longer samples: --sample-ms",
            Self::Interrupted => "go on with --resume",
            Self::Resumed { .. } => "what the machine did in between may divide the samples",
        }
    }

    fn concerns(&self) -> (Option<&String>, Option<&String>) {
        match self {
            Self::Steal { experiment, .. } => (experiment.as_ref(), None),
            Self::Invalid { experiment, contender, .. }
            | Self::Drift { experiment, contender, .. }
            | Self::Instrument { experiment, contender, .. } => (Some(experiment), Some(contender)),
            Self::Outliers { experiment, counts } => match counts.as_slice() {
                [only] => (Some(experiment), Some(&only.contender)),
                _ => (Some(experiment), None),
            },
            _ => (None, None),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.message(), self.advice())
    }
}

impl From<&Warning> for StoredWarning {
    fn from(warning: &Warning) -> Self {
        let (experiment, contender) = warning.concerns();
        Self {
            kind: warning.kind().into(),
            experiment: experiment.cloned(),
            contender: contender.cloned(),
            message: warning.message(),
            advice: warning.advice().into(),
        }
    }
}

/// Renders the warnings of a run grouped by kind, with the advice once per kind; empty without
/// warnings.
#[must_use]
pub fn list(warnings: &[StoredWarning]) -> String {
    let mut text = String::new();
    let mut kinds: Vec<&str> = Vec::new();
    for warning in warnings {
        if !kinds.contains(&warning.kind.as_str()) {
            kinds.push(&warning.kind);
        }
    }
    for kind in kinds {
        let own: Vec<_> = warnings.iter().filter(|warning| warning.kind == kind).collect();
        for warning in own.iter().take(LISTED) {
            wrap(&mut text, "warning: ", &warning.message);
        }
        if own.len() > LISTED {
            let more = format!("and {} more of this kind, in the results", own.len() - LISTED);
            wrap(&mut text, "         ", &more);
        }
        wrap(&mut text, "         → ", &own[0].advice);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::WIDTH;

    fn invalid(contender: &str) -> StoredWarning {
        let reason = "received is 3, and 4 were sent; ".repeat(6).trim_end().to_owned();
        let (experiment, contender) = ("call".to_owned(), contender.to_owned());
        (&Warning::Invalid { experiment, contender, count: 1, reason }).into()
    }

    #[test]
    fn warning_is_stored_with_its_subject_and_advice() {
        let stored = serde_json::to_value(invalid("beam")).unwrap();
        assert_eq!((&stored["kind"], &stored["experiment"]), (&"void".into(), &"call".into()));
        assert_eq!(stored["contender"], "beam");
        let stored = serde_json::to_value(StoredWarning::from(&Warning::FewSamples)).unwrap();
        assert!(stored["experiment"].is_null() && stored["contender"].is_null());
    }

    #[test]
    fn list_has_each_advice_once_and_respects_the_width() {
        let all: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(invalid).into();
        let text = list(&[&all[..], &[(&Warning::Interrupted).into()]].concat());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("believe nothing").count(), 1, "{text}");
        assert!(text.contains("and 2 more of this kind"), "{text}");
        assert!(text.ends_with(
            "warning: the run was stopped before its end\n         → go on with --resume\n"
        ));
        assert_eq!(list(&[]), "");
    }
}
