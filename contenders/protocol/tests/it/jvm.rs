//! Conformance of the contenders on the JVM, compiled and run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};

use crate::built::{built, sources};

/// Folder of the sources that both contenders share; each has a folder of its own below.
const SHARED: &str = "jvm/src/main/java/contender";

/// Folder of plain programs of a user of Pekko, which are compared with the contender.
const INDEPENDENT: &str = "jvm/src/independent/java";

/// Experiments that neither contender can express.
const MISSING: [&str; 6] =
    ["call-deep", "reply-deep", "selective", "link-churn", "exit-cascade", "signals"];

/// The oldest JDK with virtual threads.
const OLDEST: &str = "21";

/// Returns the folder of a recent JDK: that of `JAVA_HOME`, of the `javac` on the path, or one beside
/// the latter.
fn jdk() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).find_map(|bin| bin.join("javac").canonicalize().ok());
    let on_path = on_path.and_then(|javac| Some(javac.parent()?.parent()?.to_path_buf()));
    let beside = on_path.as_ref().and_then(|home| fs::read_dir(home.parent()?).ok());
    let beside = beside.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let named = env::var_os("JAVA_HOME").map(PathBuf::from);
    named.into_iter().chain(on_path).chain(beside).find(|home| {
        let known =
            Command::new(home.join("bin/javac")).args(["--release", OLDEST, "-version"]).output();
        known.is_ok_and(|output| output.status.success())
    })
}

/// Returns the JDK and the folder of a compiled contender, by the name of its folder; `None` if a tool
/// is not installed or Maven has no network.
fn compiled(name: &str) -> Option<(PathBuf, PathBuf)> {
    // WHY not a failure: a JDK is only needed for comparisons, not by purlin.
    let Some(jdk) = jdk() else {
        println!(
            "skipped: there is no JDK 21 or later: install one, on Debian 13 with `apt-get install openjdk-21-jdk-headless`"
        );
        return None;
    };
    let javac = jdk.join("bin/javac").to_string_lossy().into_owned();
    let own = sources(&format!("{SHARED}/{name}"), "java");
    let mut files = [sources(SHARED, "java"), own, sources("jvm", "xml")].concat();
    if name == "pekko" {
        files.extend(sources(INDEPENDENT, "java"));
    }
    let folder = built(&format!("contender-{name}"), &[&javac], &files, |folder| {
        if name == "pekko" && !fetched(folder) {
            return false;
        }
        let mut compiler = Command::new(&javac);
        compiler.args(["--release", OLDEST, "-Xlint:all,-path,-serial", "-Werror", "-cp"]);
        compiler.arg(folder.join("lib/*")).arg("-d").arg(folder.join("classes"));
        compiler
            .args(files.iter().filter(|file| file.extension().is_some_and(|end| end == "java")));
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "javac: {}", String::from_utf8_lossy(&output.stderr));
        true
    });
    folder.map(|folder| (jdk, folder))
}

/// Fetches the libraries into the folder `lib`; returns `false` if Maven is not installed or cannot
/// reach its repository.
fn fetched(folder: &Path) -> bool {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jvm/pom.xml");
    fs::copy(project, folder.join("pom.xml")).unwrap();
    let mut maven = Command::new("mvn");
    maven.current_dir(folder).args(["--quiet", "--batch-mode", "dependency:copy-dependencies"]);
    match maven.args(["-DincludeScope=runtime", "-DoutputDirectory=lib"]).output() {
        Err(error) => {
            println!(
                "skipped: mvn cannot be started ({error}): install Maven, on Debian with `apt-get install maven`"
            );
            false
        }
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let unreachable = ["Could not transfer", "Unknown host", "Cannot access"];
            assert!(unreachable.iter().any(|reason| said.contains(reason)), "mvn: {said}");
            println!(
                "skipped: Maven cannot reach its repository: {}",
                said.lines().next().unwrap_or_default()
            );
            false
        }
    }
}

fn java(flags: &[&str], class: &str, (jdk, folder): &(PathBuf, PathBuf)) -> Command {
    let mut command = Command::new(jdk.join("bin/java"));
    let path = [folder.join("classes"), folder.join("lib/*")];
    command.args(flags).arg("-cp").arg(env::join_paths(path).unwrap());
    command.arg(class);
    command
}

#[test]
fn pekko_contender_conforms_to_the_protocol() {
    if let Some(built) = compiled("pekko") {
        assert_eq!(examine(|| java(&[], "contender.pekko.Main", &built)), Ok(MISSING.to_vec()));
    }
}

#[test]
fn virtual_threads_contender_conforms_to_the_protocol() {
    if let Some(built) = compiled("threads") {
        let missing = [&MISSING[..5], &["restart"], &MISSING[5..]].concat();
        assert_eq!(examine(|| java(&[], "contender.threads.Main", &built)), Ok(missing));
    }
}

#[test]
fn notes_name_the_versions_the_collector_and_the_flags() {
    let Some(built) = compiled("threads") else {
        return;
    };
    let serial = || java(&["-XX:+UseSerialGC"], "contender.threads.Main", &built);
    let hello = Contender::start(serial()).unwrap().ask(r#"{"op":"hello"}"#).unwrap();
    assert!(hello["version"].as_str().unwrap().contains("on JDK "), "{hello}");
    let notes = hello["notes"].to_string();
    assert!(notes.contains("-XX:+UseSerialGC") && notes.contains("MarkSweepCompact"), "{notes}");
}

#[test]
fn pekko_settings_are_flags_of_the_jvm() {
    let Some(built) = compiled("pekko") else {
        return;
    };
    let flags = ["-Dpekko.actor.default-dispatcher.throughput=77"];
    let mut contender = Contender::start(java(&flags, "contender.pekko.Main", &built)).unwrap();
    let hello = contender.ask(r#"{"op":"hello"}"#).unwrap();
    assert!(hello["notes"].to_string().contains("throughput of 77"), "{hello}");
}

#[test]
fn independent_programs_of_pekko_run() {
    let Some(built) = compiled("pekko") else {
        return;
    };
    let mut plain = Contender::start(java(&[], "PlainPekko", &built)).unwrap();
    let hello = plain.ask(r#"{"op":"hello"}"#).unwrap();
    for experiment in hello["experiments"].as_array().unwrap() {
        let run = format!(r#"{{"op":"run","experiment":{experiment},"params":{{"n":1000}}}}"#);
        let answer = plain.ask(&run).unwrap();
        assert_eq!(answer["ops"], 1000, "{experiment}: {answer}");
    }
}
