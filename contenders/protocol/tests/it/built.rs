//! Build cache of the contenders in other languages, shared by all test processes.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Folder of the sources of all contenders.
const CONTENDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the sources with this extension in the folder of a contender.
pub(crate) fn sources(contender: &str, extension: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(Path::new(CONTENDERS).join(contender)).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}

/// Returns the folder with the output of `build` for these sources and compilers; builds again only
/// if one of them has changed. Returns `None` if `build` returns `false`.
pub(crate) fn built(
    name: &str,
    compilers: &[&str],
    sources: &[PathBuf],
    build: impl FnOnce(&Path) -> bool,
) -> Option<PathBuf> {
    // Tests of one process build one after another.
    static BUILDS: Mutex<()> = Mutex::new(());
    let _builds = BUILDS.lock().unwrap_or_else(PoisonError::into_inner);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = all.join(format!("{name}-{:016x}", fingerprint(compilers, sources)));
    if folder.is_dir() {
        return Some(folder);
    }
    // WHY a temporary name: tests of other processes may build the same, and the final folder must
    // never be incomplete.
    let own = all.join(format!("{name}-of-{}", std::process::id()));
    let _ = fs::remove_dir_all(&own);
    fs::create_dir_all(&own).unwrap();
    if !build(&own) {
        return None;
    }
    // Fails if another process finished first; its folder is equivalent.
    if fs::rename(&own, &folder).is_err() {
        fs::remove_dir_all(&own).unwrap();
    }
    assert!(folder.is_dir(), "{} cannot be made", folder.display());
    Some(folder)
}

/// Returns a hash of the sources' contents and the compilers' files.
fn fingerprint(compilers: &[&str], sources: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for source in sources {
        (source, fs::read(source).unwrap()).hash(&mut hasher);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    for compiler in compilers {
        let found = env::split_paths(&path).find_map(|folder| {
            let file = fs::canonicalize(folder.join(compiler)).ok()?;
            let about = fs::metadata(&file).ok()?;
            Some((file, about.len(), about.modified().ok()))
        });
        found.hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the folder with the compiled Erlang contender; `None` if Erlang is not installed and may
/// not be.
pub(crate) fn erlang() -> Option<PathBuf> {
    let sources = sources("beam", "erl");
    built("contender-beam", &["erlc"], &sources, |folder| {
        let mut erlc = Command::new("erlc");
        erlc.args(["-Wall", "-Werror", "-o"]).arg(folder).args(&sources);
        match erlc.output() {
            Err(_) if env::var_os("PURLIN_NO_INSTALL").is_some_and(|value| value == "1") => {
                println!(
                    "skipped: there is no erlc, and PURLIN_NO_INSTALL=1 forbids installing it"
                );
                false
            }
            Err(error) => panic!(
                "erlc cannot be started ({error}): install Erlang, on Debian with `apt-get install erlang-base`, or run `make test`, which does"
            ),
            Ok(output) => {
                assert!(
                    output.status.success(),
                    "erlc: {}",
                    String::from_utf8_lossy(&output.stdout)
                );
                true
            }
        }
    })
}
