//! Table of the repository's contenders: which source file holds an experiment, and which programs
//! run the function of the control.

use std::collections::BTreeMap;

/// A contender of the repository.
pub(super) struct Program {
    /// The contender's id.
    id: &'static str,
    /// Whether it runs `tail-call` with the function of the crate `purlin-contender`.
    control: bool,
    /// Source files, relative to `contenders/`.
    files: &'static [&'static str],
}

// The table `PROGRAMS`, written by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Names of source files, without ending, of experiments that have no file of their own name; the preferred one first.
/// A name may begin with a folder.
const MODULES: [(&[&str], &[&str]); 18] = [
    (&["call-vs-send", "tail-call"], &["calls"]),
    (&["spawn-chain", "serial-spawn"], &["processes", "chains"]),
    (&["message-size", "message-moved", "bandwidth"], &["exchange"]),
    (&["ping-pong"], &["messages", "asking"]),
    (&["throughput", "fan-in"], &["flow", "messages", "fan-in"]),
    (&["fan-out"], &["messages", "flow"]),
    (&["thread-ring"], &["ring", "messages"]),
    (&["call", "call-deep", "reply-deep", "selective"], &["asking", "messages"]),
    (&["fork-join", "skynet"], &["trees", "processes"]),
    (&["timer-expiry"], &["timers"]),
    (&["idle-memory"], &["idle"]),
    (&["monitor-churn", "link-churn", "exit-cascade"], &["exits"]),
    (&["restart"], &["restarts", "exits"]),
    (
        &["bounded-buffer", "chameneos", "dictionary", "philosophers", "spread"],
        &["savina/buffer", "savina-calls"],
    ),
    (&["logistic-map", "banking", "sieve", "big"], &["savina/logistic", "savina"]),
    (&["dist-send", "dist-round-trip"], &["nodes"]),
    (&["dist-call"], &["node-calls", "nodes"]),
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
        &["acks", "ack-server", "server"],
    ),
];

/// Names of the file in which a program begins.
const ENTRIES: [&str; 2] = ["main", "contender"];

/// Returns the path, relative to the repository, of the file in which a contender runs an experiment, or of the file in
/// which the program begins if no file is named after the experiment.
///
/// Returns `None` for a contender that is not in the repository. A release after `@` and options after a colon are
/// ignored.
fn source(label: &str, experiment: &str) -> Option<String> {
    let program = program(label)?;
    let modules = MODULES.iter().find(|(experiments, _)| experiments.contains(&experiment));
    let modules = modules.map_or(&[][..], |(_, modules)| modules);
    let candidates = [&experiment].into_iter().chain(modules).chain(&ENTRIES);
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
    let id = label.split([':', '@']).next().unwrap_or_default();
    PROGRAMS.iter().find(|program| program.id == id)
}

impl Program {
    /// Returns the file of this name; case and punctuation are ignored. A file `mod` has the name of its folder.
    fn file(&self, name: &str) -> Option<&'static str> {
        let name: Vec<_> = name.split('/').map(letters).collect();
        let named = |file: &&&str| {
            let (path, _) = file.rsplit_once('.').unwrap_or((file, ""));
            let path = path.strip_suffix("/mod").unwrap_or(path);
            path.split('/').map(letters).collect::<Vec<_>>().ends_with(&name)
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
        for (id, _) in BUILT_IN {
            for experiment in ALL {
                let path = source(id, experiment.id).expect("the program begins somewhere");
                assert!(root.join(&path).is_file(), "{path}");
            }
        }
        for (id, experiment, path) in [
            ("tokio:--workers 1", "ping-pong", "tokio/src/messages.rs"),
            ("tokio", "throughput", "tokio/src/flow.rs"),
            ("tokio", "call", "tokio/src/messages.rs"),
            ("tokio", "bounded-buffer", "tokio/src/savina/buffer.rs"),
            ("tokio", "ack-best", "tokio/src/acks/mod.rs"),
            ("purlin", "banking", "purlin/src/savina/banking.rs"),
            ("purlin", "dist-call", "purlin/src/node_calls.rs"),
            ("beam", "hog", "beam/hog.erl"),
            ("beam@29", "dist-call", "beam/nodes.erl"),
            ("elixir", "logistic-map", "elixir/logistic_map.ex"),
            ("go", "spread", "go/savina_calls.go"),
            ("go", "sieve", "go/savina.go"),
            ("go", "signals", "go/main.go"),
            ("pekko", "throughput", "jvm/src/main/java/contender/pekko/FanIn.java"),
            (
                "virtual-threads",
                "ack-sync-ack",
                "jvm/src/main/java/contender/threads/AckServer.java",
            ),
        ] {
            let found = source(id, experiment).unwrap_or_default();
            assert_eq!(found, format!("contenders/{path}"), "{id} {experiment}");
        }
        assert_eq!(source("mine", "hog"), None);
    }

    #[test]
    fn programs_with_the_common_function_form_the_control() {
        for id in ["purlin", "tokio", "ractor", "kameo", "actix", "may"] {
            assert!(runs_control(id), "{id}");
        }
        for id in ["beam", "go", "elixir", "pekko", "threads", "mine"] {
            assert!(!runs_control(id), "{id}");
        }
    }
}
