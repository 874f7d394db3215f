//! Search for the programs of the built-in contenders.
//!
//! Reads the environment once, in [`Surroundings::from_environment`], and checks which files exist.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::jvm;

/// The built-in contenders, in display order.
pub const BUILT_IN: [(&str, &str); 14] = [
    ("purlin", "this project's processes"),
    ("beam", "the real Erlang runtime"),
    ("beam@27", "the same contender on Erlang/OTP 27"),
    ("beam@29", "the same contender on Erlang/OTP 29"),
    ("tokio", "plain tokio tasks and channels"),
    ("ractor", "actors of ractor"),
    ("kameo", "actors of kameo"),
    ("actix", "actors of actix, on one arbiter"),
    ("go", "Go's goroutines and channels"),
    ("may", "stackful coroutines of may"),
    ("elixir", "Elixir on the real Erlang runtime"),
    ("pekko", "typed actors of Apache Pekko, on the JVM"),
    ("virtual-threads", "Java's virtual threads and queues"),
    ("threads", "blocking servers over TCP"),
];

/// Built-in contenders with options that take part by default, each after the one without.
///
/// WHY: tokio's tasks move between workers at almost every message, while one worker runs short
/// turns back to back, so the default alone would show tokio at its slower setting.
pub(super) const WITH_OPTIONS: [&str; 1] = ["tokio:--workers 1"];

/// The load client of the experiments with servers: a Rust program like the contenders, but not a
/// contender.
pub const LOAD: &str = "load";

/// Known runtimes without a contender: id, description, and how to measure the runtime
/// nevertheless.
pub const ELSEWHERE: [(&str, &str, &str); 1] = [(
    "ergo",
    "actors of ergo, a framework for Go",
    "the lab has no contender for it; with Go, `go get ergo.services/ergo@latest` and a program after docs/lab/own-runtime.md it is measured as 'ergo=COMMAND'",
)];

/// Runtimes searched for in `PATH`: contender, required programs, and how to install them.
const RUNTIMES: [(&str, &[&str], &str); 5] = [
    (
        "beam",
        &["erl", "erlc"],
        "install Erlang (Debian: apt-get install erlang-base, macOS: brew install erlang)",
    ),
    (
        "go",
        &["go"],
        "install Go 1.19 or later (Debian: apt-get install golang-go, macOS: brew install go)",
    ),
    (
        "elixir",
        &["elixir", "elixirc", "erlc"],
        "install Elixir (Debian: apt-get install elixir, macOS: brew install elixir)",
    ),
    ("pekko", &["mvn"], "install Maven (Debian: apt-get install maven, macOS: brew install maven)"),
    ("virtual-threads", &[], ""),
];

/// The environment in which contenders are searched for.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folder that holds the contenders written in Rust, such as `contender-tokio`.
    pub contenders: PathBuf,
    /// The search path for programs.
    pub path: OsString,
    /// The folder that caches compiled contenders between runs.
    pub cache: PathBuf,
    /// The folder of the JDK that the user prefers.
    pub java_home: Option<PathBuf>,
}

/// The command line of a contender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The path of the program.
    pub program: PathBuf,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables set in addition to the inherited ones.
    pub variables: Vec<(String, String)>,
}

impl Surroundings {
    /// Reads the environment: `PURLIN_CONTENDERS` or the folder of this program, `PATH`, `JAVA_HOME`, and
    /// the user's cache folder.
    pub fn from_environment() -> Self {
        let beside = || {
            let own = env::current_exe().ok()?;
            Some(own.parent()?.to_path_buf())
        };
        Self {
            contenders: env::var_os("PURLIN_CONTENDERS")
                .map(PathBuf::from)
                .or_else(beside)
                .unwrap_or_default(),
            path: env::var_os("PATH").unwrap_or_default(),
            cache: dirs::cache_dir().unwrap_or_else(env::temp_dir).join("purlin"),
            java_home: env::var_os("JAVA_HOME").map(PathBuf::from),
        }
    }

