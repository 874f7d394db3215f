//! The Elixir contender: compilation and command line.
//!
//! It runs on the same runtime as the BEAM contender and shares its request parser, which is in
//! Erlang.

use std::path::{Path, PathBuf};

use super::beam::{PROCESS_LIMIT, no_crash_dump};
use super::find::CommandLine;
use super::settings::without_settings;
use super::sources::{self, Sources};
use crate::error::Problem;

const SOURCES: Sources = Sources { id: "elixir", files: sources::ELIXIR };

/// Returns the command line; compiles the contender unless it is cached.
///
/// Fails if a tool is missing, an option cannot be passed on, the folder cannot be written or a compiler
/// fails.
pub(super) fn command(
    program: impl Fn(&str) -> Result<PathBuf, Problem>,
    cache: &Path,
    options: &[String],
) -> Result<CommandLine, Problem> {
    let [elixir, elixirc, erlc] = [program("elixir")?, program("elixirc")?, program("erlc")?];
    let flags = flags(options)?;
    let compile = |folder: &Path| compile(&elixirc, &erlc, folder);
    let code = SOURCES.compiled(&[&elixir, &elixirc, &erlc], cache, compile)?;
    Ok(CommandLine {
        program: elixir,
        arguments: vec![
            "--erl".into(),
            flags.into(),
            "-pa".into(),
            code.into(),
            "-e".into(),
            "Contender.main()".into(),
        ],
        variables: no_crash_dump(),
    })
}

fn compile(elixirc: &Path, erlc: &Path, folder: &Path) -> Result<(), Problem> {
    let ending = |ending: &'static str| {
        let names = SOURCES.files.iter().map(|(name, _)| folder.join(name));
        names.filter(move |file| file.extension().is_some_and(|known| known == ending))
    };
    SOURCES.run(without_settings(erlc).arg("-o").arg(folder).args(ending("erl")))?;
    let mut elixirc = without_settings(elixirc);
    SOURCES.run(elixirc.arg("-pa").arg(folder).arg("-o").arg(folder).args(ending("ex")))
}

/// Returns the flags of the Erlang runtime: the lab's, then the user's, which the runtime gives
/// precedence.
fn flags(options: &[String]) -> Result<String, Problem> {
    // WHY: `elixir` splits the flags at blanks and supports no quotes.
    if let Some(option) = options.iter().find(|option| option.contains(char::is_whitespace)) {
        return Err(Problem::new(format!(
            "elixir: the option {option:?} has a blank in it, which `elixir --erl` cannot pass on; leave it out"
        )));
    }
    let flags = PROCESS_LIMIT.into_iter().chain(options.iter().map(String::as_str));
    Ok(flags.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_flags_follow_the_labs_flags_and_a_blank_is_refused() {
        let given = ["+sbwt", "none"].map(String::from);
        assert_eq!(flags(&given).unwrap(), "+P 4000000 +sbwt none");
        let refused = flags(&["a b".into()]).unwrap_err().to_string();
        assert!(refused.contains("\"a b\" has a blank"), "{refused}");
    }
}
