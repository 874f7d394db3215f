//! Contenders that die, hang or print rubbish cost themselves one experiment and nobody else anything.

use crate::support::{Bench, contender, list, principals};

/// Runs a contender with a fault in the middle one of three experiments beside
/// an honest one; it must lose that one alone, in one line with these words.
fn costs_one_experiment(fault: &str, words: &[&str]) {
    let culprit = contender("culprit", &format!("{fault}@throughput"));
    // WHY real time: a contender that hangs is found out by nothing else. An answer of the others takes a thousandth
    // of the limit on an idle machine.
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
fn one_that_dies_is_quoted_with_its_last_words() {
    costs_one_experiment("dies", &["ended by itself", "3", "I have had enough"]);
}

#[test]
fn one_that_hangs_is_ended_at_its_limit() {
    costs_one_experiment("hangs", &["no answer within 2 s"]);
}

#[test]
fn one_that_prints_rubbish_is_quoted_without_its_control_characters() {
    costs_one_experiment("rambles", &["Hello, here is your", "no JSON"]);
}

#[test]
fn one_that_answers_a_list_is_refused() {
    costs_one_experiment("is-list", &["[1,2]", "no JSON object"]);
}

#[test]
fn one_whose_figure_is_a_text_is_refused() {
    costs_one_experiment("is-text", &["elapsed_ns is no number"]);
}

#[test]
fn one_whose_figure_is_negative_is_refused() {
    costs_one_experiment("is-negative", &["elapsed_ns is -1"]);
}

#[test]
fn one_that_breaks_off_in_the_middle_of_a_line_has_ended() {
    costs_one_experiment("breaks-off", &["ended by itself"]);
}

#[test]
fn one_whose_line_never_ends_is_cut_off() {
    costs_one_experiment("never-ends", &["more than 1048576 bytes"]);
}

#[test]
fn one_that_answers_twice_is_caught_at_the_next_request() {
    costs_one_experiment("echoes", &["without being asked"]);
}

#[test]
fn one_that_refuses_is_quoted_on_one_line_and_goes_on() {
    costs_one_experiment("refuses", &["answered with an error: I would rather not really"]);
}

#[test]
fn one_that_shouts_on_standard_error_loses_nothing() {
    let bench = Bench::of("ping-pong", &[contender("loud", "shouts")]);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    assert_eq!(principals(&bench.results(), "ping-pong", "loud"), 1);
    assert!(!bench.stderr().contains("nobody asked for"));
}

#[test]
fn one_that_greets_with_rubbish_takes_no_part() {
    let bench = Bench::of("ping-pong", &[contender("honest", ""), contender("culprit", "rude")]);
    assert_eq!(bench.status(), 1);
    let results = bench.results();
    assert_eq!(principals(&results, "ping-pong", "honest"), 1);
    assert_eq!(list(&results, "contenders").len(), 1);
    assert_eq!(bench.lines_about("culprit").len(), 1);
    assert!(list(&results, "problems")[0]["experiment"].is_null());
}
