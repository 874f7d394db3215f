//! `purlin lab list`: lists the experiments and the contenders.

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use crate::contender::{BUILT_IN, ELSEWHERE, LOAD, Surroundings};
use crate::experiments;

#[derive(Debug, Args)]
pub(super) struct ListOptions {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Returns the list.
pub(super) fn list(options: &ListOptions, surroundings: &Surroundings) -> String {
    if options.json { json(surroundings) } else { text(surroundings) }
}

/// Renders the list as JSON. `missing` is null where nothing is.
fn json(surroundings: &Surroundings) -> String {
    let client = surroundings.missing(LOAD);
    let experiments = experiments::ALL.iter().map(|experiment| {
        let missing = if experiment.id.starts_with("ack-") { client.as_deref() } else { None };
        json!({ "id": experiment.id, "what": experiment.what, "missing": missing })
    });
    let built_in = BUILT_IN.iter().map(|(id, what)| (id, what, surroundings.missing(id)));
    let elsewhere = ELSEWHERE.iter().map(|(id, what, way)| (id, what, Some((*way).to_owned())));
    let contenders = built_in
        .chain(elsewhere)
        .map(|(id, what, missing)| json!({ "id": id, "what": what, "missing": missing }));
    let experiments: Vec<_> = experiments.collect();
    let contenders: Vec<_> = contenders.collect();
    format!("{:#}\n", json!({ "experiments": experiments, "contenders": contenders }))
}

fn text(surroundings: &Surroundings) -> String {
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
