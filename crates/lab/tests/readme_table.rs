//! The table in the README holds the medians of the stored run that it names.

#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The cells of a row of a Markdown table.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Three significant digits, as the table of ratios prints figures; whole from a hundred on.
fn shown(figure: f64) -> String {
    let digits = (2 - figure.log10().floor() as i32).max(0) as usize;
    format!("{figure:.digits$}")
}

#[test]
fn the_readme_shows_the_medians_of_the_stored_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let (_, rest) = readme.split_once("<!-- table: measured -->").expect("the table begins");
    let (table, _) = rest.split_once("<!-- end of table: measured -->").expect("the table ends");

    let (_, link) = table.split_once("](").expect("the table names its run");
    let (run, _) = link.split_once(')').expect("the link ends");
    let run = fs::read_to_string(root.join(run)).expect("the stored run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let median = |experiment: &str, contender: &str| {
        let results = run["results"].as_array().expect("results");
        let principal = results.iter().find(|result| {
            result["principal"] == true
                && result["experiment"] == experiment
                && result["contender"] == contender
        });
        principal.and_then(|result| result["median"].as_f64()).expect("a principal median")
    };

    let mut rows = table.lines().filter(|line| line.starts_with('|')).map(cells);
    let head = rows.next().expect("a head");
    let mut compared = 0;
    for row in rows.filter(|row| row[0].starts_with('`')) {
        for (contender, cell) in head.iter().zip(&row).skip(2) {
            let expected = shown(median(row[0].trim_matches('`'), contender));
            assert_eq!(*cell, expected, "{} on {contender}", row[0]);
            compared += 1;
        }
    }
    assert!(compared >= 9, "a table of at least three experiments and three contenders");
}
