//! Rule: SEMANTICS.md and the tests agree. Every clause marked as holding is cited by a test; tests
//! cite only existing clauses that are marked as holding; the count in the opening paragraph is
//! correct.
//!
//! A clause opens a paragraph: `**M2** *holds.* Signals …`. A test cites clauses with a comment
//! that begins with their numbers and a colon: `// M2, M4: a reply overtakes nothing`, or with `//
//! Clauses: M2, M4`.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::tree::{File, Tree};

const PAGE: &str = "SEMANTICS.md";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Holds,
    InPart,
    NotYet,
}

struct Clause {
    id: String,
    line: usize,
    state: State,
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.file(PAGE) else {
        return vec![Finding::new(PAGE, 0, "there is no such file", "write down the clauses")];
    };
    let (clauses, mut findings) = read(page);
    let cited = cited_by_tests(tree);
    for (id, path, line) in &cited {
        match clauses.iter().find(|clause| clause.id == *id) {
            None => findings.push(Finding::new(
                path,
                *line,
                format!("cites {id}, which {PAGE} does not have"),
                "cite a clause that exists, or begin the comment otherwise",
            )),
            Some(clause) if clause.state == State::NotYet => findings.push(Finding::new(
                path,
                *line,
                format!("cites {id}, which {PAGE} marks as not yet there"),
                "mark it there as *holds.* or *holds in part.*",
            )),
            Some(_) => {}
        }
    }
    let with_test: BTreeSet<&str> = cited.iter().map(|(id, _, _)| id.as_str()).collect();
    for clause in &clauses {
        if clause.state != State::NotYet && !with_test.contains(clause.id.as_str()) {
            findings.push(Finding::new(
                PAGE,
                clause.line,
                format!("{} is said to hold, but no test cites it", clause.id),
                format!(
                    "put `// {}: …` above the test that shows it, or mark it *not yet.*",
                    clause.id
                ),
            ));
        }
    }
    let counted = count(&clauses);
    if !page.text.contains(&counted) {
        findings.push(Finding::new(
            PAGE,
            1,
            "the count of clauses is missing or wrong",
            format!("say: {counted}"),
        ));
    }
    findings
}

/// Returns the clauses that hold and those that do not yet, in one line.
pub(crate) fn summary(tree: &Tree) -> String {
    let Some(page) = tree.file(PAGE) else {
        return "missing".to_string();
    };
    let (clauses, _) = read(page);
    let missing: Vec<&str> = clauses
        .iter()
        .filter(|clause| clause.state == State::NotYet)
        .map(|clause| clause.id.as_str())
        .collect();
    format!("{} Not yet: {}.", count(&clauses), missing.join(", "))
}

fn count(clauses: &[Clause]) -> String {
    let of = |state| clauses.iter().filter(|clause| clause.state == state).count();
    format!(
        "Of {} clauses {} hold, {} hold in part and {} do not yet.",
        clauses.len(),
        of(State::Holds),
        of(State::InPart),
        of(State::NotYet)
    )
}

fn read(page: &File) -> (Vec<Clause>, Vec<Finding>) {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut findings = Vec::new();
    for (line, text) in page.lines() {
        let Some((id, rest)) = text.strip_prefix("**").and_then(|text| text.split_once("**"))
        else {
            continue;
        };
        if !is_id(id) {
            continue;
        }
        let state = match rest.split('*').nth(1) {
            Some("holds.") => State::Holds,
            Some("holds in part.") => State::InPart,
            Some("not yet.") => State::NotYet,
            _ => {
                findings.push(Finding::new(
                    PAGE,
                    line,
                    format!("{id} does not say whether it holds"),
                    "write *holds.*, *holds in part.* or *not yet.* after the number",
                ));
                continue;
            }
        };
        if clauses.iter().any(|clause| clause.id == id) {
            findings.push(Finding::new(PAGE, line, format!("a second {id}"), "number it anew"));
            continue;
        }
        if state == State::InPart && !rest.contains("Not yet:") {
            findings.push(Finding::new(
                PAGE,
                line,
                format!("{id} holds in part and does not say what is missing"),
                "end it with: Not yet: …",
            ));
        }
        clauses.push(Clause { id: id.to_string(), line, state });
    }
    (clauses, findings)
}

