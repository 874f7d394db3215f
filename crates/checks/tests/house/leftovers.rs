//! Rule: nothing is left for later: no notes to self, no tests switched off in silence, no sleeping
//! in tests.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// WHY: put together, so that this list does not find itself.
const NOTES: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("to", "do!"),
    concat!("unimpl", "emented!"),
];
const SWITCHED_OFF: &str = concat!("#[ig", "nore]");
const SLEEPS: [&str; 4] = [
    concat!("thread::", "sleep"),
    concat!("time::", "sleep"),
    concat!("timer:", "sleep"),
    concat!("Process.", "sleep"),
];
/// Says which clock a sleep in a test obeys, on its line or above it.
const CLOCK: &str = "CLOCK:";

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
        if file.ending() != "md" {
            findings.extend(check_tests(file));
        }
    }
    findings
}

fn check_tests(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut above = "";
    for (number, line) in file.test_lines() {
        if line.contains(SWITCHED_OFF) {
            findings.push(Finding::new(
                &file.path,
                number,
                "a test is switched off and nobody says why",
                "mend it, or give the reason in the attribute and run it elsewhere",
            ));
        }
        let said = line.contains(CLOCK) || above.contains(CLOCK);
        if !said && let Some(sleep) = SLEEPS.iter().find(|sleep| has_word(line, sleep)) {
            findings.push(Finding::new(
                &file.path,
                number,
                format!("a test sleeps: {sleep}"),
                format!(
                    "wait for a message or use virtual time; where the sleep is what is tested or time is \
                     virtual, say so above it: // {CLOCK} …"
                ),
            ));
        }
        above = line;
    }
    findings
}

/// Does the word stand there by itself, not as part of a longer one?
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
    use super::{NOTES, SLEEPS, SWITCHED_OFF, check};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    #[test]
    fn a_note_to_self_is_found_in_code_and_in_a_document() {
        let tree = Fixture::new("leftovers-notes")
            .file("README.md", &format!("text\n{}: more text\n", NOTES[0]))
            .file("src/a.rs", &format!("fn a() {{ {}() }}\n", NOTES[3]))
            .file("src/b.erl", &format!("% {} later\n", NOTES[2]))
            .tree();
        demand(&check(&tree), &["README.md:2:", "src/a.rs:1:", "src/b.erl:1:"]);
    }

    #[test]
    fn a_longer_word_that_contains_one_is_left_alone() {
        let text = format!("mktemp {0}{0}\nlet {1}S = 1;\n", NOTES[2], NOTES[0]);
        demand_none(&check(&Fixture::new("leftovers-longer").file("a.sh", &text).tree()));
    }

    #[test]
    fn a_test_switched_off_without_a_reason_is_found() {
        let reason = SWITCHED_OFF.replace(']', " = \"needs two machines\"]");
        let tree = Fixture::new("leftovers-off")
            .file("tests/a.rs", &format!("#[test]\n{SWITCHED_OFF}\nfn a() {{}}\n"))
            .file("tests/b.rs", &format!("#[test]\n{reason}\nfn b() {{}}\n"))
            .tree();
        demand(&check(&tree), &["tests/a.rs:2:"]);
    }

    #[test]
    fn a_test_that_sleeps_is_found_wherever_tests_are() {
        let module =
            format!("#[cfg(test)]\nmod tests {{\n    fn a() {{ std::{}(d) }}\n}}\n", SLEEPS[0]);
        let tree = Fixture::new("leftovers-sleeps")
            .file("src/a.rs", &module)
            .file("tests/b.erl", &format!("b() -> {}(1).\n", SLEEPS[2]))
            .tree();
        demand(&check(&tree), &["src/a.rs:3:", "tests/b.erl:1:"]);
    }

    #[test]
    fn a_sleep_outside_tests_or_with_its_clock_named_is_left_alone() {
        let tree = Fixture::new("leftovers-clock")
            .file("src/a.rs", &format!("fn a() {{ std::{}(d) }}\n", SLEEPS[0]))
            .file("tests/b.rs", &format!("// CLOCK: virtual\nlet z = tokio::{}(d);\n", SLEEPS[1]))
            .tree();
        demand_none(&check(&tree));
    }
}
