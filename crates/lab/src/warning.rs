//! Warnings: what a reader must know before believing a figure, each with what to do about it.
//!
//! Whoever finds something makes a [`Warning`]; the run says it when it arises,
//! lists all at the end ([`list`]) and stores them ([`StoredWarning`]). Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::profile::FEWEST;
use crate::table::{short, wrap};

/// How many of a kind are listed at the end; all are stored.
const LISTED: usize = 4;

/// Something that takes away from the trust in figures.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Others keep the machine busy.
    MachineLoaded {
        /// The percentage of all cores' time.
        percent: f64,
        /// The programs, each with the cores it keeps busy.
        busiest: Vec<String>,
    },
    /// The hypervisor gave the processor to others.
    Steal {
        /// In which experiment; before the run if none.
        experiment: Option<String>,
        /// The percentage of the time.
        percent: f64,
    },
    /// A control group limits the processor.
    Quota {
        /// The cores it allows.
        allowed: f64,
        /// Those that run.
        online: usize,
    },
    /// Some cores are out of reach.
    Pinned {
        /// The cores that may be used.
        allowed: usize,
        /// Those that run.
        online: usize,
    },
    /// The frequency follows the load.
    Governor {
        /// How it is chosen.
        governors: String,
    },
    /// Programs wait for memory.
    MemoryPressure {
        /// The percentage of the time.
        percent: f64,
    },
    /// Too few rounds for an interval.
    FewSamples,
    /// Samples failed their check.
    Void {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// How many.
        count: usize,
        /// Why the first of them did.
        reason: String,
    },
    /// Samples lie apart from the others of their figure.
    Outliers {
        /// The experiment's id.
        experiment: String,
        /// Whose, and how many.
        apart: Vec<Apart>,
    },
    /// A figure rose or fell steadily from round to round.
    Drift {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// By how much from the first round to the last.
        percent: f64,
        /// How many rounds those were.
        rounds: usize,
    },
    /// A sample is small beside what it was measured with.
    Instrument {
        /// The experiment's id.
        experiment: String,
        /// The contender's label.
        contender: String,
        /// The time of the sample in µs.
        elapsed_us: f64,
        /// What takes a share of it.
        what: &'static str,
        /// The share.
        percent: f64,
    },
    /// The run was stopped before its end.
    Interrupted,
    /// The run was interrupted and went on.
    Resumed {
        /// When, RFC 3339 in UTC.
        at: String,
        /// Behind how many samples.
        after: usize,
    },
}

/// Samples of a contender that lie apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Apart {
    /// The contender's label.
    pub contender: String,
    /// How many lie apart.
    pub count: usize,
    /// How many there are.
    pub of: usize,
}

/// A warning as it is stored; the names are those of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWarning {
    /// Its name.
    pub kind: String,
    /// The experiment that it concerns, or null.
    pub experiment: Option<String>,
    /// The contender that it concerns, or null.
    pub contender: Option<String>,
    /// What is the matter; one line.
    pub message: String,
    /// What can be done; one line.
    pub advice: String,
}

impl Warning {
    /// Its name in results.
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
            Self::Void { .. } => "void",
            Self::Outliers { .. } => "outliers",
            Self::Drift { .. } => "drift",
            Self::Instrument { .. } => "instrument",
            Self::Interrupted => "interrupted",
            Self::Resumed { .. } => "resumed",
        }
    }

    /// What is the matter, in one line.
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
            Self::Void { experiment, contender, count, reason } => {
                let plural = if *count == 1 { " is" } else { "s are" };
                format!("{experiment} {contender}: {count} sample{plural} void: {reason}")
            }
            Self::Outliers { experiment, apart } => {
                let each = apart.iter();
                let each =
                    each.map(|one| format!("{} ({} of {})", one.contender, one.count, one.of));
                let each: Vec<_> = each.collect();
                format!("{experiment}: samples lie apart from the others: {}", each.join(", "))
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

    /// What can be done about it, in one line.
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
            Self::Void { .. } => "believe nothing of this contender here until it keeps count",
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
            Self::Void { experiment, contender, .. }
            | Self::Drift { experiment, contender, .. }
            | Self::Instrument { experiment, contender, .. } => (Some(experiment), Some(contender)),
            Self::Outliers { experiment, apart } => match apart.as_slice() {
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

/// The warnings of a run, by kind, the advice once for each; empty without any.
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
            let more = format!("and {} more of {kind}, in the results", own.len() - LISTED);
            wrap(&mut text, "         ", &more);
        }
        wrap(&mut text, "         → ", &own[0].advice);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::WIDTH;

    fn void(contender: &str) -> StoredWarning {
        let reason = "received is 3, and 4 were sent; ".repeat(6).trim_end().to_owned();
        let (experiment, contender) = ("call".to_owned(), contender.to_owned());
        (&Warning::Void { experiment, contender, count: 1, reason }).into()
    }

    #[test]
    fn a_warning_is_stored_with_whom_it_concerns_and_its_advice() {
        let stored = serde_json::to_value(void("beam")).unwrap();
        assert_eq!((&stored["kind"], &stored["experiment"]), (&"void".into(), &"call".into()));
        assert_eq!(stored["contender"], "beam");
        let stored = serde_json::to_value(StoredWarning::from(&Warning::FewSamples)).unwrap();
        assert!(stored["experiment"].is_null() && stored["contender"].is_null());
    }

    #[test]
    fn the_list_tells_each_advice_once_and_stays_within_its_width() {
        let all: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(void).into();
        let text = list(&[&all[..], &[(&Warning::Interrupted).into()]].concat());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("believe nothing").count(), 1, "{text}");
        assert!(text.contains("and 2 more of void"), "{text}");
        assert!(text.ends_with(
            "warning: the run was stopped before its end\n         → go on with --resume\n"
        ));
        assert_eq!(list(&[]), "");
    }
}
