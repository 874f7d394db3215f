//! Hash of the sources that a run measures: tells whether stored figures are of the present code.
//!
//! A run stores the hash of the checkout in which it is started, and `make lab` builds that checkout
//! first. Tests, simulations, examples, documents, comments and the list of workspace members are left
//! out, because they do not change a figure.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The measured code, relative to the root of the repository: the profile and the versions of
/// dependencies, purlin's crates down to the allocator of processes, and the contenders.
const MEASURED: [&str; 15] = [
    "Cargo.toml",
    "contenders",
    "crates/ack",
    "crates/dist",
    "crates/dist-protocol",
    "crates/log",
    "crates/macros",
    "crates/polling",
    "crates/purlin",
    "crates/raw",
    "crates/sched",
    "crates/socket",
    "crates/term",
    "crates/timing",
    "crates/tls",
];

/// Names of files and folders that do not change a figure. What runs in virtual time is for tests.
const LEFT_OUT: [&str; 9] = [
    "benches",
    "examples",
    "fuzz",
    "proptest-regressions",
    "simulated.rs",
    "simulation.rs",
    "target",
    "tests",
    "tests.rs",
];

/// Endings of source files.
const ENDINGS: [&str; 8] = ["erl", "ex", "go", "java", "mod", "rs", "toml", "xml"];

/// Returns the hash of the checkout that contains `folder`; `None` if there is no checkout or it cannot be
/// read.
///
/// COST: reads every measured source file.
pub fn of_checkout(folder: &Path) -> Option<String> {
    let root = folder.ancestors().find(|root| MEASURED.iter().all(|part| root.join(part).exists()));
    sources(root?).ok()
}

/// Returns the hash of the measured sources below the root of the repository.
fn sources(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for part in MEASURED {
        find(&root.join(part), &mut files)?;
    }
    let mut named = Vec::new();
    for file in files {
        let relative = file.strip_prefix(root).unwrap_or(&file);
        named.push((relative.to_string_lossy().replace('\\', "/"), file));
    }
    named.sort();
    let mut hash = Sha256::new();
    for (name, file) in named {
        let content = code(&name, fs::read_to_string(file)?);
        // The length separates each file from the next.
        hash.update(format!("{name}\0{}\0", content.len()));
        hash.update(content);
    }
    let half =
        hash.finalize().iter().take(16).fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    Ok(format!("{half:032x}"))
}

/// Returns the text of a file without what does not change a figure: lines of comments, and of the
/// workspace's manifest all but the profiles and the versions of dependencies.
fn code(name: &str, text: String) -> String {
    match name {
        "Cargo.toml" => {
            let tables = text.split("\n[").filter(|table| {
                table.starts_with("profile") || table.starts_with("workspace.dependencies]")
            });
            tables.collect::<Vec<_>>().join("\n[")
        }
        name if name.ends_with(".rs") => {
            let lines = text.lines().filter(|line| {
                let line = line.trim_start();
                !line.is_empty() && !line.starts_with("//")
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => text,
    }
}

/// Appends the source files at or below a path.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if LEFT_OUT.contains(&&*name) {
        return Ok(());
    }
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            find(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)) {
        files.push(path.to_path_buf());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[workspace]\nmembers = [\"one\"]\n[profile.release]\nlto = true\n[workspace.lints]\n";

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    /// Creates a checkout with one source file per part.
    fn checkout() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for part in MEASURED {
            if part.starts_with("Cargo") {
                fs::write(folder.path().join(part), MANIFEST).unwrap();
            } else {
                let source = folder.path().join(part).join("src");
                fs::create_dir_all(&source).unwrap();
                fs::write(source.join("lib.rs"), part).unwrap();
            }
        }
        folder
    }

    #[test]
    fn hash_depends_on_sources_and_not_on_tests_or_documents() {
        let folder = checkout();
        let below = folder.path().join("lab-results");
        fs::create_dir(&below).unwrap();
        let hash = || of_checkout(&below).expect("it is a checkout");
        let before = hash();
        assert!(before.len() == 32 && before.chars().all(|sign| sign.is_ascii_hexdigit()));
        for (unmeasured, text) in [
            ("crates/raw/README.md", "changed"),
            ("crates/raw/src/tests.rs", "changed"),
            ("crates/raw/src/simulated.rs", "changed"),
            ("crates/raw/src/simulation.rs", "changed"),
            ("crates/raw/src/lib.rs", "//! Documented.\n\ncrates/raw\n    // WHY"),
            ("Cargo.toml", &MANIFEST.replace("one", "two")),
        ] {
            fs::write(folder.path().join(unmeasured), text).unwrap();
            assert_eq!(hash(), before, "{unmeasured}");
        }
        for (measured, text) in [
            ("Cargo.toml", &*MANIFEST.replace("true", "false")),
            ("contenders/src/main.go", "changed"),
            ("crates/raw/src/lib.rs", "changed"),
        ] {
            let last = hash();
            fs::write(folder.path().join(measured), text).unwrap();
            assert_ne!(hash(), last, "{measured}");
        }
    }

    #[test]
    fn folder_outside_of_a_checkout_has_no_hash() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_checkout(folder.path()), None);
    }

    /// Every crate of the repository that a measured crate depends on is measured, too, except where
    /// it runs on simulated cores.
    #[test]
    fn measured_crates_are_closed_under_dependencies() {
        let manifests = MEASURED.iter().filter(|part| part.starts_with("crates/"));
        let mut manifests: Vec<_> = manifests.map(|part| root().join(part)).collect();
        manifests.extend(
            fs::read_dir(root().join("contenders")).unwrap().map(|one| one.unwrap().path()),
        );
        for folder in manifests.iter().filter(|folder| folder.join("Cargo.toml").is_file()) {
            let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let own = text.split("\n[").filter(|table| {
                table.starts_with("dependencies]")
                    || (table.contains(".dependencies]") && !table.contains("purlin_cores"))
            });
            for line in own.flat_map(str::lines).filter(|line| line.starts_with("purlin")) {
                let name = line.split(['.', ' ', '=']).next().unwrap();
                let part = match name.strip_prefix("purlin-") {
                    Some("contender") => "contenders".to_owned(),
                    Some(name) => format!("crates/{name}"),
                    None => "crates/purlin".to_owned(),
                };
                assert!(MEASURED.contains(&&*part), "{} needs {part}", folder.display());
            }
        }
    }
}
