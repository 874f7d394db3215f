//! A contender that loses something is detected, in every experiment.

use crate::honest::EXPERIMENTS;
use crate::support::{Bench, contender, list, principals};

/// Runs all experiments on an honest contender and on one with this fault.
fn beside_an_honest_one(fault: &str) {
    let bench = Bench::of("", &[contender("honest", ""), contender("thief", fault)]);
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    let results = bench.results();
    for experiment in EXPERIMENTS {
        assert_eq!(principals(&results, experiment, "honest"), 1, "{experiment}");
        assert_eq!(principals(&results, experiment, "thief"), 0, "{experiment}");
        let void = list(&results, "void").iter().filter(|void| void["experiment"] == experiment);
        let void: Vec<_> = void.collect();
        assert!(!void.is_empty(), "{experiment} has no void sample");
        for sample in void {
            assert_eq!(sample["contender"], "thief");
            assert!(sample["reason"].as_str().unwrap().contains(" is "), "{sample}");
        }
        let is_warning = |line: &&String| {
            line.starts_with(&format!("warning: {experiment} ")) && line.contains("invalid")
        };
        assert_eq!(
            bench.lines_about("thief").iter().filter(is_warning).count(),
            1,
            "{}",
            bench.stderr()
        );
    }
    let stored = bench.samples();
    assert!(
        stored.iter().any(|sample| sample["contender"] == "thief" && sample["void"].is_string())
    );
}

#[test]
fn a_contender_that_loses_a_message_has_invalid_samples_in_every_experiment() {
    beside_an_honest_one("loses");
}

#[test]
fn a_contender_that_skips_an_operation_has_invalid_samples_in_every_experiment() {
    beside_an_honest_one("skips");
}

#[test]
fn a_contender_that_claims_to_have_sent_more_has_invalid_samples_in_every_experiment() {
    beside_an_honest_one("invents");
}

#[test]
fn an_invalid_experiment_does_not_affect_the_others() {
    let bench = Bench::of("ping-pong,throughput", &[contender("thief", "loses@throughput")]);
    let results = bench.results();
    assert_eq!(principals(&results, "ping-pong", "thief"), 1);
    assert_eq!(principals(&results, "throughput", "thief"), 0);
    assert_eq!(bench.status(), 1);
}
