//! The order in which contenders are asked, and how much, on a made-up runtime.

use crate::support;
use crate::support::{MadeUpRuntime, entrants, sampled};
use purlin_lab::contender::{Failure, Reply};
use purlin_lab::experiments::ALL;
use purlin_lab::profile::{Budget, Profile};
use purlin_lab::sampling::{Executor, Request, sample};
use serde_json::{Value, json};

/// The contenders of the rounds' samples, in the order in which they were asked.
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
fn every_round_asks_every_contender_at_every_point_once() {
    let (_, memory) = sampled("fan-in", &entrants(3), 1, &mut MadeUpRuntime::default());
    let order = order(&memory.records);
    assert_eq!(order.len(), 5 * 3 * 5);
    for round in 1..=5 {
        let mut seen: Vec<_> = order
            .iter()
            .filter(|sample| sample.0 == round)
            .map(|(_, contender, senders)| format!("{contender} {senders}"))
            .collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 15);
    }
    assert_eq!(memory.rounds, [1, 2, 3, 4, 5]);
}

#[test]
fn contenders_take_turns_and_the_turns_differ() {
    let (_, memory) = sampled("ping-pong", &entrants(3), 1, &mut MadeUpRuntime::default());
    let order: Vec<_> = order(&memory.records).into_iter().map(|sample| sample.1).collect();
    let rounds: Vec<_> = order.chunks(3).collect();
    assert!(rounds.iter().any(|round| round != &rounds[0]), "{rounds:?}");
}

#[test]
fn the_same_seed_repeats_the_order_and_another_changes_it() {
    let run = |seed| sampled("fan-in", &entrants(2), seed, &mut MadeUpRuntime::default()).1.records;
    assert_eq!(order(&run(7)), order(&run(7)));
    assert_ne!(order(&run(7)), order(&run(8)));
}

#[test]
fn what_is_set_by_time_is_set_for_each_contender_by_itself() {
    let (outcome, _) = sampled("ping-pong", &entrants(2), 1, &mut MadeUpRuntime::default());
    let n = |lane: usize| outcome.lanes[lane].points[0].params["n"].as_u64().unwrap();
    // 100 ms at 100 and at 200 ns.
    assert_eq!((n(0), n(1)), (1_000_000, 500_000));
}

#[test]
fn every_sample_of_a_sweep_takes_its_share_and_a_round_one_tenth_of_a_second() {
    for id in
        ["tail-call", "spawn-chain", "exchange", "fan-in", "message-size", "bandwidth", "selective"]
    {
        let (outcome, _) = sampled(id, &entrants(1), 1, &mut MadeUpRuntime::default());
        let first_round = outcome.lanes[0].points.iter().map(|point| point.replies[0].1.elapsed_ns);
        let ms = first_round.sum::<u64>() as f64 / 1e6;
        assert!((80.0..130.0).contains(&ms), "{id}: {ms} ms");
    }
}

#[test]
fn the_steps_of_call_vs_send_hit_their_targets_and_are_told() {
    let (outcome, memory) = sampled("call-vs-send", &entrants(1), 1, &mut MadeUpRuntime::default());
    let remote: Vec<_> = outcome.steps.iter().filter(|step| step.mode == "remote").collect();
    let targets: Vec<_> = remote.iter().map(|step| step.target_ns.map(|ns| ns / 1e6)).collect();
    assert_eq!(targets, [None, Some(1.0), Some(20.0), Some(60.0), Some(200.0)]);
    assert!(outcome.steps.iter().all(|step| step.hit));
    assert_eq!(remote[0].n, 10);
    assert_eq!(memory.lines.len(), 10);
    assert!(memory.lines[0].contains("calls/µs") && memory.lines[0].contains("n = 10"));
}

#[test]
fn a_step_that_misses_is_repeated_with_what_it_said() {
    // The first calls are cold: 50 times as slow as they will be.
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
fn a_contender_that_fails_is_not_asked_again_and_the_others_lose_nothing() {
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
    let whole = |point: &purlin_lab::sampling::Taken| point.replies.len() == 5;
    assert!(outcome.lanes.iter().all(|lane| lane.points.iter().all(whole)));
    let told = memory.lines.iter().filter(|line| line.contains("ended by itself")).count();
    assert_eq!(told, 1);
}

#[test]
fn a_void_sample_is_kept_with_its_reason_and_counts_for_nothing() {
    let mut calls = 0;
    let mut runtime = MadeUpRuntime::spoiling(move |_, _, answer| {
        calls += 1;
        if calls == 4 {
            answer["received"] = json!(answer["received"].as_u64().unwrap() - 1);
        }
        Ok(())
    });
    let (outcome, memory) = sampled("ping-pong", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.void.len(), 1);
    assert!(outcome.void[0].reason.starts_with("received is"), "{}", outcome.void[0].reason);
    assert_eq!(outcome.lanes[0].points[0].replies.len(), 4);
    let stored = memory.records.iter().filter(|record| record["void"].is_string()).count();
    assert_eq!(stored, 1);
}

#[test]
fn a_sample_in_which_no_time_passed_is_void() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["elapsed_ns"] = json!(0);
        Ok(())
    });
    let (outcome, _) = sampled("throughput", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.void.len(), 5);
    assert_eq!(outcome.void[0].reason, "no time has passed");
}

