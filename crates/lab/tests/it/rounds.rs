//! Order and number of samples, on a simulated runtime.

use crate::support;
use crate::support::{MadeUpRuntime, entrants, sampled};
use purlin_lab::contender::{Failure, Reply};
use purlin_lab::experiments::ALL;
use purlin_lab::profile::{Budget, Profile};
use purlin_lab::sampling::{Executor, Request, sample};
use serde_json::{Value, json};

/// Returns round, contender and sender count of each sample, in the order of the requests.
fn order(records: &[Value]) -> Vec<(u64, String, Value)> {
    let samples = records.iter().filter(|record| record["kind"] == "sample");
    let one = |record: &Value| {
        let round = record["round"].as_u64().unwrap();
        let contender = record["contender"].as_str().unwrap().to_owned();
        (round, contender, record["params"]["senders"].clone())
    };
    samples.map(one).collect()
}

#[test]
fn every_round_runs_every_contender_once_at_every_point() {
    let (_, memory) = sampled("fan-in", &entrants(3), 1, &mut MadeUpRuntime::default());
    let order = order(&memory.records);
    assert_eq!(order.len(), 6 * 3 * 5);
    for round in 1..=6 {
        let mut seen: Vec<_> = order
            .iter()
            .filter(|sample| sample.0 == round)
            .map(|(_, contender, senders)| format!("{contender} {senders}"))
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 15);
    }
    assert_eq!(memory.rounds, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn order_of_contenders_differs_between_rounds() {
    let (_, memory) = sampled("ping-pong", &entrants(3), 1, &mut MadeUpRuntime::default());
    let order: Vec<_> = order(&memory.records).into_iter().map(|sample| sample.1).collect();
    let rounds: Vec<_> = order.chunks(3).collect();
    assert!(rounds.iter().any(|round| round != &rounds[0]), "{rounds:?}");
}

#[test]
fn seed_determines_the_order() {
    let run = |seed| sampled("fan-in", &entrants(2), seed, &mut MadeUpRuntime::default()).1.records;
    assert_eq!(order(&run(7)), order(&run(7)));
    assert_ne!(order(&run(7)), order(&run(8)));
}

#[test]
fn parameters_are_calibrated_per_contender() {
    let (outcome, _) = sampled("ping-pong", &entrants(2), 1, &mut MadeUpRuntime::default());
    let n = |lane: usize| outcome.lanes[lane].points[0].params["n"].as_u64().unwrap();
    // 40 ms at 100 ns and at 200 ns per operation.
    assert_eq!((n(0), n(1)), (400_000, 200_000));
}

#[test]
fn round_of_a_sweep_takes_forty_milliseconds() {
    for id in [
        "tail-call",
        "spawn-chain",
        "exchange",
        "fan-in",
        "message-size",
        "bandwidth",
        "message-moved",
        "selective",
    ] {
        let (outcome, _) = sampled(id, &entrants(1), 1, &mut MadeUpRuntime::default());
        let first_round = outcome.lanes[0].points.iter().map(|point| point.replies[0].1.elapsed_ns);
        let ms = first_round.sum::<u64>() as f64 / 1e6;
        assert!((32.0..52.0).contains(&ms), "{id}: {ms} ms");
    }
}

#[test]
fn steps_of_call_vs_send_hit_their_targets_and_are_reported() {
    let (outcome, memory) = sampled("call-vs-send", &entrants(1), 1, &mut MadeUpRuntime::default());
    let remote: Vec<_> = outcome.steps.iter().filter(|step| step.mode == "remote").collect();
    let targets: Vec<_> = remote.iter().map(|step| step.target_ns.map(|ns| ns / 1e6)).collect();
    assert_eq!(targets, [None, Some(1.0), Some(10.0), Some(30.0), Some(100.0)]);
    assert!(outcome.steps.iter().all(|step| step.hit));
    assert_eq!(remote[0].n, 10);
    assert_eq!(memory.lines.len(), 10);
    assert!(memory.lines[0].contains("calls/µs") && memory.lines[0].contains("n = 10"));
}

#[test]
fn step_that_misses_is_repeated_with_a_corrected_value() {
    // The first calls are cold: 50 times slower than later ones.
    let mut runtime = MadeUpRuntime::spoiling(|before, _, answer| {
        if before < 3 {
            answer["elapsed_ns"] = json!(answer["elapsed_ns"].as_u64().unwrap() * 50);
        }
        Ok(())
    });
    let (outcome, _) = sampled("call-vs-send", &entrants(1), 1, &mut runtime);
    assert!(outcome.steps.iter().all(|step| step.hit), "{:?}", outcome.steps);
}

#[test]
fn failed_contender_is_not_asked_again_and_others_are_unaffected() {
    let mut failures = 0;
    let mut runtime = MadeUpRuntime::spoiling(move |before, place, _| {
        if place == 1 && before > 20 {
            failures += 1;
            assert_eq!(failures, 1, "it was asked again");
            return Err(Failure::Broken("ended by itself".into()));
        }
        Ok(())
    });
    let (outcome, memory) = sampled("fan-in", &entrants(3), 1, &mut runtime);
    assert_eq!(outcome.lost, [("b".to_owned(), "ended by itself".to_owned())]);
    let left: Vec<_> = outcome.lanes.iter().map(|lane| lane.label.as_str()).collect();
    assert_eq!(left, ["a", "c"]);
    let whole = |point: &purlin_lab::sampling::Taken| point.replies.len() == 6;
    assert!(outcome.lanes.iter().all(|lane| lane.points.iter().all(whole)));
    let reports = memory.lines.iter().filter(|line| line.contains("ended by itself")).count();
    assert_eq!(reports, 1);
}

#[test]
fn invalid_sample_is_stored_with_its_reason_and_not_counted() {
    let mut calls = 0;
    let mut runtime = MadeUpRuntime::spoiling(move |_, _, answer| {
        calls += 1;
        if calls == 4 {
            answer["received"] = json!(answer["received"].as_u64().unwrap() - 1);
        }
        Ok(())
    });
    let (outcome, memory) = sampled("ping-pong", &entrants(1), 1, &mut runtime);
    assert_eq!((outcome.invalid.len(), outcome.invalid[0].round), (1, 2));
    assert!(outcome.invalid[0].reason.starts_with("received is"), "{}", outcome.invalid[0].reason);
    assert_eq!(outcome.lanes[0].points[0].replies.len(), 5);
    let stored = memory.records.iter().filter(|record| record["void"].is_string()).count();
    assert_eq!(stored, 1);
}

#[test]
fn sample_with_zero_duration_is_invalid() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["elapsed_ns"] = json!(0);
        Ok(())
    });
    let (outcome, _) = sampled("throughput", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.invalid.len(), 6);
    assert_eq!(outcome.invalid[0].reason, "no time has passed");
}

