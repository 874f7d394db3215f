//! Rule: every crate of the workspace inherits its lints and its Rust version.
//!
//! Both are opt-in, and cargo does not warn if a manifest omits them. The lints include
//! `unsafe_code = "forbid"`, clippy's `incompatible_msrv` and the others of `[workspace.lints]`.

use crate::finding::Finding;
use crate::tree::{File, Tree};
use crate::workspace::Workspace;

const VERSION: &str = "rust-version.workspace = true";
/// The crate that may contain unsafe code; it has a copy of the lints without that one.
const RAW: &str = "purlin-raw";
const UNSAFE_CODE: &str = "unsafe_code = ";

pub(crate) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in &workspace.crates {
        let Some(manifest) = tree.file(&one.manifest) else {
            continue;
        };
        if !manifest.lines().any(|(_, line)| line.trim() == VERSION) {
            findings.push(Finding::new(
                &one.manifest,
                0,
                format!("{} does not inherit the Rust version", one.name),
                format!("add `{VERSION}` to [package]"),
            ));
        }
        if one.name == RAW {
            findings.extend(check_copy(tree, manifest));
        } else if table(manifest, "[lints]") != ["workspace = true"] {
            findings.push(Finding::new(
                &one.manifest,
                0,
                format!("{} does not inherit the lints", one.name),
                "add a table [lints] with `workspace = true`",
            ));
        }
    }
    findings
}

fn check_copy(tree: &Tree, manifest: &File) -> Vec<Finding> {
    let Some(root) = tree.file("Cargo.toml") else {
        return Vec::new();
    };
    let differs = |tool: &&&str| {
        let mut due = table(root, &format!("[workspace.lints.{tool}]"));
        due.retain(|line| !line.starts_with(UNSAFE_CODE));
        table(manifest, &format!("[lints.{tool}]")) != due
    };
    let finding = |tool| {
        Finding::new(
            &manifest.path,
            0,
            format!("[lints.{tool}] is not what the workspace has, without {UNSAFE_CODE}…"),
            "copy the lines of the root manifest",
        )
    };
    ["rust", "clippy"].iter().filter(differs).map(finding).collect()
}

/// Returns the lines of a table of a manifest, without comments and empty lines.
fn table<'a>(manifest: &'a File, header: &str) -> Vec<&'a str> {
    let lines = manifest.text.lines().skip_while(|line| line.trim() != header).skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    const LINTS: &str = "\n[lints]\nworkspace = true\n";

    #[test]
    fn a_manifest_that_inherits_neither_is_found_twice() {
        let fixture = Fixture::new("manifests-bare").library("purlin");
        let workspace = fixture.workspace(&["purlin"]);
        demand(
            &check(&fixture.tree(), &workspace),
            &["purlin does not inherit the Rust version", "purlin does not inherit the lints"],
        );
    }

    #[test]
    fn separate_lints_are_found_and_those_of_raw_are_compared() {
        let own = "rust-version.workspace = true\n\n[lints.rust]\nmissing_docs = \"warn\"\n";
        let rust = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nmissing_docs = \"warn\"\n";
        let clippy = "\n[workspace.lints.clippy]\ntodo = \"warn\"\n";
        let fixture = |name, lints: &str| {
            Fixture::new(name)
                .manifest("purlin", own)
                .manifest("purlin-raw", own)
                .workspace_lints(lints)
        };
        let members = ["purlin", "purlin-raw"];

        let same = fixture("manifests-raw-same", rust);
        let workspace = same.workspace(&members);
        demand(&check(&same.tree(), &workspace), &["purlin does not inherit the lints"]);

        let more = fixture("manifests-raw-more", &(rust.to_string() + clippy));
        let workspace = more.workspace(&members);
        demand(
            &check(&more.tree(), &workspace),
            &["purlin does not inherit", "purlin-raw/Cargo.toml: [lints.clippy] is not what"],
        );
    }

    #[test]
    fn a_manifest_that_inherits_both_passes() {
        let both = format!("rust-version.workspace = true\n{LINTS}");
        let lints = "[workspace.lints.clippy]\ntodo = \"warn\"\n";
        let fixture =
            Fixture::new("manifests-good").manifest("purlin", &both).workspace_lints(lints);
        let workspace = fixture.workspace(&["purlin"]);
        demand_none(&check(&fixture.tree(), &workspace));
    }
}
