//! Comparison of two runs: error rates on simulated noise, and figures that are not compared.

use crate::noise::{Cost, DRIFTING, LOUD, Machine, QUIET, entry, run};
use proptest::prelude::*;
use purlin_lab::comparison::{Comparison, Verdict, compare, compare_within, markdown, sides, text};
use purlin_lab::results::ResultEntry;
use purlin_lab::stored::Figures;
use serde_json::json;

fn compared<'a>(old: &'a Figures, new: &'a Figures) -> Comparison<'a> {
    compare(("old.json", old), ("new.json", new), true).expect("they have something in common")
}

/// Returns how many figures of `contender` get this verdict in `pairs` pairs of runs with these
/// true costs.
fn verdicts(
    verdict: Verdict,
    contender: &str,
    machine: &Machine,
    (old, new): (&[Cost<'_>], &[Cost<'_>]),
    rounds: usize,
    pairs: u64,
) -> usize {
    let mut dice = fastrand::Rng::with_seed(42);
    let mut count = 0;
    for _ in 0..pairs {
        let (old, new) = (machine.run(old, rounds, &mut dice), machine.run(new, rounds, &mut dice));
        let compared = compared(&old, &new);
        let own = compared.primary.iter().filter(|one| one.new.contender == contender);
        count += own.filter(|one| one.moved.verdict == verdict).count();
    }
    count
}