#[test]
fn all_variants_are_sampled_and_the_first_is_natural() {
    let mut both = entrants(2);
    both[0].variants.insert("signals".into(), vec!["off_heap".into(), "on_heap".into()]);
    let mut runtime = MadeUpRuntime::default();
    let (outcome, _) = sampled("signals", &both, 1, &mut runtime);
    let lanes: Vec<_> = outcome
        .lanes
        .iter()
        .map(|lane| (lane.label.as_str(), lane.variant.as_deref(), lane.natural))
        .collect();
    assert_eq!(
        lanes,
        [("a", Some("off_heap"), true), ("a", Some("on_heap"), false), ("b", None, true)]
    );
    assert_eq!(outcome.lanes[1].points[0].params["variant"], "on_heap");
}

/// An executor that fails for this variant.
struct Hanging(&'static str);

impl Executor for Hanging {
    fn run(&mut self, contender: usize, request: &Request<'_>) -> Result<Reply, Failure> {
        if request.params["variant"] == self.0 {
            return Err(Failure::Broken("hangs".into()));
        }
        MadeUpRuntime::default().run(contender, request)
    }
}

#[test]
fn failed_variant_does_not_affect_the_natural_one() {
    let mut both = entrants(1);
    both[0].variants.insert("signals".into(), vec!["off_heap".into(), "on_heap".into()]);
    for (failing, left, how) in
        [("on_heap", &["off_heap"][..], "on_heap: hangs"), ("off_heap", &[], "hangs")]
    {
        let (outcome, _) = sampled("signals", &both, 1, &mut Hanging(failing));
        assert_eq!(outcome.lost.last(), Some(&("a".to_owned(), how.to_owned())));
        let lanes = outcome.lanes.iter();
        assert_eq!(lanes.filter_map(|lane| lane.variant.as_deref()).collect::<Vec<_>>(), left);
    }
}

/// Every field of a valid answer that the protocol's table defines is falsified in turn; each
/// change must make the sample invalid.
#[test]
fn every_experiment_rejects_answers_off_by_one() {
    for experiment in ALL {
        for point in (experiment.points)(purlin_lab::profile::Profile::Full) {
            let mut params = point.params;
            if let Some(scaled) = point.scaled {
                params.insert(scaled.param.into(), json!(7));
            }
            let honest = support::honest::honest(experiment.id, &params, 1);
            let read = |answer: &Value| {
                let object = answer.as_object().unwrap().clone();
                (experiment.check)(&params, &purlin_lab::contender::Reply::read(object).unwrap())
            };
            assert_eq!(read(&honest), Ok(()), "{}", experiment.id);
            for (name, value) in honest.as_object().unwrap() {
                let measured =
                    ["_ns", "_peak", "_bytes", "_before", "_after", "late", "cut", "denied"];
                let free = measured.iter().any(|end| name.ends_with(end));
                if free || (experiment.id == "exchange" && name == "elements") {
                    continue;
                }
                let mut falsified = honest.clone();
                falsified[name] = json!(value.as_u64().unwrap() + 1);
                assert!(read(&falsified).is_err(), "{} takes a wrong {name}", experiment.id);
            }
        }
    }
}

#[test]
fn queue_above_one_gibibyte_makes_a_sample_invalid() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        if answer.get("queue_peak_bytes").is_some() {
            answer["queue_peak_bytes"] = json!((1u64 << 30) + 1);
        }
        Ok(())
    });
    let (outcome, _) = sampled("call-vs-send", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.invalid.len(), 6);
    assert!(outcome.invalid[0].reason.contains("1 GiB"));
}

