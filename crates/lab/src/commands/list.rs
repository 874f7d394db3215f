//! `purlin lab list`: lists the experiments and the contenders.

use std::fmt::Write;

use crate::contender::{BUILT_IN, ELSEWHERE, LOAD, Surroundings};
use crate::experiments;

/// Returns the text of the list.
pub(super) fn list(surroundings: &Surroundings) -> String {
    let mut text = String::from("Experiments (purlin lab run -e ID,…)\n");
    for experiment in experiments::ALL {
        let _ = writeln!(text, "  {:<17} {}", experiment.id, experiment.what);
    }
    if let Some(missing) = surroundings.missing(LOAD) {
        let _ = writeln!(text, "  those with a server (ack-…) cannot run here: {missing}");
    }
    text.push_str("\nContenders (purlin lab run -c ID,…)\n");
    for (id, what) in BUILT_IN {
        let _ = match surroundings.missing(id) {
            None => writeln!(text, "  {id:<15} {what}; can run here"),
            Some(missing) => writeln!(text, "  {id:<15} {what}; cannot run here: {missing}"),
        };
    }
    for (id, what, way) in ELSEWHERE {
        let _ = writeln!(text, "  {id:<15} {what}; cannot run here: {way}");
    }
    text.push_str(
        "  ID:OPTIONS      the same with options for its runtime, such as 'beam:+sbwt none'\n  \
         NAME=COMMAND    any program that speaks the contender protocol, such as 'mine=python3 mine.py':\n\
         \x20                 docs/lab/own-runtime.md has a whole one in twenty lines of Python\n",
    );
    text
}
