//! Table of the repository's contenders: which source file holds an experiment, and which programs
//! run the function of the control.

use std::collections::BTreeMap;

/// A contender of the repository.
pub(super) struct Program {
    /// The folder below `contenders/`, which is the contender's id.
    folder: &'static str,
    /// Whether it runs `tail-call` with the function of the crate `purlin-contender`.
    control: bool,
    /// Source files, relative to `contenders/`.
    files: &'static [&'static str],
}

// The table `PROGRAMS`, written by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Names of source files by experiments, without ending, the preferred one first.
const MODULES: [(&[&str], &[&str]); 13] = [
    (&["call-vs-send", "tail-call"], &["calls"]),
    (&["spawn-chain", "serial-spawn"], &["processes"]),
    (&["exchange", "message-size", "message-moved", "bandwidth"], &["exchange"]),
    (&["ping-pong", "throughput", "fan-in", "fan-out"], &["messages", "flow"]),
    (&["thread-ring"], &["ring", "messages"]),
    (&["call", "call-deep", "selective"], &["asking"]),
    (&["fork-join", "skynet"], &["trees", "processes"]),
    (&["timers", "timer-expiry"], &["timers", "waiting"]),
    (&["idle-memory"], &["idle", "waiting"]),
    (&["monitor-churn", "link-churn", "exit-cascade"], &["exits"]),
    (&["restart"], &["restarts", "exits"]),
    (&["dist-send", "dist-round-trip"], &["nodes"]),
    (
        &[
            "ack-request-reply",
            "ack-throttle",
            "ack-head-rest",
            "ack-sync-ack",
            "ack-async-ack",
            "ack-best",
            "ack-sync-or-async",
        ],
        &["acks", "server"],
    ),
];

/// Names of the file in which a program begins.
const ENTRIES: [&str; 2] = ["main", "contender"];

/// Returns the path, relative to the repository, of the file in which a contender runs an
/// experiment, or of the file in which the program begins if none is named after the experiment.
///
/// Returns `None` for a contender that is not in the repository. Options after a colon are ignored.
fn source(label: &str, experiment: &str) -> Option<String> {
    let program = program(label)?;
    let modules = MODULES.iter().find(|(experiments, _)| experiments.contains(&experiment));
    let modules = modules.map_or(&[][..], |(_, modules)| modules);
    let candidates = modules.iter().chain([&experiment]).chain(&ENTRIES);
    let file = candidates.filter_map(|name| program.file(name)).next();
    file.map(|file| format!("contenders/{file}"))
}

/// Returns the source file by experiment; empty for a contender that is not in the repository.
pub(crate) fn sources<'e>(
    label: &str,
    experiments: impl IntoIterator<Item = &'e str>,
) -> BTreeMap<String, String> {
    let entry = |experiment: &str| Some((experiment.to_owned(), source(label, experiment)?));
    experiments.into_iter().filter_map(entry).collect()
}

/// Returns whether a contender runs the function of the control.
pub(crate) fn runs_control(label: &str) -> bool {
    program(label).is_some_and(|program| program.control)
}

fn program(label: &str) -> Option<&'static Program> {
    let id = label.split(':').next().unwrap_or_default();
    PROGRAMS.iter().find(|program| program.folder == id)
}

impl Program {
    /// Returns the file of this name; case and punctuation are ignored.
    fn file(&self, name: &str) -> Option<&'static str> {
        let named = |file: &&&str| {
            let (_, last) = file.rsplit_once('/').unwrap_or(("", file));
            let (stem, _) = last.rsplit_once('.').unwrap_or((last, ""));
            letters(stem) == letters(name)
        };
        self.files.iter().find(named).copied()
    }
}

fn letters(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::find::BUILT_IN;
    use super::*;
    use crate::experiments::ALL;

    #[test]
    fn every_built_in_contender_has_a_source_for_every_experiment() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (id, _) in BUILT_IN.iter().filter(|(id, _)| program(id).is_some()) {
            for experiment in ALL {
                let path = source(id, experiment.id).expect("the program begins somewhere");
                assert!(root.join(&path).is_file(), "{path}");
            }
        }
        let found = |id: &str, experiment| source(id, experiment).unwrap_or_default();
        assert_eq!(found("tokio:--workers 1", "ping-pong"), "contenders/tokio/src/messages.rs");
        assert_eq!(found("beam", "hog"), "contenders/beam/hog.erl");
        assert_eq!(found("go", "signals"), "contenders/go/main.go");
        assert_eq!(source("mine", "hog"), None);
    }

    #[test]
    fn programs_with_the_common_function_form_the_control() {
        for id in ["purlin", "tokio", "ractor", "kameo", "actix"] {
            assert!(runs_control(id), "{id}");
        }
        for id in ["beam", "go", "elixir", "threads", "mine"] {
            assert!(!runs_control(id), "{id}");
        }
    }
}
