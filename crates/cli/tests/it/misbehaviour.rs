//! A contender that dies, hangs or prints garbage loses one experiment and affects no other contender.

use crate::support::{Bench, contender, list, principals};

/// Runs a contender with a fault in the second of three experiments together with an honest one. It must lose that
/// experiment only, reported in one line with these words.
fn costs_one_experiment(fault: &str, words: &[&str]) {
    let culprit = contender("culprit", &format!("{fault}@throughput"));
    // WHY real time: a hanging contender is detected by a timeout only. On an idle machine other answers take a
    // thousandth of the limit.
    let limit = if fault == "hangs" { "2" } else { "600" };
    let all = [
        "--limit",
        limit,
        "-e",
        "ping-pong,throughput,thread-ring",
        "-c",
        &contender("honest", ""),
        "-c",
        &culprit,
    ];
    let bench = Bench::run(&all);
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    let results = bench.results();
    for (experiment, due) in [("ping-pong", 1), ("throughput", 0), ("thread-ring", 1)] {
        assert_eq!(principals(&results, experiment, "culprit"), due, "{fault} {experiment}");
        assert_eq!(principals(&results, experiment, "honest"), 1, "{fault} {experiment}");
    }
    let lines = bench.lines_about("culprit");
    assert_eq!(lines.len(), 1, "{}", bench.stderr());
    for word in words {
        assert!(lines[0].contains(word), "{fault}: {}", lines[0]);
    }
    let problems = list(&results, "problems");
    assert_eq!(problems.len(), 1);
    assert_eq!(
        (&problems[0]["experiment"], &problems[0]["contender"]),
        (&"throughput".into(), &"culprit".into())
    );
}

#[test]
fn a_contender_that_dies_is_quoted_with_its_last_output() {
    costs_one_experiment("dies", &["ended by itself", "3", "I have had enough"]);
}

#[test]
fn a_contender_that_hangs_is_ended_at_its_limit() {
    costs_one_experiment("hangs", &["no answer within 2 s"]);
}

#[test]
fn a_contender_that_prints_garbage_is_quoted_without_control_characters() {
    costs_one_experiment("rambles", &["Hello, here is your", "no JSON"]);
}

#[test]
fn a_contender_that_answers_with_a_list_is_refused() {
    costs_one_experiment("is-list", &["[1,2]", "no JSON object"]);
}

#[test]
fn a_contender_whose_value_is_text_is_refused() {
    costs_one_experiment("is-text", &["elapsed_ns is no number"]);
}

#[test]
fn a_contender_whose_value_is_negative_is_refused() {
    costs_one_experiment("is-negative", &["elapsed_ns is -1"]);
}

#[test]
fn a_contender_that_ends_within_a_line_is_reported_as_ended() {
    costs_one_experiment("breaks-off", &["ended by itself"]);
}

#[test]
fn a_contender_whose_line_never_ends_is_cut_off() {
    costs_one_experiment("never-ends", &["more than 1048576 bytes"]);
}

#[test]
fn a_contender_that_answers_twice_is_detected_at_the_next_request() {
    costs_one_experiment("echoes", &["without being asked"]);
}

#[test]
fn a_contender_that_refuses_is_quoted_in_one_line_and_continues() {
    costs_one_experiment("refuses", &["answered with an error: I would rather not really"]);
}

#[test]
fn a_contender_that_floods_standard_error_loses_nothing() {
    let bench = Bench::of("ping-pong", &[contender("loud", "shouts")]);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    assert_eq!(principals(&bench.results(), "ping-pong", "loud"), 1);
    assert!(!bench.stderr().contains("were not asked for"));
}

#[test]
fn a_contender_that_greets_with_garbage_is_excluded() {
    let bench = Bench::of("ping-pong", &[contender("honest", ""), contender("culprit", "rude")]);
    assert_eq!(bench.status(), 1);
    let results = bench.results();
    assert_eq!(principals(&results, "ping-pong", "honest"), 1);
    assert_eq!(list(&results, "contenders").len(), 1);
    assert_eq!(bench.lines_about("culprit").len(), 1);
    assert!(list(&results, "problems")[0]["experiment"].is_null());
}
