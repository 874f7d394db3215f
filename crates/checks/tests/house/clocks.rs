//! Rule: a test that sleeps or reads the system clock gives its reason.
//!
//! The reason is a comment with `CLOCK:` or `WHY`, in the function or above it. A function that
//! uses the clock only as a guard against hanging needs no reason other than the one at the
//! constant `HANG`.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// WHY concatenated: so that this list does not find itself.
const CALLS: [&str; 8] = [
    concat!("sle", "ep("),
    concat!("sleep", "_until("),
    concat!("Process.", "sleep("),
    concat!("Instant::", "now("),
    concat!("SystemTime::", "now("),
    concat!(".elap", "sed("),
    concat!(".waitFor", "Timeout("),
    concat!("set", "Timeout("),
];
const REASONS: [&str; 3] = ["CLOCK:", "WHY", "HANG"];
/// Prefixes of lines between a function and its comment: comments and attributes.
const ABOVE: [&str; 4] = ["//", "#", "%", "@"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().filter(|file| file.is_source()).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    // The calls found in the present function, and whether it has a reason.
    let mut found = Vec::new();
    let mut reason = false;
    let mut above = false;
    for (number, line) in file.test_lines() {
        let here = REASONS.iter().any(|reason| line.contains(reason));
        if ABOVE.iter().any(|start| line.trim_start().starts_with(start)) {
            above |= here;
            continue;
        }
        if begins_function(file, line) {
            let of_last = std::mem::take(&mut found);
            findings.extend(of_last.into_iter().filter(|_| !reason));
            reason = false;
        }
        reason |= above || here;
        above = false;
        let call = CALLS.iter().find(|call| calls(line, call));
        found.extend(call.map(|call| finding(file, number, call)));
    }
    findings.extend(found.into_iter().filter(|_| !reason));
    findings
}

fn finding(file: &File, line: usize, call: &str) -> Finding {
    Finding::new(
        &file.path,
        line,
        format!("a test depends on the clock: {call}…)"),
        "wait for an event or use virtual time; where neither is possible, give the reason \
         above it: // WHY real time: …",
    )
}

/// Returns whether the line calls the function. A method `sleep` of another type and a definition
/// do not count.
fn calls(line: &str, call: &str) -> bool {
    line.match_indices(call).any(|(at, _)| {
        let before = &line[..at];
        let other = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        call.starts_with('.') || !(before.ends_with(other) || before.ends_with("fn "))
    })
}

/// Returns whether the line begins a function. In languages other than Rust an empty line separates
/// functions.
fn begins_function(file: &File, line: &str) -> bool {
    if file.ending() != "rs" {
        return line.trim().is_empty();
    }
    let line = line.trim_start();
    let line = line.strip_prefix("pub").map_or(line, |rest| {
        rest.strip_prefix("(crate)").or(rest.strip_prefix("(super)")).unwrap_or(rest).trim_start()
    });
    ["fn ", "async fn ", "const fn "].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::{CALLS, check};
    use crate::finding::{demand, demand_none};
    use crate::fixture::Fixture;

    #[test]
    fn a_test_that_depends_on_the_clock_is_found_wherever_tests_are() {
        let module = format!(
            "#[cfg(test)]\nmod tests {{\n    fn a() {{ std::thread::{}d) }}\n}}\n",
            CALLS[0]
        );
        let tree = Fixture::new("clocks-found")
            .file("src/a.rs", &module)
            .file("tests/b.erl", &format!("b() -> timer:{}1).\n", CALLS[0]))
            .file(
                "tests/c.rs",
                &format!("fn c() {{\n    let t = {});\n    t{})\n}}\n", CALLS[3], CALLS[5]),
            )
            .tree();
        demand(&check(&tree), &["src/a.rs:3:", "tests/b.erl:1:", "tests/c.rs:2:", "tests/c.rs:3:"]);
    }

    #[test]
    fn a_reason_covers_its_function_and_not_the_next() {
        let text = format!(
            "/// WHY real time: the kernel's.\n#[test]\nfn a() {{\n    {0}d);\n    {0}d);\n}}\n\n\
             pub(crate) async fn b() {{\n    {0}d);\n}}\n\n\
             fn c() {{\n    {0}d);\n    // CLOCK: virtual\n    {0}d);\n}}\n\n\
             fn d() {{\n    let t = {1});\n    while t.{2}) < HANG {{}}\n}}\n",
            CALLS[0],
            CALLS[3],
            CALLS[5].trim_start_matches('.')
        );
        let tree = Fixture::new("clocks-reason").file("tests/a.rs", &text).tree();
        demand(&check(&tree), &["tests/a.rs:9:"]);
    }

    #[test]
    fn calls_outside_of_tests_and_longer_words_are_ignored() {
        let tree = Fixture::new("clocks-outside")
            .file("src/a.rs", &format!("fn a() {{ {}d) }}\n", CALLS[0]))
            .file("tests/b.rs", &format!("fn b() {{ over{0}d); head.{0}d) }}\n", CALLS[0]))
            .file("tests/c.rs", &format!("fn {}d: u8) {{}}\n", CALLS[0]))
            .tree();
        demand_none(&check(&tree));
    }
}