#[test]
fn starving_contender_is_not_asked_again_and_others_are_unaffected() {
    let mut asked = 0;
    let mut runtime = MadeUpRuntime::spoiling(move |_, place, answer| {
        if place == 1 {
            asked += 1;
            assert_eq!(asked, 1, "it was asked again");
            (answer["starved"], answer["received"], answer["ops"]) = (json!(1), json!(2), json!(2));
        }
        Ok(())
    });
    let (outcome, memory) = sampled("hog", &entrants(3), 1, &mut runtime);
    let [(label, how)] = outcome.starved.as_slice() else { panic!("{:?}", outcome.starved) };
    assert_eq!(label, "b");
    assert!(how.starts_with("starves: 2 of "), "{how}");
    assert!(outcome.lost.is_empty() && outcome.invalid.is_empty());
    let left: Vec<_> = outcome.lanes.iter().map(|lane| lane.label.as_str()).collect();
    assert_eq!(left, ["a", "c"]);
    assert_eq!(memory.lines, [format!("hog b: {how}")]);
}

#[test]
fn starving_with_all_round_trips_completed_is_invalid() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["starved"] = json!(1);
        Ok(())
    });
    let (outcome, _) = sampled("hog", &entrants(1), 1, &mut runtime);
    assert!(outcome.starved.is_empty());
    assert_eq!(outcome.invalid.len(), 3 * 6);
}

#[test]
fn round_trip_percentiles_out_of_order_are_invalid() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["p99_ns"] = json!(answer["p50_ns"].as_u64().unwrap() - 1);
        Ok(())
    });
    let (outcome, _) = sampled("hog", &entrants(1), 1, &mut runtime);
    assert!(outcome.invalid[0].reason.contains("not in order"), "{}", outcome.invalid[0].reason);
}

#[test]
fn sample_without_memory_reading_is_invalid() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer.as_object_mut().unwrap().remove("resident_after");
        Ok(())
    });
    let (outcome, _) = sampled("idle-memory", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.invalid[0].reason, "its resident memory cannot be read");
}

#[test]
fn slow_experiments_are_sampled_at_most_six_times() {
    let rounds = |id: &str, of| {
        let mut memory = support::Memory::default();
        let budget = Budget::new(Profile::Quick, Some(of), None, None);
        let mut runtime = MadeUpRuntime::default();
        let of = support::experiment(id);
        sample(of, &entrants(1), Profile::Quick, &budget, 1, &mut runtime, &mut memory).unwrap();
        memory.rounds.len()
    };
    assert_eq!((rounds("exit-cascade", 11), rounds("idle-memory", 11)), (6, 6));
    assert_eq!((rounds("exit-cascade", 2), rounds("hog", 11)), (2, 11));
}
