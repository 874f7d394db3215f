//! Tests of `purlin lab advise` on runs with known costs.

use std::path::Path;
use std::process::Output;

use crate::support::{Bench, contender, purlin};
use serde_json::Value;

fn advise(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).args(["lab", "advise"]).args(words).output().expect("purlin runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs two contenders: a message costs 100 and 200 ns, an element 1 and 2 ns, a process 100 and 200 ns.
fn measured() -> Bench {
    let one = contender("one", "--cost 1");
    let two = contender("two", "--cost 2");
    Bench::of("exchange,message-size,spawn-chain,throughput", &[one, two])
}

#[test]
fn the_share_of_a_core_is_rate_times_hops_times_cost() {
    let bench = measured();
    let words =
        ["--rate", "10000", "--size", "50", "--hops", "3", "--spawns", "1000", "--json", "run"];
    let output = advise(&bench.path(""), &words);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for (place, cost) in [(0, 1.0), (1, 2.0)] {
        let found = &answer["costs"][place];
        let due = cost * (10_000.0 * 3.0 * 150.0 + 1000.0 * 100.0) / 1e9;
        for end in ["value", "low", "high"] {
            let share = found["share"][end].as_f64().unwrap();
            assert!((share / due - 1.0).abs() < 1e-6, "{found}");
        }
        assert!(
            (found["message_ns"]["value"].as_f64().unwrap() / (150.0 * cost) - 1.0).abs() < 1e-6
        );
        assert!(found["in_bulk"]["value"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn queries_outside_the_model_are_warned_of() {
    let bench = measured();
    let output = advise(&bench.path(""), &["--rate", "1e6", "--size", "5000", "run"]);
    let text = stdout(&output);
    assert!(text.contains("more than the 2000 that were measured"), "{text}");
    assert!(text.contains("more than one core's worth, or nearly, on one, two"), "{text}");
    assert!(text.contains("1000000 messages/s of 5000 elements over 1 hop\n"), "{text}");
    assert!(text.contains("A message costs the slope of exchange"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(!text.contains("stopped before its end"), "{text}");
    let mut stopped = bench.results();
    stopped["interrupted"] = true.into();
    std::fs::write(bench.path("stopped.json"), stopped.to_string()).unwrap();
    let output = advise(&bench.path(""), &["--rate", "1", "stopped.json"]);
    let text = stdout(&output);
    assert!(text.contains("warning: the run was stopped before its end"), "{text}");
}

#[test]
fn markdown_is_a_table_and_contenders_without_figures_are_named() {
    let whole = contender("whole", "");
    let part = contender("part", "lacks@message-size");
    let bench = Bench::of("exchange,message-size", &[whole, part]);
    let output = advise(&bench.path(""), &["--rate", "1000", "--size", "1", "--markdown", "run"]);
    let text = stdout(&output);
    assert!(
        text.contains("| whole (copied) | 101 (101–101) | 0.0101 (0.0101–0.0101) | — |"),
        "{text}"
    );
    assert!(text.contains("**Left out:** part: no figure of message-size"), "{text}");
}

#[test]
fn elements_that_can_be_moved_cost_nothing() {
    let whole = contender("whole", "");
    let part = contender("part", "lacks@message-moved");
    let bench = Bench::of("exchange,message-size,message-moved", &[whole, part]);
    let output = advise(&bench.path(""), &["--rate", "1000", "--size", "50", "--markdown", "run"]);
    let text = stdout(&output);
    assert!(text.contains("| whole (moved) | 100 (100–100) |"), "{text}");
    assert!(text.contains("| part (copied) | 150 (150–150) |"), "{text}");
}

#[test]
fn the_default_is_the_newest_run_and_without_a_run_there_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = advise(folder.path(), &["--rate", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no run in lab-results"), "{}", stderr(&output));
    let bench = measured();
    let runs = bench.path("lab-results");
    for (name, seconds) in [("older", 1000), ("newer", 2000)] {
        std::fs::create_dir_all(runs.join(name)).unwrap();
        let results = runs.join(name).join("results.json");
        std::fs::copy(bench.path("run/results.json"), &results).unwrap();
        let written = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options().append(true).open(results).unwrap().set_modified(written).unwrap();
    }
    let output = advise(&bench.path(""), &["--rate", "1"]);
    let text = stdout(&output);
    assert!(
        text.contains("from lab-results/newer/results.json, quick"),
        "{text}{}",
        stderr(&output)
    );
}

#[test]
fn unanswerable_queries_are_refused_in_one_line() {
    let bench = Bench::of("ping-pong", &[contender("one", "")]);
    for (words, reason) in [
        (&["--rate", "1", "run"][..], "does not show what a message costs"),
        (&["run"][..], "--rate"),
        (&["--rate", "-1", "run"][..], "number from 0"),
        (&["--rate", "1", "--hops", "0", "run"][..], "--hops"),
        (&["--rate", "1", "--hops", "-1", "run"][..], "-1 is not in 1.."),
        (&["--rate", "1", "--size", "-1", "run"][..], "invalid value '-1'"),
        (&["--rate", "1", "nowhere"][..], "cannot read nowhere"),
    ] {
        let output = advise(&bench.path(""), words);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(reason) && printed.lines().count() == 1, "{printed}");
    }
}
