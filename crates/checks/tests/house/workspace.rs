//! Crates and targets of the workspace, from `cargo metadata`.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub(crate) struct Workspace {
    pub(crate) crates: Vec<Crate>,
}

pub(crate) struct Crate {
    pub(crate) name: String,
    /// Path of the manifest, relative to the root.
    pub(crate) manifest: String,
    pub(crate) targets: Vec<Target>,
}

pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: String,
}

impl Workspace {
    /// Reads the metadata from cargo, without network access and without a lock file.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
        let output = Command::new(cargo)
            .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
            .current_dir(&root)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let described: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let packages = list(&described["packages"]);
        Ok(Self { crates: packages.iter().map(|package| describe(package, &root)).collect() })
    }

    pub(crate) fn targets(&self, kind: &str) -> impl Iterator<Item = &Target> {
        self.crates.iter().flat_map(|one| &one.targets).filter(move |target| target.kind == kind)
    }
}

fn describe(package: &Value, root: &Path) -> Crate {
    let path = text(&package["manifest_path"]);
    let targets = list(&package["targets"])
        .iter()
        .map(|target| Target { name: text(&target["name"]), kind: text(&target["kind"][0]) })
        .collect();
    Crate { name: text(&package["name"]), manifest: relative(&path, root), targets }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn relative(path: &str, root: &Path) -> String {
    let whole = Path::new(path);
    let inside = whole.strip_prefix(root).unwrap_or(whole);
    inside.to_string_lossy().replace('\\', "/")
}
