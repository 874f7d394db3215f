//! Warnings about the validity of figures, each with advice.
//!
//! The module that detects a problem creates a [`Warning`]; the run prints it when it arises, lists
//! all warnings at the end ([`list`]) and stores them. Pure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::wrap;

/// Maximum number of warnings listed per kind; all are stored.
const LISTED: usize = 4;

/// A threat to the validity of figures, as it is stored; field names are part of the file format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The kind; all warnings of a kind have the same advice.
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
    /// Creates a warning that concerns the whole run.
    pub(crate) fn new(kind: &str, message: impl Into<String>, advice: &str) -> Self {
        Self {
            kind: kind.into(),
            experiment: None,
            contender: None,
            message: message.into(),
            advice: advice.into(),
        }
    }

    /// Sets the experiment, and the contender if the warning concerns only one.
    pub(crate) fn about(self, experiment: &str, contender: Option<&str>) -> Self {
        let (experiment, contender) = (Some(experiment.into()), contender.map(Into::into));
        Self { experiment, contender, ..self }
    }

    /// Returns the warning that a run was interrupted.
    pub(crate) fn interrupted() -> Self {
        Self::new("interrupted", "the run was stopped before its end", "go on with --resume")
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.message, self.advice)
    }
}

/// Renders the warnings of a run grouped by kind, with the advice once per kind; empty without
/// warnings.
pub(crate) fn list(warnings: &[Warning]) -> String {
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

    fn invalid(contender: &str) -> Warning {
        let reason = "received is 3, and 4 were sent; ".repeat(6);
        Warning::new("void", reason.trim_end(), "believe nothing").about("call", Some(contender))
    }

    #[test]
    fn warning_is_stored_with_its_subject_and_advice() {
        let stored = serde_json::to_value(invalid("beam")).unwrap();
        assert_eq!((&stored["kind"], &stored["experiment"]), (&"void".into(), &"call".into()));
        assert_eq!(stored["contender"], "beam");
        let stored = serde_json::to_value(Warning::interrupted()).unwrap();
        assert!(stored["experiment"].is_null() && stored["contender"].is_null());
    }

    #[test]
    fn list_has_each_advice_once_and_respects_the_width() {
        let all: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(invalid).into();
        let text = list(&[&all[..], &[Warning::interrupted()]].concat());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("believe nothing").count(), 1, "{text}");
        assert!(text.contains("and 2 more of this kind"), "{text}");
        assert!(text.ends_with(
            "warning: the run was stopped before its end\n         → go on with --resume\n"
        ));
        assert_eq!(list(&[]), "");
    }
}
