//! Small trees on disk that violate a rule deliberately.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::Tree;
use crate::workspace::Workspace;

/// A separate directory, emptied first; `name` must be unique among the tests.
pub(crate) struct Fixture {
    root: PathBuf,
    lints: String,
}

impl Fixture {
    pub(crate) fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if root.exists() {
            fs::remove_dir_all(&root).expect("an old fixture can be removed");
        }
        fs::create_dir_all(&root).expect("a fixture can be made");
        Self { root, lints: String::new() }
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a directory"))
            .expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
        self
    }

    /// Adds a library without dependencies; `workspace` writes the root manifest.
    pub(crate) fn library(self, name: &str) -> Self {
        self.manifest(name, "")
    }

    /// Adds a library with these lines at the end of its manifest.
    pub(crate) fn manifest(self, name: &str, more: &str) -> Self {
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}"
        );
        self.file(&format!("{name}/Cargo.toml"), &manifest)
            .file(&format!("{name}/src/lib.rs"), "//! A fixture.\n")
    }

    /// Sets the lint tables that `workspace` writes.
    pub(crate) fn workspace_lints(self, lints: &str) -> Self {
        Self { lints: lints.to_string(), ..self }
    }

    pub(crate) fn tree(&self) -> Tree {
        Tree::read(&self.root)
    }

    pub(crate) fn workspace(&self, members: &[&str]) -> Workspace {
        let manifest = format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[workspace.package]\n\
             rust-version = \"1.88\"\n\n{}",
            self.lints
        );
        fs::write(self.root.join("Cargo.toml"), manifest).expect("a manifest can be written");
        Workspace::read(&self.root).expect("cargo can describe the fixture")
    }
}
