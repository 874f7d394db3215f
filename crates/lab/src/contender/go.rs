//! The Go contender: compilation and command line.
//!
//! Go's runtime is configured through environment variables, so its options are variables:
//! `go:GOMAXPROCS=1`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::find::CommandLine;
use super::settings::without_settings;
use super::sources::{self, Sources};
use crate::error::Problem;

const SOURCES: Sources = Sources { id: "go", files: sources::GO };

/// The environment variables Go's runtime reads.
const SETTINGS: [&str; 4] = ["GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT"];

/// Variables a user may have set for other builds; removed for this one.
const FOREIGN: [&str; 4] = ["GOARCH", "GOFLAGS", "GOOS", "GOROOT"];

/// Variables for a build without network, C compiler and user configuration.
const BUILD: [(&str, &str); 6] = [
    ("CGO_ENABLED", "0"),
    ("GO111MODULE", "on"),
    ("GOENV", "off"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
    ("GOWORK", "off"),
];

/// Returns the command line; compiles the contender unless it is cached.
///
/// Fails if an option is not a setting of the runtime, the folder cannot be written or
/// the compiler fails.
pub(super) fn command(go: &Path, cache: &Path, options: &[String]) -> Result<CommandLine, Problem> {
    let variables = options.iter().map(|option| setting(option)).collect::<Result<_, _>>()?;
    let folder = SOURCES.compiled(&[go], cache, |folder| build(go, folder))?;
    Ok(CommandLine { program: executable(&folder), arguments: Vec::new(), variables })
}

fn executable(folder: &Path) -> PathBuf {
    folder.join(format!("contender-go{}", env::consts::EXE_SUFFIX))
}

fn build(go: &Path, folder: &Path) -> Result<(), Problem> {
    // WHY: Go has no default cache folder without a home directory. The folder is removed
    // afterwards, because only the program is needed.
    let scratch = folder.join("scratch");
    let tool = |arguments: &[&str]| {
        let mut tool = without_settings(go);
        for variable in FOREIGN {
            tool.env_remove(variable);
        }
        tool.current_dir(folder).args(arguments).envs(BUILD);
        tool.env("GOCACHE", scratch.join("cache")).env("GOPATH", scratch.join("path"));
        tool
    };
    // WHY: the version in go.mod decides which defaults the runtime has, such as those of timers and
    // of GOMAXPROCS. `go mod init` writes the one that a new program gets with this compiler.
    let _ = fs::remove_file(folder.join("go.mod"));
    let built = SOURCES.run(&mut tool(&["mod", "init", "contender"])).and_then(|()| {
        let mut build = tool(&["build", "-trimpath", "-buildvcs=false", "-o"]);
        SOURCES.run(build.arg(executable(folder)).arg("."))
    });
    let _ = fs::remove_dir_all(&scratch);
    built
}

/// Parses an option such as `GOMAXPROCS=1` into an environment variable of the runtime.
fn setting(option: &str) -> Result<(String, String), Problem> {
    match option.split_once('=') {
        Some((name, value)) if SETTINGS.contains(&name) => Ok((name.into(), value.into())),
        _ => Err(Problem::new(format!(
            "go: {option:?} is no setting of Go's runtime; it has {}, such as 'go:GOMAXPROCS=1'",
            SETTINGS.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_the_runtime_reads_are_accepted_as_options() {
        assert_eq!(setting("GOMAXPROCS=1").unwrap(), ("GOMAXPROCS".into(), "1".into()));
        for option in ["GOMAXPROCS", "-v", "PATH=/", "gogc=off"] {
            let refused = setting(option).unwrap_err().to_string();
            assert!(refused.contains(option) && refused.contains("go:GOMAXPROCS=1"), "{refused}");
        }
    }
}