/// Returns whether a word is a capital letter followed by a number.
fn is_id(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && !letters.as_str().is_empty()
        && letters.all(|c| c.is_ascii_digit())
}

fn cited_by_tests(tree: &Tree) -> Vec<(String, String, usize)> {
    let mut cited = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_source()) {
        for (line, text) in file.test_lines() {
            cited.extend(cited_in(text).into_iter().map(|id| (id, file.path.clone(), line)));
        }
    }
    cited
}

fn cited_in(line: &str) -> Vec<String> {
    let line = line.trim();
    let comment = ["//", "%", "#"].iter().find_map(|mark| line.strip_prefix(mark));
    let Some(comment) = comment else {
        return Vec::new();
    };
    let comment = comment.trim_start_matches(['/', '!', '%', '#']).trim();
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        parts.filter(|part| !part.is_empty()).map(str::to_string).collect()
    };
    if let Some(list) = comment.strip_prefix("Clauses:") {
        return words(list).into_iter().filter(|word| is_id(word)).collect();
    }
    let Some((head, _)) = comment.split_once(':') else {
        return Vec::new();
    };
    let ids = words(head);
    if ids.iter().all(|id| is_id(id) || id == "and") {
        ids.into_iter().filter(|id| is_id(id)).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{check, cited_in};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    const COUNT: &str = "Of 2 clauses 1 hold, 0 hold in part and 1 do not yet.\n\n";

    fn page(clauses: &str) -> String {
        format!("{COUNT}{clauses}")
    }

    #[test]
    fn a_page_and_tests_that_agree_pass() {
        let fixture = Fixture::new("clauses-agree")
            .file(super::PAGE, &page("**P1** *holds.* a\n\n**P2** *not yet.* b\n"))
            .file("tests/a.rs", "// P1: shown here\n");
        demand_none(&check(&fixture.tree()));
    }

    #[test]
    fn a_clause_that_holds_without_a_test_is_found() {
        let fixture = Fixture::new("clauses-untested")
            .file(super::PAGE, &page("**P1** *holds.* a\n\n**P2** *not yet.* b\n"))
            .file("src/a.rs", "// P1: cited, but not by a test\n");
        demand(
            &check(&fixture.tree()),
            &["SEMANTICS.md:3: P1 is said to hold, but no test cites it"],
        );
    }

    #[test]
    fn a_test_that_cites_what_does_not_exist_or_does_not_hold_yet_is_found() {
        let fixture = Fixture::new("clauses-unknown")
            .file(super::PAGE, &page("**P1** *holds.* a\n\n**P2** *not yet.* b\n"))
            .file("tests/a.rs", "// P1 and P2: both\n// Q9: none\n");
        demand(&check(&fixture.tree()), &["tests/a.rs:1: cites P2", "tests/a.rs:2: cites Q9"]);
    }

    #[test]
    fn duplicate_clauses_missing_states_and_wrong_counts_are_found() {
        let fixture = Fixture::new("clauses-form")
            .file(super::PAGE, "**P1** *not yet.* a\n\n**P1** *not yet.* b\n\n**P2** perhaps\n");
        demand(
            &check(&fixture.tree()),
            &[
                "SEMANTICS.md:3: a second P1",
                "SEMANTICS.md:5: P2 does not say",
                "the count of clauses",
            ],
        );
    }

    #[test]
    fn a_clause_that_holds_in_part_says_what_is_missing() {
        let text =
            "Of 1 clauses 0 hold, 1 hold in part and 0 do not yet.\n\n**C1** *holds in part.* a\n";
        let fixture = Fixture::new("clauses-part")
            .file(super::PAGE, text)
            .file("tests/a.rs", "/// C1: shown\n");
        demand(&check(&fixture.tree()), &["SEMANTICS.md:3: C1 holds in part and does not say"]);
    }

    #[test]
    fn only_a_comment_that_begins_with_clauses_cites() {
        assert_eq!(cited_in("    /// M2, M4: in order"), ["M2", "M4"]);
        assert_eq!(cited_in("//! Clauses: R1 (oldest first), R3."), ["R1", "R3"]);
        assert_eq!(cited_in("%% F1: fair"), ["F1"]);
        assert!(cited_in("let a = b; // M2: not a comment of its own").is_empty());
        assert!(cited_in("// WHY: P1 says so").is_empty());
        assert!(cited_in("// a line: P1").is_empty());
    }
}
