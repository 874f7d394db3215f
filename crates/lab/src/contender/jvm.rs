//! The contenders on the JVM: search for a JDK, compilation and command line.
//!
//! Both are one Maven project. Maven fetches the libraries of `pekko` on first use; `virtual-threads`
//! needs the JDK only.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::find::{CommandLine, Surroundings};
use super::settings::without_settings;
use super::sources::{self, Sources};
use crate::error::Problem;

const PEKKO: Sources = Sources { id: "pekko", files: sources::PEKKO };
const THREADS: Sources = Sources { id: "virtual-threads", files: sources::VIRTUAL_THREADS };

/// The first version with virtual threads.
const OLDEST: u32 = 21;

/// How to install a JDK.
const REMEDY: &str = "there is no JDK 21 or later in JAVA_HOME, on the path or beside the one on the path; \
    install one (Debian 13: apt-get install openjdk-21-jdk-headless, macOS: brew install openjdk)";

/// Returns whether this contender runs on the JVM.
pub(super) fn runs(id: &str) -> bool {
    [PEKKO.id, THREADS.id].contains(&id)
}

/// Returns why no JDK is found; `None` if there is one.
pub(super) fn missing(surroundings: &Surroundings) -> Option<String> {
    home(surroundings).is_none().then(|| REMEDY.to_owned())
}

/// Returns the command line; compiles the contender unless it is cached.
///
/// The user's options are flags of the JVM and come before the class. Fails if the JDK or Maven is
/// missing, the folder cannot be written or a tool fails.
pub(super) fn command(
    id: &str,
    surroundings: &Surroundings,
    options: impl Iterator<Item = OsString>,
) -> Result<CommandLine, Problem> {
    let home = home(surroundings).ok_or_else(|| Problem::new(format!("{id}: {REMEDY}")))?;
    let (java, javac) = (tool(&home, "java"), tool(&home, "javac"));
    let (folder, class) = if id == PEKKO.id {
        let maven = surroundings
            .program("mvn")
            .ok_or_else(|| Problem::new(format!("{id}: there is no mvn on the path")))?;
        let folder = PEKKO.compiled(&[&javac, &maven], &surroundings.cache, |folder| {
            fetch(&maven, folder)?;
            compile(PEKKO, &javac, folder)
        })?;
        (folder, "contender.pekko.Main")
    } else {
        let cache = &surroundings.cache;
        let folder =
            THREADS.compiled(&[&javac], cache, |folder| compile(THREADS, &javac, folder))?;
        (folder, "contender.threads.Main")
    };
    let arguments = options.chain(["-cp".into(), class_path(&folder)?, class.into()]).collect();
    Ok(CommandLine { program: java, arguments, variables: Vec::new() })
}

/// Fetches the libraries into the folder `lib`.
fn fetch(maven: &Path, folder: &Path) -> Result<(), Problem> {
    let mut maven = Command::new(maven);
    maven.current_dir(folder).args(["--quiet", "--batch-mode", "dependency:copy-dependencies"]);
    maven.args(["-DincludeScope=runtime", "-DoutputDirectory=lib"]);
    PEKKO.run(&mut maven).map_err(|problem| {
        Problem::new(format!(
            "{problem}; Maven fetches Pekko from Maven Central on first use, or from a mirror named in ~/.m2/settings.xml"
        ))
    })
}

fn compile(sources: Sources, javac: &Path, folder: &Path) -> Result<(), Problem> {
    let names = sources.files.iter().map(|(name, _)| folder.join(name));
    let names = names.filter(|name| name.extension().is_some_and(|ending| ending == "java"));
    let release = OLDEST.to_string();
    let mut javac = without_settings(javac);
    javac.args(["--release", &release, "-cp"]).arg(class_path(folder)?);
    sources.run(javac.arg("-d").arg(folder.join("classes")).args(names))
}

fn class_path(folder: &Path) -> Result<OsString, Problem> {
    env::join_paths([folder.join("classes"), folder.join("lib").join("*")]).map_err(|_| {
        Problem::new(format!(
            "{}: the JVM cannot use a folder with this character; set XDG_CACHE_HOME to another",
            folder.display()
        ))
    })
}

fn tool(home: &Path, name: &str) -> PathBuf {
    home.join("bin").join(format!("{name}{}", env::consts::EXE_SUFFIX))
}

/// Returns the folder of a JDK: that of `JAVA_HOME` or of the `javac` on the path if it is recent
/// enough, otherwise the newest of those in the same folder as the latter.
fn home(surroundings: &Surroundings) -> Option<PathBuf> {
    let named = surroundings.java_home.clone();
    let on_path = surroundings.program("javac").and_then(|javac| javac.canonicalize().ok());
    let on_path = on_path.and_then(|javac| Some(javac.parent()?.parent()?.to_path_buf()));
    let recent = |home: &PathBuf| version(home).is_some_and(|version| version >= OLDEST);
    if let Some(home) = [named, on_path.clone()].into_iter().flatten().find(recent) {
        return Some(home);
    }
    let installed = fs::read_dir(on_path?.parent()?).ok()?;
    let installed = installed.filter_map(|entry| Some(entry.ok()?.path())).filter(recent);
    installed.max_by_key(|home| (version(home), home.clone()))
}

/// Returns the feature version of the JDK in this folder, such as 21; `None` if there is no JDK.
fn version(home: &Path) -> Option<u32> {
    if !tool(home, "javac").is_file() {
        return None;
    }
    let release = fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    version.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Installs empty JDKs of these versions side by side; the path has the first of them.
    fn installed(folder: &Path, versions: &[&str]) -> Surroundings {
        for version in versions {
            let home = folder.join(version);
            fs::create_dir_all(home.join("bin")).unwrap();
            fs::write(tool(&home, "javac"), "").unwrap();
            fs::set_permissions(tool(&home, "javac"), fs::Permissions::from_mode(0o755)).unwrap();
            let release = format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\n");
            fs::write(home.join("release"), release).unwrap();
        }
        Surroundings {
            contenders: folder.into(),
            path: folder.join(versions[0]).join("bin").into(),
            cache: folder.into(),
            java_home: None,
        }
    }

    #[test]
    fn jdk_of_java_home_or_the_path_is_used_before_a_newer_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mut surroundings = installed(&folder, &["21.0.2", "25.0.3", "24-ea"]);
        assert_eq!(home(&surroundings), Some(folder.join("21.0.2")));
        surroundings.java_home = Some(folder.join("24-ea"));
        assert_eq!(home(&surroundings), Some(folder.join("24-ea")));
    }

    #[test]
    fn newest_jdk_beside_one_that_is_too_old_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mut surroundings = installed(&folder, &["17.0.15", "21.0.2", "25.0.3", "1.8.0_392"]);
        assert_eq!(home(&surroundings), Some(folder.join("25.0.3")));
        assert_eq!(missing(&surroundings), None);
        surroundings.path = OsString::new();
        assert!(missing(&surroundings).unwrap().contains("install openjdk-21-jdk-headless"));
    }

    #[test]
    fn user_flags_precede_the_class() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let surroundings = installed(&folder, &["21.0.2"]);
        fs::write(tool(&folder.join("21.0.2"), "javac"), "#!/bin/sh\n").unwrap();
        let flags = ["-XX:+UseParallelGC"].map(OsString::from).into_iter();
        let line = command("virtual-threads", &surroundings, flags).unwrap();
        assert_eq!(line.program, folder.join("21.0.2/bin/java"));
        assert_eq!(line.arguments[0], "-XX:+UseParallelGC");
        assert_eq!(line.arguments.last().unwrap(), "contender.threads.Main");
    }
}