    /// Returns the path of a program found in the search path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let file = format!("{name}{}", env::consts::EXE_SUFFIX);
        env::split_paths(&self.path)
            .map(|folder| folder.join(&file))
            .find(|candidate| is_program(candidate))
    }

    /// Returns the folder of an Erlang/OTP release, whether or not it exists.
    ///
    /// `scripts/otp.sh` fills it.
    fn release(&self, release: &str) -> PathBuf {
        self.cache.join("otp").join(release).join("bin")
    }

    /// Returns the path of a runtime's program: in the search path, or for a contender such as
    /// `beam@29` in the folder of its release.
    pub(super) fn tool(&self, id: &str, name: &str) -> Option<PathBuf> {
        match id.split_once('@') {
            None => self.program(name),
            Some((_, release)) => {
                Some(self.release(release).join(name)).filter(|tool| is_program(tool))
            }
        }
    }

    /// Returns the path of a contender's executable, whether or not the file exists.
    pub(super) fn executable(&self, id: &str) -> PathBuf {
        self.contenders.join(format!("contender-{id}{}", env::consts::EXE_SUFFIX))
    }

    /// Returns the command line of the load client.
    pub fn load_client(&self) -> CommandLine {
        CommandLine { program: self.executable(LOAD), arguments: Vec::new(), variables: Vec::new() }
    }

    /// Returns what a built-in contender, or [`LOAD`], lacks to run here and how to install it; `None`
    /// if it can run.
    pub fn missing(&self, id: &str) -> Option<String> {
        if let Some(("beam", release)) = id.split_once('@') {
            let tools = ["erl", "erlc"];
            let tool = tools.into_iter().find(|tool| self.tool(id, tool).is_none())?;
            return Some(format!(
                "there is no {}; scripts/otp.sh {release} installs that release, or link the erl and erlc of an installed one there",
                self.release(release).join(tool).display()
            ));
        }
        if let Some((_, tools, remedy)) = RUNTIMES.iter().find(|(known, ..)| *known == id) {
            let tool = tools.iter().find(|tool| self.program(tool).is_none());
            return tool
                .map(|tool| format!("there is no {tool} on the path; {remedy}"))
                .or_else(|| jvm::runs(id).then(|| jvm::missing(self)).flatten());
        }
        let executable = self.executable(id);
        (!is_program(&executable)).then(|| {
            format!(
                "there is no {}; build it with cargo build --release -p contender-{id}, or set \
                 PURLIN_CONTENDERS to its folder",
                executable.display()
            )
        })
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> Surroundings {
        Surroundings {
            contenders: "/nowhere".into(),
            path: OsString::new(),
            cache: "/nowhere".into(),
            java_home: None,
        }
    }

    #[test]
    fn missing_program_is_named_with_its_remedy() {
        let beam = nowhere().missing("beam").unwrap();
        assert!(beam.contains("no erl") && beam.contains("apt-get install erlang-base"));
        let release = nowhere().missing("beam@29").unwrap();
        assert!(release.starts_with("there is no /nowhere/otp/29/bin/erl; scripts/otp.sh 29 "));
        let go = nowhere().missing("go").unwrap();
        assert!(go.contains("no go on the path") && go.contains("apt-get install golang-go"));
        let elixir = nowhere().missing("elixir").unwrap();
        assert!(elixir.contains("no elixir on the path") && elixir.contains("install elixir"));
        let pekko = nowhere().missing("pekko").unwrap();
        assert!(pekko.contains("no mvn on the path") && pekko.contains("install maven"));
        let threads = nowhere().missing("virtual-threads").unwrap();
        assert!(threads.contains("no JDK 21") && threads.contains("install openjdk-21-jdk"));
        let tokio = nowhere().missing("tokio").unwrap();
        assert!(tokio.contains("cargo build --release -p contender-tokio"));
    }

    #[cfg(unix)]
    #[test]
    fn program_is_found_on_the_path_and_a_file_that_is_not_executable_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("contender-tokio"), "").unwrap();
        let surroundings = Surroundings {
            contenders: folder.path().into(),
            path: "/usr/bin:/bin".into(),
            cache: folder.path().into(),
            java_home: None,
        };
        assert!(surroundings.program("sh").is_some());
        assert!(surroundings.missing("tokio").is_some());
    }
}
