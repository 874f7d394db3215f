//! The workspace as cargo describes it: crates, what they depend on, what they are built into.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub(crate) struct Workspace {
    pub(crate) crates: Vec<Crate>,
}

pub(crate) struct Crate {
    pub(crate) name: String,
    /// The manifest's path, relative to the root.
    pub(crate) manifest: String,
    /// Crates of the same workspace that it depends on.
    pub(crate) needs: Vec<Need>,
    pub(crate) targets: Vec<Target>,
}

pub(crate) struct Need {
    pub(crate) name: String,
    /// Only its tests, examples and benches need it.
    pub(crate) only_tests: bool,
    /// The line of the manifest that says so, 0 if it was not found.
    pub(crate) line: usize,
}

pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Its root file, relative to the root of the tree.
    pub(crate) source: String,
}

impl Workspace {
    /// Asks cargo, which needs neither the network nor a lock file for it.
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
        let names: Vec<String> = packages.iter().map(|package| text(&package["name"])).collect();
        let crates = packages.iter().map(|package| describe(package, &names, &root)).collect();
        Ok(Self { crates })
    }

    pub(crate) fn targets(&self, kind: &str) -> impl Iterator<Item = &Target> {
        self.crates.iter().flat_map(|one| &one.targets).filter(move |target| target.kind == kind)
    }
}

fn describe(package: &Value, names: &[String], root: &Path) -> Crate {
    let path = text(&package["manifest_path"]);
    let manifest = std::fs::read_to_string(&path).unwrap_or_default();
    let needs = list(&package["dependencies"])
        .iter()
        .filter(|need| names.contains(&text(&need["name"])))
        .map(|need| {
            let name = text(&need["name"]);
            let line = manifest.lines().position(|line| {
                line.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
            });
            Need {
                only_tests: need["kind"] == "dev",
                line: line.map_or(0, |index| index + 1),
                name,
            }
        })
        .collect();
    let targets = list(&package["targets"])
        .iter()
        .map(|target| Target {
            name: text(&target["name"]),
            kind: text(&target["kind"][0]),
            source: relative(&text(&target["src_path"]), root),
        })
        .collect();
    Crate { name: text(&package["name"]), manifest: relative(&path, root), needs, targets }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// WHY: canonical, because a target outside its package comes as `crates/purlin/../../examples/…`.
fn relative(path: &str, root: &Path) -> String {
    let whole = Path::new(path);
    let whole = whole.canonicalize().unwrap_or_else(|_| whole.to_path_buf());
    let inside = whole.strip_prefix(root).unwrap_or(&whole);
    inside.to_string_lossy().replace('\\', "/")
}
