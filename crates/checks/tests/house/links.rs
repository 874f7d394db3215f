//! Rule: every relative link in a Markdown file leads to an existing file and heading.

use std::path::{Component, Path, PathBuf};

use crate::finding::Finding;
use crate::tree::{File, Tree};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_ending("md").filter(|file| !file.is_third_party()) {
        for (line, link) in links(file) {
            if let Some(wrong) = broken(tree, file, &link) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("the link to {link} {wrong}"),
                    "mend the link, or write what it promises",
                ));
            }
        }
    }
    findings
}

fn broken(tree: &Tree, file: &File, link: &str) -> Option<&'static str> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, heading) =
        link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let target = if path.is_empty() { Some(file.path.clone()) } else { resolve(&file.path, path) };
    let Some(target) = target else {
        return Some("leads out of the tree");
    };
    if !tree.root.join(&target).exists() {
        return Some("leads to no file");
    }
    let page = tree.file(&target).filter(|page| page.ending() == "md");
    match (heading, page) {
        (Some(heading), Some(page)) if !headings(page).iter().any(|slug| slug == heading) => {
            Some("leads to no heading")
        }
        _ => None,
    }
}

/// Returns the link's target relative to the root of the tree, or `None` if it is outside of the
/// tree.
pub(crate) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut whole = PathBuf::from(from);
    whole.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => whole.pop().then_some(())?,
            Component::Normal(name) => whole.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(whole.to_string_lossy().replace('\\', "/"))
}

/// Returns the lines outside of fenced blocks.
fn prose(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    file.lines().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

fn links(file: &File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(file) {
        // WHY: every second piece between backticks is code, in which brackets do not form links.
        let text: String = line.split('`').step_by(2).collect();
        let inline = text.match_indices("](").filter_map(|(at, _)| text[at + 2..].split_once(')'));
        found.extend(inline.map(|(link, _)| (number, link.trim().to_string())));
        if let Some((name, link)) = text.split_once("]: ")
            && name.starts_with('[')
        {
            found.push((number, link.trim().to_string()));
        }
    }
    found
}

/// Returns the anchors of the headings: lower case, spaces as dashes, without punctuation.
fn headings(file: &File) -> Vec<String> {
    prose(file)
        .filter_map(|(_, line)| {
            line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim())
        })
        .map(|heading| {
            heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    #[test]
    fn a_link_to_no_file_is_found_with_its_line() {
        let tree = Fixture::new("links-file")
            .file("docs/a.md", "# A\n\nSee [b](b.md) and [c](../c.md).\n\n[d]: d.md\n")
            .file("c.md", "")
            .tree();
        demand(
            &check(&tree),
            &["docs/a.md:3: the link to b.md leads to no file", "docs/a.md:5: the link to d.md"],
        );
    }

    #[test]
    fn a_link_out_of_the_tree_is_found() {
        let tree = Fixture::new("links-out")
            .file("docs/a.md", "[up](../../b.md) [root](/b.md)\n")
            .file("b.md", "")
            .tree();
        demand(
            &check(&tree),
            &[
                "docs/a.md:1: the link to ../../b.md leads out",
                "docs/a.md:1: the link to /b.md leads out",
            ],
        );
    }

    #[test]
    fn a_link_to_no_heading_is_found() {
        let tree = Fixture::new("links-heading")
            .file("a.md", "[one](b.md#what-it-is) [two](b.md#gone) [three](#here)\n\n## Here!\n")
            .file("b.md", "# What it is\n")
            .tree();
        demand(&check(&tree), &["a.md:1: the link to b.md#gone leads to no heading"]);
    }

    #[test]
    fn code_and_web_links_are_ignored() {
        let text = "`a[0](x)` [web](https://example.org/x)\n\n```rust\nb[1](y)\n```\n";
        demand_none(&check(&Fixture::new("links-code").file("a.md", text).tree()));
    }
}
