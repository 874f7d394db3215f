//! The BEAM contender, in Erlang: compilation and command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::find::CommandLine;
use super::settings::without_settings;
use super::sources::{self, Sources};
use crate::error::Problem;

const SOURCES: Sources = Sources { id: "beam", files: sources::BEAM };

/// Maximum number of processes. WHY: the runtime's default of 262 144 is too low for a million.
pub(super) const PROCESS_LIMIT: [&str; 2] = ["+P", "4000000"];

/// Returns the variables of a runtime that leaves no crash dump in the user's folder.
pub(super) fn no_crash_dump() -> Vec<(String, String)> {
    vec![("ERL_CRASH_DUMP_SECONDS".into(), "0".into())]
}

/// Returns the command line of the compiled contender.
///
/// The user's options come last; the runtime gives them precedence.
pub(super) fn command(
    erl: PathBuf,
    code: &Path,
    options: impl Iterator<Item = OsString>,
) -> CommandLine {
    let mut arguments: Vec<OsString> = PROCESS_LIMIT.map(OsString::from).to_vec();
    arguments.extend(options);
    arguments.extend(["-noshell", "-pa"].map(OsString::from));
    arguments.push(code.into());
    arguments.extend(["-s", "contender", "main"].map(OsString::from));
    CommandLine { program: erl, arguments, variables: no_crash_dump() }
}

/// Returns the folder of the compiled modules; compiles them unless they are cached.
///
/// Fails if the folder cannot be written or the compiler fails.
pub(super) fn compiled(erl: &Path, erlc: &Path, cache: &Path) -> Result<PathBuf, Problem> {
    SOURCES.compiled(&[erl], cache, |folder| {
        let files = SOURCES.files.iter().map(|(name, _)| folder.join(name));
        SOURCES.run(without_settings(erlc).arg("-o").arg(folder).args(files))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_options_follow_the_labs_options() {
        let options = ["+sbwt", "none"].map(OsString::from);
        let line = command("erl".into(), Path::new("/code"), options.into_iter());
        assert_eq!(
            line.arguments,
            [
                "+P",
                "4000000",
                "+sbwt",
                "none",
                "-noshell",
                "-pa",
                "/code",
                "-s",
                "contender",
                "main"
            ]
        );
    }
}
