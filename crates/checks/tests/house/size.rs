//! Rule: no source file except tests exceeds 500 lines; no file exceeds a megabyte.

use crate::finding::Finding;
use crate::tree::Tree;

const MOST_LINES: usize = 500;
const MOST_BYTES: u64 = 1_000_000;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let lines = file.lines().count();
        if file.is_source() && !file.is_test() && lines > MOST_LINES {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{lines} lines, more than {MOST_LINES}"),
                "give each role in it a file of its own",
            ));
        }
        if file.bytes > MOST_BYTES {
            findings.push(Finding::new(
                &file.path,
                0,
                format!("{} bytes, more than {MOST_BYTES}", file.bytes),
                "make it where it is needed instead of keeping it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::finding::demand;
    use crate::fixture::Fixture;

    #[test]
    fn a_source_file_of_501_lines_is_found_and_a_test_or_a_page_of_that_length_is_not() {
        let long = "\n".repeat(501);
        let tree = Fixture::new("size-lines")
            .file("src/long.erl", &long)
            .file("src/just.rs", &"\n".repeat(500))
            .file("tests/long.rs", &long)
            .file("vendor/long.js", &long)
            .file("page.md", &long)
            .tree();
        demand(&check(&tree), &["src/long.erl: 501 lines"]);
    }

    #[test]
    fn a_file_over_a_megabyte_is_found_whatever_it_is() {
        let tree = Fixture::new("size-bytes")
            .file("reports/large/report.html", &"x".repeat(1_000_001))
            .file("reports/small/report.html", &"x".repeat(1_000_000))
            .file("tests/data.bin", &"x".repeat(1_000_001))
            .tree();
        demand(
            &check(&tree),
            &["reports/large/report.html: 1000001 bytes", "tests/data.bin: 1000001 bytes"],
        );
    }
}
