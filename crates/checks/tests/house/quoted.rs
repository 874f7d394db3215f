//! Rule: an ignored Rust block of a document, after a paragraph that links to `a test`, has its items in that test.
//! Statements differ, because a test has no `?`.

use crate::finding::Finding;
use crate::links::resolve;
use crate::tree::Tree;

const LINK: &str = "[a test](";
const FENCE: &str = "```rust,ignore\n";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_ending("md").filter(|file| !file.is_third_party()) {
        let mut rest = file.text.as_str();
        while let Some((before, after)) = rest.split_once(FENCE) {
            let (block, next) = after.split_once("```").unwrap_or((after, ""));
            let paragraph = before.trim_end().rsplit("\n\n").next().unwrap_or_default();
            rest = next;
            let Some((_, link)) = paragraph.split_once(LINK) else { continue };
            let path = link.split(')').next().unwrap_or_default();
            let test = resolve(&file.path, path).and_then(|path| tree.file(&path));
            let test = compact(test.map_or("", |test| &test.text));
            for item in block.split("\n\n").filter(|item| !item.starts_with("let ")) {
                if !test.contains(&compact(item)) {
                    let line = file.text[..file.text.len() - after.len()].lines().count();
                    let first = item.trim().lines().next().unwrap_or_default();
                    findings.push(Finding::new(
                        &file.path,
                        line,
                        format!("`{first}` is not as in {path}"),
                        "make the document and the test agree",
                    ));
                }
            }
        }
    }
    findings
}

/// Returns the text without what rustfmt may change: white space, and the comma after the last element.
fn compact(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    [")", "}", "]"].iter().fold(text, |text, end| text.replace(&format!(",{end}"), end))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    const TEST: &str = "struct A;\n\nfn double(\n    n: u32,\n) -> u32 {\n    2 * n\n}\n";

    fn page(block: &str) -> String {
        format!("Elsewhere ([a test](../tests/a.rs) runs it):\n\n```rust,ignore\n{block}```\n")
    }

    #[test]
    fn a_block_that_differs_from_its_test_is_found() {
        let tree = Fixture::new("quoted-other")
            .file("docs/a.md", &page("struct A;\n\nfn double(n: u32) -> u32 { 3 * n }\n"))
            .file("docs/b.md", &page("struct A;\n").replace("a.rs", "b.rs"))
            .file("tests/a.rs", TEST)
            .tree();
        demand(
            &check(&tree),
            &[
                "docs/a.md:3: `fn double(n: u32) -> u32 { 3 * n }` is not as in ../tests/a.rs",
                "docs/b.md:3: `struct A;` is not as in ../tests/b.rs",
            ],
        );
    }

    #[test]
    fn format_statements_and_blocks_without_a_test_are_ignored() {
        let block = "fn double(n: u32) -> u32 { 2 * n }\n\nlet four = double(2)?;\n";
        let other = "```rust,ignore\nfn other() {}\n```\n";
        let tree = Fixture::new("quoted-same")
            .file("docs/a.md", &format!("{}\nText:\n\n{other}", page(block)))
            .file("tests/a.rs", TEST)
            .tree();
        demand_none(&check(&tree));
    }
}
