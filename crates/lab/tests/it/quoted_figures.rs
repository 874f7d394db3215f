//! Checks that the tables of measured figures in documents hold the medians of the stored run they
//! name, and say so if that run measured other code than the present, and that its contenders have done
//! the same work.
//!
//! With `PURLIN_UPDATE_FIGURES=1` the test writes the medians into the tables instead: after a new
//! run, replace its id in the documents and run the test once with it.

use std::fs;
use std::path::{Path, PathBuf};

use purlin_lab::measured::of_checkout;
use purlin_lab::stored::{read, results_file};
use serde_json::Value;

/// What a document says if its run measured other code: the hashes of the sources differ, or the run
/// stored none.
const OTHER_CODE: &str = "**The measured code has changed since this run.**";

/// Returns the cells of a row of a Markdown table.
fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Formats with three significant digits, like the table of ratios; as an integer from 100 on.
fn shown(figure: f64) -> String {
    let digits = (2 - figure.log10().floor() as i32).max(0) as usize;
    format!("{figure:.digits$}")
}

/// Returns the number of result units in one of this unit.
fn scale(unit: &str) -> f64 {
    match unit.split_once(' ').map_or(unit, |(first, _)| first) {
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        _ => 1.0,
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Least time of a step of `work` in nanoseconds: each multiplies the result of the step before and adds,
/// which takes four cycles, at 5 GHz.
const SHORTEST_STEP: f64 = 0.8;

/// Checks that every contender has computed every step of `bounded-buffer`. A compiler may combine steps.
fn check_steps(run: &Value) {
    let cores = run["host"]["cores"].as_f64().expect("the number of cores");
    for result in run["results"].as_array().expect("results") {
        if result["experiment"] != "bounded-buffer" || result["principal"] != true {
            continue;
        }
        let per_item = result["median"].as_f64().expect("a median");
        let cost = result["params"]["cost"].as_f64().expect("the steps of a piece");
        // A producer and a consumer compute a piece of each item.
        let step = per_item * cores / (2.0 * cost);
        assert!(step >= SHORTEST_STEP, "{} takes {step} ns for a step", result["contender"]);
    }
}

/// Compares the table of a document with the run it links to, or updates it; returns the number of
/// figures compared.
fn compare(document: &str) -> usize {
    let path = root().join(document);
    let text = fs::read_to_string(&path).expect("the document");
    let (before, rest) = text.split_once("<!-- table: measured -->").expect("the table begins");
    let (table, after) =
        rest.split_once("<!-- end of table: measured -->").expect("the table ends");

    let (_, link) = table.split_once("reports/").expect("the table names its run");
    let (folder, _) = link.split_once(')').expect("the link ends");
    let folder = folder.trim_end_matches('/');
    assert!(table.contains(&format!("[`{folder}`](")), "{document} calls the run by its id");
    let run = root().join("reports").join(folder);
    let run: Value = read(&results_file(&run)).expect("the stored run");
    let started = run["started"].as_str().expect("when it began");
    assert_eq!(folder, started.replace(['-', ':'], ""), "the id is when the run began");

    let stored = run["tool"]["sources"].as_str();
    let present = of_checkout(&root()).expect("the sources can be read");
    let (marked, same) = (table.contains(OTHER_CODE), stored == Some(&*present));
    assert!(
        marked != same,
        "{document} quotes run {folder}, which measured {} code than the present: {} the sentence \
         {OTHER_CODE:?} in its table's paragraph, or quote a new run (`make lab`)",
        if same { "no other" } else { "other" },
        if same { "remove" } else { "add" },
    );

    check_steps(&run);
    let median = |experiment: &str, contender: &str| {
        let results = run["results"].as_array().expect("results");
        let primary = results.iter().find(|result| {
            result["principal"] == true
                && result["experiment"] == experiment
                && result["contender"] == contender
        });
        primary.and_then(|result| result["median"].as_f64())
    };

    let head = cells(table.lines().find(|line| line.starts_with('|')).expect("a head"));
    let update = std::env::var_os("PURLIN_UPDATE_FIGURES").is_some();
    let (mut compared, mut updated) = (0, String::new());
    for line in table.split_inclusive('\n') {
        if !line.starts_with("| `") {
            updated.push_str(line);
            continue;
        }
        let row = cells(line);
        updated.push_str(&format!("| {} | {} |", row[0], row[1]));
        for (contender, cell) in head.iter().zip(&row).skip(2) {
            let expected = median(row[0].trim_matches('`'), contender)
                .map_or_else(|| "–".into(), |figure| shown(figure / scale(row[1])));
            assert!(
                update || *cell == expected,
                "{} on {contender} in {document} is {cell} and not {expected}",
                row[0],
            );
            updated.push_str(&format!(" {expected} |"));
            compared += 1;
        }
        updated.push('\n');
    }
    if update {
        let marks = ["<!-- table: measured -->", "<!-- end of table: measured -->"];
        let text = [before, marks[0], &updated, marks[1], after].concat();
        fs::write(&path, text).expect("the document can be written");
    }
    compared
}

// The documents quote the stored run by its id.
#[test]
fn documents_show_the_medians_of_the_stored_run() {
    assert!(compare("README.md") >= 9, "three experiments and three contenders at least");
    assert!(compare("COMPARE.md") >= 100, "nearly all experiments on all contenders");
    assert!(compare("docs/lab/contenders.md") >= 60, "each runtime with both sets of flags");
    assert!(compare("docs/lab/allocators.md") >= 60, "three runtimes with both allocators");
}
