//! Environment variables that change a runtime or what its compiler makes.
//!
//! The lab clears them for contenders and their compilers, because a report does not show them. An
//! option of a contender sets them, and a report shows it.

use std::ffi::OsStr;
use std::process::Command;

const SETTINGS: [&str; 17] = [
    "ELIXIR_ERL_OPTIONS",
    "ERL_AFLAGS",
    "ERL_COMPILER_OPTIONS",
    "ERL_FLAGS",
    "ERL_ZFLAGS",
    "GOAMD64",
    "GOARM64",
    "GODEBUG",
    "GOEXPERIMENT",
    "GOGC",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVAC_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "TOKIO_WORKER_THREADS",
    "_JAVA_OPTIONS",
];

/// Returns a command without these variables of the lab's own environment.
pub(super) fn without_settings(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in SETTINGS {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_variable_that_is_an_option_reaches_a_program() {
        let mut command = without_settings("program");
        command.envs([("GOGC", "off")]);
        let set: Vec<_> = command.get_envs().collect();
        assert_eq!(set.len(), SETTINGS.len());
        for (variable, value) in set {
            assert_eq!(value, (variable == "GOGC").then_some("off".as_ref()), "{variable:?}");
        }
    }
}
