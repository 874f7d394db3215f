//! Rule: no reminder notes in comments and documents. Clippy finds those that are macros.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// WHY concatenated: so that this list does not find itself.
const NOTES: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let ours = |file: &&File| (file.is_source() || file.ending() == "md") && !file.is_third_party();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(ours) {
        for (number, line) in file.lines() {
            if let Some(note) = NOTES.iter().find(|note| has_word(line, note)) {
                findings.push(Finding::new(
                    &file.path,
                    number,
                    format!("a note to self: {note}"),
                    "do it, or say in an issue what is missing and why",
                ));
            }
        }
    }
    findings
}

/// Returns whether the line contains the word, not as part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::{NOTES, check};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    #[test]
    fn a_note_to_self_is_found_in_code_and_in_a_document() {
        let tree = Fixture::new("leftovers-notes")
            .file("README.md", &format!("text\n{}: more text\n", NOTES[0]))
            .file("src/b.erl", &format!("% {} later\n", NOTES[2]))
            .tree();
        demand(&check(&tree), &["README.md:2:", "src/b.erl:1:"]);
    }

    #[test]
    fn longer_words_are_ignored() {
        let text = format!("mktemp {0}{0}\nlet {1}S = 1;\n", NOTES[2], NOTES[0]);
        demand_none(&check(&Fixture::new("leftovers-longer").file("a.sh", &text).tree()));
    }
}
