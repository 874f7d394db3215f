//! Finding of a rule: place, violation, remedy.

use std::fmt;

/// One place that violates a rule.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// Counted from 1; 0 for the whole file.
    pub(crate) line: usize,
    pub(crate) wrong: String,
    pub(crate) remedy: String,
}

impl Finding {
    pub(crate) fn new(
        path: impl Into<String>,
        line: usize,
        wrong: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line, wrong: wrong.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}; {}", self.wrong, self.remedy)
    }
}

/// Fails the test with one line for each finding.
#[track_caller]
pub(crate) fn demand_none(findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

/// Fails unless there is exactly one finding for each expected text, in order, that contains it.
#[track_caller]
pub(crate) fn demand(findings: &[Finding], expected: &[&str]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let agree =
        lines.len() == expected.len() && lines.iter().zip(expected).all(|(l, e)| l.contains(e));
    assert!(agree, "expected {expected:#?}, found {lines:#?}");
}
