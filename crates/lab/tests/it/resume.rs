//! A run interrupted at any point, any number of times, gives the same result as an uninterrupted
//! one.

use crate::support::{MadeUpRuntime, Memory, budget, entrants, experiment};
use proptest::prelude::*;
use purlin_lab::contender::Failure;
use purlin_lab::profile::Profile;
use purlin_lab::sampling::{Outcome, Past, Replay, ReplayCheck, Stop, sample};
use serde_json::{Value, json};

/// Returns the records as they are read from disk.
fn on_disk(records: &[Value]) -> Past {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    Past::read(lines.as_bytes()).expect("what was written is read").0
}

/// Returns a runtime whose third contender fails once n exceeds 100 000 and whose first contender
/// loses a message in some samples; it is interrupted after `after` requests.
fn runtime(after: usize) -> MadeUpRuntime {
    MadeUpRuntime::spoiling(move |before, place, answer| {
        if before >= after {
            return Err(Failure::Interrupted);
        }
        let n = answer["ops"].as_u64().unwrap();
        if place == 2 && n > 100_000 {
            return Err(Failure::Broken("ended by itself".into()));
        }
        if place == 0 && n % 7 == 3 {
            answer["received"] = json!(n - 1);
        }
        Ok(())
    })
}

/// Resumes after these records and continues until `after` further requests.
fn sitting(id: &str, records: &mut Vec<Value>, after: usize) -> Result<Outcome, Stop> {
    let past = on_disk(records);
    let mut executor = Replay::new(&past, runtime(after));
    let mut watch = ReplayCheck::new(&past, Memory::default());
    let outcome = sample(
        experiment(id),
        &entrants(3),
        Profile::Quick,
        &budget(),
        1,
        &mut executor,
        &mut watch,
    );
    records.extend(watch.then.records);
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn interruptions_do_not_change_the_result(
        id in prop::sample::select(vec!["fan-in", "ping-pong", "message-size", "call-vs-send", "hog"]),
        mut sittings in prop::collection::vec(0usize..60, 0..6),
    ) {
        let mut whole = Vec::new();
        let whole_outcome = sitting(id, &mut whole, usize::MAX).unwrap();
        let mut records = Vec::new();
        sittings.push(usize::MAX);
        for after in sittings {
            let had = records.len();
            match sitting(id, &mut records, after) {
                Ok(outcome) => {
                    prop_assert_eq!(&records, &whole);
                    prop_assert_eq!(format!("{outcome:?}"), format!("{whole_outcome:?}"));
                }
                Err(Stop::Interrupted(_)) => {
                    prop_assert_eq!(records.len(), had + after);
                    prop_assert_eq!(&records[..], &whole[..records.len()]);
                }
                Err(Stop::Problem(problem)) => prop_assert!(false, "{}", problem),
            }
        }
    }

    #[test]
    fn modified_record_is_refused_with_its_line(
        line in any::<prop::sample::Index>(), field in prop::sample::select(vec!["contender", "kind", "params"])
    ) {
        let mut records = Vec::new();
        sitting("fan-in", &mut records, usize::MAX).unwrap();
        let line = line.index(records.len());
        records[line][field] = json!("changed");
        let Err(Stop::Problem(problem)) = sitting("fan-in", &mut records, usize::MAX) else {
            panic!("it went on");
        };
        let due = format!("line {} of its samples", line + 1);
        prop_assert!(problem.to_string().contains(&due), "{}", problem);
    }
}

#[test]
fn interrupted_experiment_counts_only_complete_rounds_and_only_from_six_on() {
    use purlin_lab::profile::Budget;
    let budget = Budget::new(Profile::Quick, Some(11), None, None);
    let interrupted = |after: usize| {
        let mut memory = Memory::default();
        let mut runtime = runtime(after);
        let (entrants, of) = (entrants(2), experiment("ping-pong"));
        match sample(of, &entrants, Profile::Quick, &budget, 1, &mut runtime, &mut memory) {
            Err(Stop::Interrupted(so_far)) => (memory.rounds.len(), so_far),
            other => panic!("{other:?}"),
        }
    };
    let mut judged = 0;
    for after in 4..26 {
        let (rounds, so_far) = interrupted(after);
        assert_eq!(so_far.is_some(), rounds >= 6, "{rounds} rounds");
        for lane in so_far.iter().flat_map(|outcome| &outcome.lanes) {
            assert_eq!(lane.points[0].replies.len(), rounds, "{}", lane.label);
            judged += 1;
        }
    }
    assert!(judged > 10);
}
