//! Rule: code the compiler cannot vouch for stands in crates/raw and nowhere else.
//!
//! The compiler enforces it where the attribute stands at the root of a crate; what this rule adds is
//! that the attribute does stand there, and that tests, examples and build scripts, which are crates
//! of their own and need not say so, hold no such code either.

use crate::finding::Finding;
use crate::tree::Tree;
use crate::workspace::Workspace;

const FENCED: &str = "crates/raw/";
const ATTRIBUTE: &str = "#![forbid(unsafe_code)]";
/// WHY: put together, so that this crate's files do not hold the word before a brace themselves.
const WORD: &str = concat!("un", "safe");
const ROOTS: [&str; 3] = ["lib", "bin", "proc-macro"];

pub(crate) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for target in ROOTS.iter().flat_map(|kind| workspace.targets(kind)) {
        let Some(file) = tree.file(&target.source) else {
            continue;
        };
        if !file.path.starts_with(FENCED) && !file.lines().any(|(_, line)| line.trim() == ATTRIBUTE)
        {
            findings.push(Finding::new(
                &file.path,
                1,
                format!("the root of a crate without {ATTRIBUTE}"),
                "add it under the crate's own documentation",
            ));
        }
    }
    for file in tree.with_ending("rs").filter(|file| !file.path.starts_with(FENCED)) {
        for (number, line) in file.lines().filter(|(_, line)| opens_block(line)) {
            findings.push(Finding::new(
                &file.path,
                number,
                format!("{WORD} code outside {FENCED}: {}", line.trim()),
                format!("write it without, or move it to {FENCED} behind a safe function"),
            ));
        }
    }
    findings
}

/// Does code on this line, comments apart, use the word as a keyword?
fn opens_block(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices(WORD).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + WORD.len()..].trim_start();
        let keyword =
            ["{", "fn", "impl", "trait", "extern"].iter().any(|next| after.starts_with(next));
        keyword && !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '"' | '`'))
    })
}

#[cfg(test)]
mod tests {
    use super::{WORD, check};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    #[test]
    fn a_crate_root_without_the_attribute_is_found() {
        let fixture = Fixture::new("unsafety-root")
            .library("purlin", "")
            .file("purlin/src/lib.rs", "//! No fence.\n");
        let workspace = fixture.workspace(&["purlin"]);
        demand(
            &check(&fixture.tree(), &workspace),
            &["purlin/src/lib.rs:1: the root of a crate without"],
        );
    }

    #[test]
    fn a_block_in_a_test_or_an_example_is_found() {
        let block = format!("fn main() {{\n    {WORD} {{ f() }}\n}}\n");
        let implementation = format!("{WORD} impl Send for A {{}}\n");
        let fixture = Fixture::new("unsafety-block")
            .library("purlin", "")
            .file("examples/a.rs", &block)
            .file("purlin/tests/b.rs", &implementation);
        let workspace = fixture.workspace(&["purlin"]);
        demand(&check(&fixture.tree(), &workspace), &["examples/a.rs:2:", "purlin/tests/b.rs:1:"]);
    }

    #[test]
    fn raw_may_and_a_comment_about_it_is_no_code() {
        let fixture = Fixture::new("unsafety-raw")
            .library("purlin", "")
            .file("crates/raw/src/cell.rs", &format!("{WORD} fn f() {{}}\n"))
            .file("purlin/src/a.rs", &format!("// {WORD} {{ would be needed here }}\n"));
        let workspace = fixture.workspace(&["purlin"]);
        demand_none(&check(&fixture.tree(), &workspace));
    }
}
