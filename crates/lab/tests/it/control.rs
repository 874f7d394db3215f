//! Error rates of the verdict, the same in report and comparison, and the A/A control.

use std::path::Path;

use crate::noise::{Cost, DRIFTING, LOUD, Machine, QUIET, entry, of_stored_shape};
use purlin_lab::comparison::{compare, compare_within, sides};
use purlin_lab::results::{ResultEntry, Verdict, control, ratios};
use purlin_lab::stored::{Figures, read_judged, results_file};

/// Noise to simulate.
#[derive(Clone, Copy)]
enum Noise {
    /// Of a model of a machine.
    Of(Machine),
    /// Of the shape of stored samples.
    Stored,
}

impl Noise {
    fn run(self, costs: &[Cost<'_>], rounds: usize, dice: &mut fastrand::Rng) -> Figures {
        match self {
            Self::Of(machine) => machine.run(costs, rounds, dice),
            Self::Stored => of_stored_shape(costs, rounds, dice),
        }
    }
}

const NOISES: [Noise; 4] = [Noise::Of(QUIET), Noise::Of(LOUD), Noise::Of(DRIFTING), Noise::Stored];

/// Returns in how many runs the report gives the second contender this verdict; fails if the
/// comparison of the two contenders gives another.
fn verdicts(verdict: Verdict, noise: Noise, slower: f64, rounds: usize, runs: u64) -> usize {
    let mut dice = fastrand::Rng::with_seed(42);
    let costs = [("ping-pong", "a", 100.0), ("ping-pong", "b", 100.0 * slower)];
    let given = (0..runs).map(|_| {
        let run = noise.run(&costs, rounds, &mut dice);
        let [reported] = &ratios(&run.results)[..] else { panic!("there is one ratio") };
        let sides = sides(&run, ["a", "b"]).expect("both are there");
        let compared = compare_within("run.json", &sides, false).expect("they have figures");
        let moved = compared.primary[0].moved;
        assert_eq!(moved.verdict, reported.verdict);
        assert_eq!(moved.ratio.map(|ratio| ratio.value), Some(reported.ratio));
        reported.verdict
    });
    given.filter(|given| *given == verdict).count()
}

#[test]
fn at_most_sixteen_of_two_hundred_equal_contenders_are_called_different() {
    for (place, noise) in NOISES.into_iter().enumerate() {
        for rounds in [6, 11, 15, 151] {
            let alike = verdicts(Verdict::Indistinguishable, noise, 1.0, rounds, 200);
            assert!(200 - alike <= 16, "{} of 200, noise {place}, {rounds} rounds", 200 - alike);
        }
    }
}

/// 180 of 200 is 18 of 20. The stored samples spread by 12 %, so only many rounds show 5 %.
#[test]
fn slowdown_of_five_percent_is_found_in_eighteen_of_twenty_runs() {
    for (noise, rounds) in [(Noise::Of(QUIET), 15), (Noise::Of(DRIFTING), 15), (Noise::Stored, 201)]
    {
        let found = verdicts(Verdict::Worse, noise, 1.05, rounds, 200);
        assert!(found >= 180, "{found} of 200 in {rounds} rounds");
    }
}

#[test]
fn false_positives_are_controlled_over_all_ratios_of_a_run() {
    let names: Vec<String> = (0..20).map(|number| format!("experiment {number}")).collect();
    let costs: Vec<Cost<'_>> =
        names.iter().flat_map(|name| [(&**name, "a", 1.0), (&**name, "b", 1.0)]).collect();
    let mut dice = fastrand::Rng::with_seed(42);
    let alarms = (0..200).filter(|_| {
        let run = of_stored_shape(&costs, 15, &mut dice);
        let differs = |verdict| verdict != Verdict::Indistinguishable;
        ratios(&run.results).iter().any(|ratio| differs(ratio.verdict))
    });
    // 10 ± 2·3.1 runs of 200 have a false positive at a rate of 5 %.
    let alarms = alarms.count();
    assert!(alarms <= 16, "{alarms} of 200 runs");
}

/// Returns `tail-call` of these contenders, with a spread of 1 %.
fn of_control(costs: &[(&str, f64)]) -> Vec<ResultEntry> {
    let figure = |(contender, cost): &(&str, f64)| {
        let samples = [3, -2, 5, 0, -5, 1, 4, -1, -3, 2, -4];
        let samples = samples.map(|step| cost * (1.0 + f64::from(step) / 1000.0));
        let rounds = (1..=samples.len()).collect();
        let samples = samples.to_vec();
        ResultEntry { rounds, samples, median: *cost, ..entry("tail-call", contender) }
    };
    costs.iter().map(figure).collect()
}

#[test]
fn control_compares_programs_with_the_same_function_and_no_others() {
    let results = of_control(&[("purlin", 0.4), ("beam", 2.0), ("tokio", 0.4), ("actix", 0.3)]);
    let control = control(&results).expect("three contenders run the function");
    assert_eq!(control.contenders, ["purlin", "tokio", "actix"]);
    assert!((control.spread - 4.0 / 3.0).abs() < 1e-9, "{}", control.spread);
    assert_eq!((control.ratios.len(), control.differing()), (3, 2));
    let due = "control: tail-call is the same function in purlin, tokio, actix; medians within \
               1.33 times, 2 of 3 comparisons called different";
    assert_eq!(control.line(), due);
    let warning = control.warning().expect("it differs");
    assert_eq!(warning.kind, "control");
    assert!(warning.message.contains("2 of 3 comparisons in tail-call, by up to 1.33 times"));
    let alike = of_control(&[("purlin", 0.4), ("tokio", 0.4)]);
    assert_eq!(purlin_lab::results::control(&alike).unwrap().warning(), None);
    for too_few in [&results[..2], &[]] {
        assert!(purlin_lab::results::control(too_few).is_none());
    }
}

#[test]
fn control_is_noted_in_a_comparison_of_two_runs_and_of_two_contenders() {
    let run = |costs: &[(&str, f64)]| crate::noise::run(of_control(costs));
    let old = run(&[("purlin", 0.4), ("tokio", 0.4)]);
    let new = run(&[("purlin", 0.4), ("tokio", 0.5)]);
    let compared = compare(("old", &old), ("new", &new), false).expect("they have figures");
    let due = "control: tail-call is the same function in purlin, tokio; 1 of 2 called different \
               between the runs, by 1.00 to 1.25 times";
    assert!(compared.notes.iter().any(|note| note == due), "{:?}", compared.notes);
    let sides = sides(&new, ["purlin", "tokio"]).expect("both are there");
    let compared = compare_within("new", &sides, false).expect("they have figures");
    let noted = |note: &String| note.ends_with("1 of 1 comparisons called different");
    assert!(compared.notes.iter().any(noted), "{:?}", compared.notes);
}

#[test]
fn every_stored_run_is_read_and_judged_anew() {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let folders = std::fs::read_dir(reports).expect("there are reports");
    let folders = folders.map(|folder| folder.expect("a folder").path());
    let runs: Vec<_> = folders.filter(|folder| folder.is_dir()).collect();
    assert!(!runs.is_empty());
    for folder in runs {
        let file = results_file(&folder);
        let run = read_judged(&file).expect("it is read");
        let ratios = run["ratios"].as_array().expect("a list");
        assert!(ratios.len() > 20, "{}", file.display());
        let enough = |ratio: &serde_json::Value| ratio["rounds"].as_u64() >= Some(6);
        assert!(ratios.iter().all(enough), "{}", file.display());
        assert!(run["control"]["spread"].as_f64() >= Some(1.0), "{}", file.display());
        let source = &run["contenders"][0]["sources"]["ping-pong"];
        assert_eq!(source, "contenders/purlin/src/messages.rs");
    }
}