#[test]
fn all_variants_of_a_contender_are_sampled_and_the_first_is_its_natural_one() {
    let mut both = entrants(2);
    both[0].variants.insert("message-size".into(), vec!["moved".into(), "copied".into()]);
    let mut runtime = MadeUpRuntime::default();
    let (outcome, _) = sampled("message-size", &both, 1, &mut runtime);
    let lanes: Vec<_> = outcome
        .lanes
        .iter()
        .map(|lane| (lane.label.as_str(), lane.variant.as_deref(), lane.natural))
        .collect();
    assert_eq!(
        lanes,
        [("a", Some("moved"), true), ("a", Some("copied"), false), ("b", None, true)]
    );
    assert_eq!(outcome.lanes[1].points[0].params["variant"], "copied");
}

/// Hangs when it is asked in this way.
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
fn a_contender_that_fails_in_one_of_its_ways_goes_on_in_its_natural_one() {
    let mut both = entrants(1);
    both[0].variants.insert("message-size".into(), vec!["moved".into(), "copied".into()]);
    for (failing, left, how) in
        [("copied", &["moved"][..], "copied: hangs"), ("moved", &[], "hangs")]
    {
        let (outcome, _) = sampled("message-size", &both, 1, &mut Hanging(failing));
        assert_eq!(outcome.lost.last(), Some(&("a".to_owned(), how.to_owned())));
        let lanes = outcome.lanes.iter();
        assert_eq!(lanes.filter_map(|lane| lane.variant.as_deref()).collect::<Vec<_>>(), left);
    }
}

/// Every figure of every honest answer that the protocol's table fixes is
/// falsified in turn; each must make the sample void.
#[test]
fn no_experiment_takes_an_answer_with_a_figure_that_is_off_by_one() {
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
                let measured = ["_ns", "_peak", "_bytes", "_before", "_after", "late", "cut"];
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
fn a_queue_beyond_one_gibibyte_is_void_and_says_so() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        if answer.get("queue_peak_bytes").is_some() {
            answer["queue_peak_bytes"] = json!((1u64 << 30) + 1);
        }
        Ok(())
    });
    let (outcome, _) = sampled("call-vs-send", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.void.len(), 5);
    assert!(outcome.void[0].reason.contains("1 GiB"));
}

#[test]
fn a_contender_that_starves_is_not_asked_again_and_the_others_lose_nothing() {
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
    assert!(outcome.lost.is_empty() && outcome.void.is_empty());
    let left: Vec<_> = outcome.lanes.iter().map(|lane| lane.label.as_str()).collect();
    assert_eq!(left, ["a", "c"]);
    assert_eq!(memory.lines, [format!("hog b: {how}")]);
}

#[test]
fn one_that_says_it_starved_while_every_trip_came_back_is_void() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["starved"] = json!(1);
        Ok(())
    });
    let (outcome, _) = sampled("hog", &entrants(1), 1, &mut runtime);
    assert!(outcome.starved.is_empty());
    assert_eq!(outcome.void.len(), 2 * 5);
}

#[test]
fn trips_whose_times_are_out_of_order_are_void() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["p99_ns"] = json!(answer["p50_ns"].as_u64().unwrap() - 1);
        Ok(())
    });
    let (outcome, _) = sampled("hog", &entrants(1), 1, &mut runtime);
    assert!(outcome.void[0].reason.contains("not in order"), "{}", outcome.void[0].reason);
}

#[test]
fn without_a_reading_of_its_memory_a_sample_is_void() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer.as_object_mut().unwrap().remove("resident_after");
        Ok(())
    });
    let (outcome, _) = sampled("idle-memory", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.void[0].reason, "its resident memory cannot be read");
}

#[test]
fn what_takes_long_is_sampled_six_times_at_most() {
    let rounds = |id: &str, of| {
        let mut memory = support::Memory::default();
        let budget = Budget::new(Profile::Quick, Some(of), None, None);
        let mut runtime = MadeUpRuntime::default();
        let of = support::experiment(id);
        sample(of, &entrants(1), Profile::Quick, &budget, 1, &mut runtime, &mut memory).unwrap();
        memory.rounds.len()
    };
    assert_eq!((rounds("hog", 11), rounds("idle-memory", 11)), (6, 6));
    assert_eq!((rounds("hog", 2), rounds("ping-pong", 11)), (2, 11));
}
