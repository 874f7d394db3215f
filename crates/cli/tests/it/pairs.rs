//! Experiments with two nodes: combining the answers of both, and the effect of a failure of one.
#![cfg(unix)]

use crate::honest::PAIRED;
use crate::support;
use crate::support::{Bench, contender, list, principals};
use serde_json::Value;

#[test]
fn a_contender_is_paired_with_itself_and_ratios_are_reported() {
    let two = [contender("one", ""), contender("two", "--cost 2")];
    let bench = Bench::served(&PAIRED.join(","), &two);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let results = bench.results();
    for experiment in PAIRED {
        for contender in ["one", "two"] {
            assert_eq!(principals(&results, experiment, contender), 1, "{experiment} {contender}");
        }
        let ratio = list(&results, "ratios").iter().find(|ratio| ratio["experiment"] == experiment);
        let ratio = ratio.unwrap_or_else(|| panic!("no ratio for {experiment}"));
        assert!((ratio["ratio"].as_f64().unwrap() - 2.0).abs() < 0.01, "{ratio}");
    }
    let trip = |one: &&Value| one["contender"] == "one" && one["unit"] == "µs";
    let trips: Vec<_> = list(&results, "results").iter().filter(trip).collect();
    let of = |metric: &str| trips.iter().find(|one| one["metric"] == metric).expect(metric);
    assert_eq!(of("time per round trip")["median"], 0.1);
    assert_eq!(of("latency p99")["median"], 2.0);
    assert!(list(&results, "void").is_empty() && list(&results, "problems").is_empty());
    let secret = |sample: &Value| sample["params"].get("cookie").is_some();
    assert!(!bench.samples().iter().any(secret), "a cookie is no parameter to keep");
}

#[test]
fn a_remote_node_that_received_another_number_than_was_sent_has_invalid_samples() {
    for fault in ["loses@dist-send", "invents@dist-send"] {
        let two = [contender("honest", ""), contender("thief", fault)];
        let bench = Bench::served("dist-send", &two);
        assert_eq!(bench.status(), 1, "{}", bench.stderr());
        let results = bench.results();
        assert_eq!(principals(&results, "dist-send", "honest"), 1);
        assert_eq!(principals(&results, "dist-send", "thief"), 0);
        assert!(list(&results, "void").iter().all(|void| void["contender"] == "thief"));
    }
}

#[test]
fn a_node_that_dies_loses_only_its_own_samples() {
    let two = [contender("one", ""), contender("mortal", "dies@dist-send")];
    let bench = Bench::served("dist-send,dist-round-trip", &two);
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    let results = bench.results();
    for (experiment, contender, due) in [
        ("dist-send", "one", 1),
        ("dist-send", "mortal", 0),
        ("dist-round-trip", "one", 1),
        ("dist-round-trip", "mortal", 1),
    ] {
        assert_eq!(principals(&results, experiment, contender), due, "{experiment} {contender}");
    }
    let [problem] = list(&results, "problems") else { panic!("{}", results["problems"]) };
    assert!(problem["message"].as_str().unwrap().contains("I have had enough"), "{problem}");
}

#[test]
fn fresh_gives_each_round_new_nodes() {
    let contenders = [contender("one", "")];
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("contender-load");
    std::os::unix::fs::symlink(support::fake(), client).unwrap();
    let mut words = support::of("dist-send", &contenders);
    words.push("--fresh");
    let bench = Bench::in_folder(folder, &words);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    assert_eq!(principals(&bench.results(), "dist-send", "one"), 1);
}
