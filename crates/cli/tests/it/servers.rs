//! Experiments with servers: the contender serves, a common client sends, and the counts of both must agree.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use crate::honest::SERVED;
use crate::support::{Bench, contender, fake, list, of, principals};

#[test]
fn each_server_experiment_gives_each_contender_one_primary_rate() {
    let two = [contender("one", ""), contender("two", "--cost 2")];
    let bench = Bench::served(&SERVED.join(","), &two);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let results = bench.results();
    for experiment in SERVED {
        for contender in ["one", "two"] {
            assert_eq!(principals(&results, experiment, contender), 1, "{experiment} {contender}");
        }
        let ratio = list(&results, "ratios").iter().find(|ratio| ratio["experiment"] == experiment);
        let ratio = ratio.unwrap_or_else(|| panic!("no ratio for {experiment}"));
        assert!((ratio["ratio"].as_f64().unwrap() - 2.0).abs() < 0.01, "{ratio}");
    }
    assert!(list(&results, "void").is_empty() && list(&results, "problems").is_empty());
    let samples = bench.samples();
    let has_number = |name: &str| samples.iter().all(|sample| sample["reply"][name].is_u64());
    assert!(["acknowledged", "sent", "received", "p99_ns"].into_iter().all(has_number));
    let about = |name: &str| list(&results, "contenders").iter().any(|one| one["id"] == name);
    assert!(about("one") && !about("load"), "the client is no contender");
}

#[test]
fn a_server_that_acknowledged_another_number_than_was_sent_has_invalid_samples() {
    for fault in ["loses", "invents"] {
        let two = [contender("honest", ""), contender("thief", fault)];
        let bench = Bench::served("ack-best,ack-sync-or-async", &two);
        assert_eq!(bench.status(), 1, "{}", bench.stderr());
        let results = bench.results();
        for experiment in ["ack-best", "ack-sync-or-async"] {
            assert_eq!(principals(&results, experiment, "honest"), 1, "{experiment}");
            assert_eq!(principals(&results, experiment, "thief"), 0, "{experiment}");
        }
        for void in list(&results, "void") {
            assert_eq!(void["contender"], "thief");
            assert!(void["reason"].as_str().unwrap().starts_with("acknowledged is "), "{void}");
        }
    }
}

#[test]
fn a_contender_that_dies_while_serving_loses_only_its_samples() {
    let two = [contender("one", ""), contender("mortal", "dies@ack-throttle")];
    let bench = Bench::served("ack-throttle,ack-best", &two);
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    let results = bench.results();
    for (experiment, contender, due) in [
        ("ack-throttle", "one", 1),
        ("ack-throttle", "mortal", 0),
        ("ack-best", "one", 1),
        ("ack-best", "mortal", 1),
    ] {
        assert_eq!(principals(&results, experiment, contender), due, "{experiment} {contender}");
    }
    let [problem] = list(&results, "problems") else { panic!("{}", results["problems"]) };
    assert!(problem["message"].as_str().unwrap().contains("I have had enough"), "{problem}");
}

#[test]
fn a_client_that_dies_loses_only_its_current_samples() {
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("contender-load");
    let script = format!("#!/bin/sh\nexec '{}' dies@ack-throttle\n", fake().display());
    std::fs::write(&client, script).unwrap();
    std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
    let contenders = [contender("one", "")];
    let bench = Bench::in_folder(folder, &of("ack-throttle,ack-best", &contenders));
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    let results = bench.results();
    assert_eq!(principals(&results, "ack-throttle", "one"), 0);
    assert_eq!(principals(&results, "ack-best", "one"), 1);
    let [problem] = list(&results, "problems") else { panic!("{}", results["problems"]) };
    assert!(
        problem["message"].as_str().unwrap().starts_with("its client ended by itself"),
        "{problem}"
    );
}

#[test]
fn without_the_client_server_experiments_are_left_out_or_refused_if_named() {
    let one = [contender("one", "")];
    let bench = Bench::of("ack-best", &one);
    assert_eq!(bench.status(), 2);
    let said = bench.stderr();
    assert!(said.lines().count() == 1 && said.contains("-p contender-load"), "{said}");

    let bench = Bench::of("", &one);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let left_out = |line: &&str| line.contains("contender-load") && line.ends_with("left out");
    assert_eq!(bench.stderr().lines().filter(left_out).count(), 1, "{}", bench.stderr());
    let ran = bench.results();
    let ran = list(&ran, "experiments");
    assert!(
        !ran.is_empty() && ran.iter().all(|one| !one["id"].as_str().unwrap().starts_with("ack-"))
    );
}

#[test]
fn contenders_that_do_not_offer_an_experiment_are_named_in_one_line() {
    let partial = |name: &str| contender(name, "lacks@ack-best");
    let three = [contender("one", ""), partial("two"), partial("three")];
    let bench = Bench::served("ack-best", &three);
    let due = "ack-best two, three: do not offer this experiment";
    assert_eq!(bench.stderr().lines().filter(|line| *line == due).count(), 1, "{}", bench.stderr());
    assert_eq!(list(&bench.results(), "absences").len(), 2);
}