#[test]
fn false_positives_of_equal_runs_are_at_most_sixteen_of_two_hundred() {
    let same: &[Cost<'_>] = &[("ping-pong", "a", 100.0)];
    for machine in [QUIET, LOUD] {
        for rounds in [11, 15] {
            let alike =
                verdicts(Verdict::Indistinguishable, "a", &machine, (same, same), rounds, 200);
            assert!(200 - alike <= 16, "{} of 200 in {rounds} rounds", 200 - alike);
        }
    }
}

#[test]
fn false_positives_are_rare_among_many_unchanged_figures() {
    let names: Vec<String> = (0..20).map(|number| format!("experiment {number}")).collect();
    let same: Vec<Cost<'_>> = names.iter().map(|name| (name.as_str(), "a", 100.0)).collect();
    let alike = verdicts(Verdict::Indistinguishable, "a", &LOUD, (&same, &same), 11, 10);
    assert!(200 - alike <= 8, "{} of 200", 200 - alike);
}

#[test]
fn five_percent_slowdown_is_found_in_nine_of_ten_full_and_eight_of_ten_quick_runs() {
    let before: &[Cost<'_>] = &[("ping-pong", "a", 100.0), ("ping-pong", "b", 300.0)];
    let after: &[Cost<'_>] = &[("ping-pong", "a", 105.0), ("ping-pong", "b", 300.0)];
    for (rounds, pairs, due) in [(15, 100, 90), (11, 100, 80)] {
        let found = verdicts(Verdict::Worse, "a", &QUIET, (before, after), rounds, pairs);
        assert!(found >= due, "{found} of {pairs} in {rounds} rounds");
    }
}

/// Returns in how many runs with these two contenders the second gets this verdict.
fn verdicts_within(verdict: Verdict, machine: &Machine, costs: &[Cost<'_>; 2], runs: u64) -> usize {
    let mut dice = fastrand::Rng::with_seed(42);
    let all = (0..runs).map(|_| machine.run(costs, 15, &mut dice));
    all.filter(|run| {
        let sides = sides(run, ["a", "b"]).expect("both are there");
        let compared = compare_within("run.json", &sides, false).expect("they have figures");
        compared.primary[0].moved.verdict == verdict
    })
    .count()
}

#[test]
fn false_positives_within_a_run_are_at_most_sixteen_of_two_hundred_even_with_drift() {
    let same = [("ping-pong", "a", 100.0), ("ping-pong", "b", 100.0)];
    for machine in [QUIET, LOUD, DRIFTING] {
        let alike = verdicts_within(Verdict::Indistinguishable, &machine, &same, 200);
        assert!(200 - alike <= 16, "{} of 200", 200 - alike);
    }
}

#[test]
fn five_percent_slowdown_within_a_run_is_found_in_nine_of_ten_even_with_drift() {
    let slowed = [("ping-pong", "a", 100.0), ("ping-pong", "b", 105.0)];
    for machine in [QUIET, DRIFTING] {
        let found = verdicts_within(Verdict::Worse, &machine, &slowed, 100);
        assert!(found >= 90, "{found} of 100");
    }
}

#[test]
fn lower_rate_within_a_run_is_slower_and_a_missing_contender_is_named() {
    let rate = |contender: &str, value: f64| ResultEntry {
        better: "higher".into(),
        unit: "processes/s".into(),
        contender: contender.into(),
        ..about(value)
    };
    let run = run(vec![rate("a", 110.0), rate("b", 100.0)]);
    let there = sides(&run, ["a", "b"]).unwrap();
    let compared = compare_within("run.json", &there, false).unwrap();
    assert_eq!(compared.primary[0].word(), "slower");
    let ratio = compared.primary[0].moved.ratio.unwrap();
    assert!((ratio.value - 1.1).abs() < 1e-9 && ratio.high - ratio.low < 1e-9, "{ratio:?}");
    assert!(text(&compared).contains("a → b") && text(&compared).contains("both are of one run"));
    assert_eq!(sides(&run, ["a", "c"]).unwrap_err(), "c");
}

#[test]
fn drift_of_the_machine_is_noted() {
    let mut dice = fastrand::Rng::with_seed(3);
    let costs: Vec<Cost<'_>> = vec![("ping-pong", "a", 1.0), ("call", "a", 1.0)];
    let mut noted = |machine: Machine| {
        let (old, new) = (machine.run(&costs, 15, &mut dice), machine.run(&costs, 15, &mut dice));
        compared(&old, &new).notes.iter().any(|note| note.contains("drifted within a run"))
    };
    let drifting = (0..20).filter(|_| noted(DRIFTING)).count();
    let quiet = (0..20).filter(|_| noted(QUIET)).count();
    assert!(drifting >= 10 && quiet <= 6, "{drifting} of 20 that drift, {quiet} that do not");
}

/// Returns a primary metric with these samples, one a round.
fn with(samples: Vec<f64>, experiment: &str) -> ResultEntry {
    ResultEntry { rounds: (1..=samples.len()).collect(), samples, ..entry(experiment, "a") }
}

/// Returns a figure with eleven samples around this value, with a spread of 1 %.
fn about(value: f64) -> ResultEntry {
    let samples = [3, -2, 5, 0, -5, 1, 4, -1, -3, 2, -4];
    let samples = samples.map(|step| value * (1.0 + f64::from(step) / 500.0)).to_vec();
    with(samples, "ping-pong")
}

fn verdict(old: ResultEntry, new: ResultEntry) -> (Verdict, &'static str) {
    let (old, new) = (run(vec![old]), run(vec![new]));
    let compared = compared(&old, &new);
    let one = compared.primary.first().expect("it is primary");
    (one.moved.verdict, one.word())
}

#[test]
fn verdict_is_faster_or_slower_for_speeds_and_better_or_worse_otherwise() {
    let of = |unit: &str, better: &str, value: f64| ResultEntry {
        unit: unit.into(),
        better: better.into(),
        ..about(value)
    };
    for (unit, better, old, new, word) in [
        ("ns", "lower", 100.0, 110.0, "slower"),
        ("ns", "lower", 110.0, 100.0, "faster"),
        ("processes/s", "higher", 100.0, 110.0, "faster"),
        ("processes/s", "higher", 110.0, 100.0, "slower"),
        ("bytes", "lower", 100.0, 110.0, "worse"),
        ("bytes", "lower", 110.0, 100.0, "better"),
        ("ns", "lower", 100.0, 100.3, "indistinguishable"),
        // A change of less than 2 % is not reported, even if the samples hardly differ.
        ("bytes", "lower", 100.0, 101.5, "indistinguishable"),
    ] {
        let verdicts = verdict(of(unit, better, old), of(unit, better, new)).1;
        assert_eq!(verdicts, word, "{unit} {old} {new}");
    }
}

#[test]
fn figure_near_zero_has_no_ratio_and_is_judged_by_ranks() {
    let zero = with(vec![-2.0, 1.0, 0.0, -1.0, 2.0, 0.5, -0.5], "call");
    let far = with((50..57).map(f64::from).collect(), "call");
    assert_eq!(verdict(zero.clone(), far.clone()).0, Verdict::Worse);
    assert_eq!(verdict(zero.clone(), zero.clone()).0, Verdict::Indistinguishable);
    let (old, new) = (run(vec![zero]), run(vec![far]));
    let compared = compared(&old, &new);
    assert_eq!(compared.primary[0].moved.ratio, None);
    assert_eq!(compared.beyond(0.0).count(), 0);
    assert!(compared.notes.iter().any(|note| note.contains("--fail-above ignores it")));
}

#[test]
fn threshold_applies_to_the_whole_interval_of_a_primary_metric() {
    let (old, new) = (run(vec![about(100.0)]), run(vec![about(110.0)]));
    let over = compared(&old, &new);
    let low = over.primary[0].moved.ratio.unwrap().low;
    assert!(low < 1.10 && low > 1.08, "{low}");
    assert_eq!(over.beyond(100.0 * (low - 1.0) - 0.01).count(), 1);
    assert_eq!(over.beyond(100.0 * (low - 1.0) + 0.01).count(), 0);
    assert_eq!(compared(&new, &old).beyond(0.0).count(), 0);
    let minor = |value| run(vec![ResultEntry { primary: false, ..about(value) }]);
    let (old, new) = (minor(100.0), minor(200.0));
    assert_eq!((compared(&old, &new).rest.len(), compared(&old, &new).beyond(1.0).count()), (1, 0));
}

#[test]
fn only_calibrated_parameters_may_differ() {
    let asked = |experiment: &str, params: serde_json::Value| {
        let params = params.as_object().cloned().unwrap_or_default();
        run(vec![ResultEntry { experiment: experiment.into(), params, ..about(100.0) }])
    };
    let (old, new) = (asked("ping-pong", json!({"n": 5})), asked("ping-pong", json!({"n": 7})));
    assert_eq!(compared(&old, &new).primary.len(), 1);
    let mut new = asked("fork-join", json!({"n": 7}));
    let old = asked("fork-join", json!({"n": 5}));
    assert!(compare(("a", &old), ("b", &new), true).is_none());
    new.results.push(about(1.0));
    let mut old = old;
    old.results.push(about(1.0));
    let lines = compared(&old, &new).not_compared;
    assert_eq!(lines, ["fork-join a: differs in what was asked (n 5 → 7)"]);
}

#[test]
fn unpaired_figures_are_listed_and_version_changes_are_noted() {
    let named = |experiment: &str| ResultEntry { experiment: experiment.into(), ..about(5.0) };
    let (mut old, mut new) =
        (run(vec![about(1.0), named("call"), named("call")]), run(vec![about(1.0), named("hog")]));
    for (run, version) in [(&mut old, "a 1"), (&mut new, "a 2")] {
        run.contenders = serde_json::from_value(
            json!([{"id": "a", "label": "a", "version": version, "notes": [], "variants": {}}]),
        )
        .unwrap();
    }
    let compared = compared(&old, &new);
    assert_eq!(
        compared.not_compared,
        ["call a: 2 figures, only in the old run", "hog a: only in the new run"]
    );
    assert_eq!(compared.notes, ["a is another version: a 1 → a 2"]);
}

#[test]
fn change_at_the_same_version_is_noted() {
    let same = json!([{"id": "a", "label": "a", "version": "1", "notes": [], "variants": {}}]);
    let named = |value| Figures {
        contenders: serde_json::from_value(same.clone()).unwrap(),
        ..run(vec![about(value)])
    };
    let (old, new) = (named(100.0), named(120.0));
    let [note] = compared(&old, &new).notes.try_into().expect("one note");
    assert!(note.starts_with("moved at the same version: a;"), "{note}");
    assert!(compared(&old, &old).notes.is_empty());
}

#[test]
fn text_is_at_most_a_hundred_columns_wide_even_with_long_names() {
    let long = "a-contender-with-a-very-long-name-of-more-than-forty-letters";
    let named =
        |value| run(vec![ResultEntry { contender: long.into(), ..about(value) }, about(value)]);
    let (old, new) = (named(123_456.0), named(150_000.0));
    let mut compared = compared(&old, &new);
    let flat = text(&compared);
    assert!(flat.contains("ping-pong: time, ns\n"), "{flat}");
    compared.primary.remove(0);
    let flat = text(&compared);
    assert!(flat.contains("ping-pong   a          ns    123k  150k  1.215 ("), "{flat}");
    assert!(flat.lines().all(|line| line.chars().count() <= 100), "{flat}");
}

#[test]
fn markdown_escapes_names() {
    let named = |value| {
        let contender = "beam:+sbwt none|x".into();
        run(vec![
            ResultEntry { contender, ..about(value) },
            ResultEntry { primary: false, ..about(value) },
        ])
    };
    let (old, new) = (named(100.0), named(120.0));
    let text = markdown(&compared(&old, &new));
    assert!(
        text.contains("| ping-pong | beam:+sbwt none\\|x | ns | 100 | 120 | 1.200 ("),
        "{text}"
    );
    assert!(text.contains("| **slower** |") && text.contains("<details>"), "{text}");
}

fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0f64..1e6, 6..16)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn swapping_the_runs_inverts_the_ratio_and_the_word(some in samples(), others in samples(), rate: bool) {
        let of = |samples: &[f64]| {
            let better = if rate { "higher" } else { "lower" }.into();
            run(vec![ResultEntry { better, ..with(samples.to_vec(), "call") }])
        };
        let (old, new) = (of(&some), of(&others));
        let there = compared(&old, &new).primary[0].moved;
        let back = compared(&new, &old).primary[0].moved;
        let (one, other) = (there.ratio.unwrap(), back.ratio.unwrap().inverse());
        for (one, other) in [(one.value, other.value), (one.low, other.low), (one.high, other.high)] {
            prop_assert!((one / other - 1.0).abs() < 1e-9);
        }
        prop_assert_eq!(there.verdict, match back.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            Verdict::Indistinguishable => Verdict::Indistinguishable,
        });
    }

    #[test]
    fn any_finite_figures_are_compared_and_rendered(
        some in prop::collection::vec(any::<f64>().prop_filter("JSON has no others", |one| one.is_finite()), 1..9),
        others in prop::collection::vec(any::<f64>().prop_filter("JSON has no others", |one| one.is_finite()), 1..9),
        word in "(lower|higher|.{0,4})"
    ) {
        let of = |samples: &[f64]| {
            let better = word.clone();
            let contender = word.clone();
            run(vec![ResultEntry { better, contender, ..with(samples.to_vec(), "call") }])
        };
        let (old, new) = (of(&some), of(&others));
        let compared = compared(&old, &new);
        prop_assert!(text(&compared).contains(compared.primary[0].word()));
        prop_assert!(markdown(&compared).contains(compared.primary[0].word()));
    }

    #[test]
    fn run_compared_with_itself_is_indistinguishable(figures in prop::collection::vec(samples(), 1..6)) {
        let entries = figures.into_iter().enumerate();
        let results = entries.map(|(number, samples)| {
            ResultEntry { x: Some(number as u64), ..with(samples, "call") }
        });
        let own = run(results.collect());
        let compared = compared(&own, &own);
        prop_assert!(compared.not_compared.is_empty());
        for one in &compared.primary {
            prop_assert_eq!(one.moved.verdict, Verdict::Indistinguishable);
            prop_assert!((one.moved.ratio.unwrap().value - 1.0).abs() < 1e-12);
        }
    }
}
