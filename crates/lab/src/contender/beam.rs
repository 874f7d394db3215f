//! The BEAM's contender: Erlang source that travels with the lab and is compiled at need.
//!
//! The compiled modules are kept in a folder named after the source and the
//! runtime, so that a change of either compiles afresh, and two runs at once
//! never see each other's half.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, process};

use super::answer::one_line;
use super::find::CommandLine;
use crate::error::Problem;

/// The modules, by their file names.
const SOURCES: [(&str, &str); 14] = [
    ("asking.erl", include_str!("../../../../contenders/beam/asking.erl")),
    ("calls.erl", include_str!("../../../../contenders/beam/calls.erl")),
    ("contender.erl", include_str!("../../../../contenders/beam/contender.erl")),
    ("crashing_server.erl", include_str!("../../../../contenders/beam/crashing_server.erl")),
    ("echo_server.erl", include_str!("../../../../contenders/beam/echo_server.erl")),
    ("exchange.erl", include_str!("../../../../contenders/beam/exchange.erl")),
    ("exits.erl", include_str!("../../../../contenders/beam/exits.erl")),
    ("hog.erl", include_str!("../../../../contenders/beam/hog.erl")),
    ("messages.erl", include_str!("../../../../contenders/beam/messages.erl")),
    ("mini_json.erl", include_str!("../../../../contenders/beam/mini_json.erl")),
    ("params.erl", include_str!("../../../../contenders/beam/params.erl")),
    ("processes.erl", include_str!("../../../../contenders/beam/processes.erl")),
    ("restarts.erl", include_str!("../../../../contenders/beam/restarts.erl")),
    ("waiting.erl", include_str!("../../../../contenders/beam/waiting.erl")),
];

/// How the compiled contender is started.
///
/// The user's options come last, where the runtime lets them win.
pub(super) fn command(
    erl: PathBuf,
    code: &Path,
    options: impl Iterator<Item = OsString>,
) -> CommandLine {
    // WHY: the runtime's own limit of 262 144 processes is too low for a million.
    let mut arguments: Vec<OsString> = ["+P", "4000000"].map(OsString::from).to_vec();
    arguments.extend(options);
    arguments.extend(["-noshell", "-pa"].map(OsString::from));
    arguments.push(code.into());
    arguments.extend(["-s", "contender", "main"].map(OsString::from));
    CommandLine {
        program: erl,
        arguments,
        // WHY: no crash dump in the user's folder.
        variables: vec![("ERL_CRASH_DUMP_SECONDS", "0")],
    }
}

/// The folder of the compiled modules; compiles them unless they are there.
///
/// # Errors
///
/// One line, if the folder cannot be written or the compiler refuses.
pub(super) fn compiled(erl: &Path, erlc: &Path, cache: &Path) -> Result<PathBuf, Problem> {
    let folder = cache.join(format!("beam-{:016x}", identity(erl)));
    if folder.is_dir() {
        return Ok(folder);
    }
    let own = cache.join(format!("beam-{:016x}.{}", identity(erl), process::id()));
    let outcome = compile(erlc, &own).and_then(|()| {
        // Another run may have been faster; then its folder is as good.
        if fs::rename(&own, &folder).is_ok() || folder.is_dir() {
            Ok(folder.clone())
        } else {
            Err(unwritable(&folder, "it cannot be put in place"))
        }
    });
    let _ = fs::remove_dir_all(&own);
    outcome
}

fn compile(erlc: &Path, folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error.to_string()))?;
    for (name, source) in SOURCES {
        let file = folder.join(name);
        fs::write(&file, source).map_err(|error| unwritable(&file, &error.to_string()))?;
    }
    let output = Command::new(erlc)
        .arg("-o")
        .arg(folder)
        .args(SOURCES.map(|(name, _)| folder.join(name)))
        .output()
        .map_err(|error| Problem::new(format!("beam: cannot start {}: {error}", erlc.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let first = one_line(said.lines().next().unwrap_or("it says nothing"));
    Err(Problem::new(format!("beam: {} cannot compile the contender: {first}", erlc.display())))
}

/// A number for this source on this runtime.
fn identity(erl: &Path) -> u64 {
    let mut hash = DefaultHasher::new();
    SOURCES.hash(&mut hash);
    let erl = erl.canonicalize().unwrap_or_else(|_| erl.into());
    if let Ok(file) = erl.metadata() {
        (file.len(), file.modified().ok()).hash(&mut hash);
    }
    erl.hash(&mut hash);
    hash.finish()
}

fn unwritable(path: &Path, why: &str) -> Problem {
    Problem::new(format!(
        "beam: cannot write {}: {why}; make it writable or set XDG_CACHE_HOME",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_of_the_contender_travels_with_the_lab() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contenders/beam");
        let mut there: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".erl"))
            .collect();
        there.sort();
        assert_eq!(there, SOURCES.map(|(name, _)| name));
    }

    #[test]
    fn the_users_options_follow_the_labs_own() {
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

    #[cfg(unix)]
    #[test]
    fn a_compiler_that_refuses_is_one_line_and_leaves_nothing_behind() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let erlc = folder.path().join("erlc");
        fs::write(&erlc, "#!/bin/sh\necho 'a.erl:1: wrong'\necho more\nexit 1\n").unwrap();
        fs::set_permissions(&erlc, fs::Permissions::from_mode(0o755)).unwrap();
        let cache = folder.path().join("cache");
        let refused = compiled(&erlc, &erlc, &cache).unwrap_err().to_string();
        assert!(refused.ends_with("cannot compile the contender: a.erl:1: wrong"), "{refused}");
        assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
    }
}
