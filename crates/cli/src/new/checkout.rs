//! Checkout of purlin that a new project depends on.

use std::fs;
use std::io;
use std::path::Path;

use purlin_lab::error::Problem;

/// Folder of this crate in the checkout that the command was built from.
const OWN: &str = env!("CARGO_MANIFEST_DIR");
/// Crates that a project uses.
const CRATES: [&str; 2] = ["crates/purlin/Cargo.toml", "crates/testkit/Cargo.toml"];

/// Checkout of purlin that exists.
pub(super) struct Checkout(String);

impl Checkout {
    /// Finds the checkout in this folder, or the one that this command was built from.
    pub(super) fn find(folder: Option<&Path>) -> Result<Self, Problem> {
        let path = folder.or(Path::new(OWN).ancestors().nth(2)).unwrap_or(Path::new(OWN));
        if !CRATES.iter().all(|manifest| path.join(manifest).is_file()) {
            let wrong = format!("no checkout of purlin in {}", path.display());
            return Err(Problem::new(match folder {
                Some(_) => format!("{wrong}: give the folder that contains crates/purlin"),
                None => format!("{wrong}, where this command was built: give one with --path"),
            }));
        }
        let path = fs::canonicalize(path)
            .map_err(|error| Problem::new(format!("{}: {error}", path.display())))?;
        match path.to_str() {
            Some(text) if is_plain(text) => Ok(Self(text.to_owned())),
            _ => Err(Problem::new(format!(
                "the path {} has a quote, a backslash, a dollar sign or a control character: give \
                 another one of the checkout with --path",
                path.display()
            ))),
        }
    }

    /// Returns the absolute path, which can stand between double quotes in TOML, in JSON and in a shell.
    pub(super) fn path(&self) -> &str {
        &self.0
    }

    /// Copies the versions of the libraries that this checkout is tested with.
    pub(super) fn copy_lock(&self, to: &Path) -> io::Result<()> {
        let lock = Path::new(&self.0).join("Cargo.lock");
        let copied = fs::copy(&lock, to).map(drop);
        copied.map_err(|error| io::Error::other(format!("{}: {error}", lock.display())))
    }
}

/// Returns whether no character has a meaning between double quotes.
fn is_plain(path: &str) -> bool {
    !path.contains(|c: char| c.is_control() || "\"'`\\$".contains(c))
}
