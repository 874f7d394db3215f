//! Figures computed from samples of a simulated runtime with known costs.

use crate::support::{MadeUpRuntime, entrants, experiment, sampled};
use purlin_lab::experiments::ALL;
use purlin_lab::results::{ResultEntry, figures, ratios};
use serde_json::json;

/// Returns the results of this number of contenders; the k-th costs k times the base time.
fn results(id: &str, contenders: usize) -> Vec<ResultEntry> {
    let (outcome, _) = sampled(id, &entrants(contenders), 1, &mut MadeUpRuntime::default());
    let lanes = outcome.lanes.iter();
    lanes.flat_map(|lane| figures(experiment(id), lane, Some(2.0))).collect()
}

fn primary(results: &[ResultEntry]) -> &ResultEntry {
    results.iter().find(|result| result.primary).expect("there is one")
}

fn near(found: f64, due: f64) -> bool {
    (found / due - 1.0).abs() < 1e-5
}

#[test]
fn every_experiment_has_exactly_one_primary_metric_per_contender() {
    for experiment in ALL {
        let results = results(experiment.id, 2);
        for label in ["a", "b"] {
            let own = results.iter().filter(|result| result.contender == label && result.primary);
            let own: Vec<_> = own.collect();
            assert_eq!(own.len(), 1, "{} {label}", experiment.id);
            assert_eq!(
                (own[0].metric.as_str(), own[0].unit.as_str()),
                (experiment.metric, experiment.unit)
            );
            assert_eq!(own[0].samples.len(), 6);
            assert_eq!(own[0].rounds, [1, 2, 3, 4, 5, 6]);
        }
    }
}

#[test]
fn primary_metrics_equal_the_simulated_costs() {
    for (id, due) in [
        ("call-vs-send", 100.0),
        ("tail-call", 1.0),
        ("spawn-chain", 100.0),
        ("exchange", 100.0),
        ("message-size", 1.0),
        ("message-moved", 1102.5),
        ("serial-spawn", 1e7),
        ("ping-pong", 100.0),
        ("throughput", 100.0),
        ("fan-in", 100.0),
        ("thread-ring", 100.0),
        ("fork-join", 100.0),
        ("skynet", 10.0),
        ("fan-out", 100.0),
        ("call", 100.0),
        ("call-deep", 1.0),
        ("reply-deep", 1.0),
        ("selective", 1.0),
        ("timers", 100.0),
        ("timer-expiry", 100.0),
        ("idle-memory", 100.0),
        ("hog", 20.0),
        ("monitor-churn", 100.0),
        ("link-churn", 100.0),
        ("exit-cascade", 100.0),
        ("restart", 1e7),
        ("signals", 1e7),
        ("banking", 100.0),
        ("bounded-buffer", 100.0),
        ("chameneos", 100.0),
        ("dictionary", 100.0),
        ("logistic-map", 100.0),
        ("philosophers", 100.0),
        ("sieve", 100.0),
        ("big", 100.0),
        ("ack-request-reply", 1e7),
        ("ack-throttle", 1e7),
        ("ack-head-rest", 1e7),
        ("ack-sync-ack", 1e7),
        ("ack-async-ack", 1e7),
        ("ack-best", 1e7),
        ("ack-sync-or-async", 1e7),
    ] {
        let found = primary(&results(id, 1)).median;
        assert!(near(found, due), "{id}: {found}, not {due}");
    }
}

/// The simulated runtime computes on one core.
#[test]
fn spread_is_the_time_over_that_of_all_cores_despite_disturbed_calibrations() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(40) as f64;
    let mut disturbed = MadeUpRuntime::spoiling(|before, _, answer| {
        let calibration_ns = answer["calibration_ns"].as_u64().expect("it is a number");
        answer["calibration_ns"] = json!(calibration_ns * if before % 3 == 0 { 7 } else { 1 });
        Ok(())
    });
    let (outcome, _) = sampled("spread", &entrants(1), 1, &mut disturbed);
    let found = figures(experiment("spread"), &outcome.lanes[0], None);
    for result in results("spread", 1).iter().chain(&found) {
        assert!(near(result.median, cores), "{} at {:?}", result.median, result.x);
    }
}

#[test]
fn line_is_stored_in_the_unit_of_its_points() {
    let results = results("message-size", 1);
    let line = primary(&results);
    let fit = line.fit.expect("there is a line");
    let n = line.params["n"].as_u64().unwrap() as f64;
    assert!(near(fit.slope, n), "{}", fit.slope);
    assert!(fit.r2 > 0.999_999);
    let points: Vec<_> = results.iter().filter(|result| result.x.is_some()).collect();
    assert_eq!(points.len(), 5);
    for point in points {
        let x = point.x.unwrap() as f64;
        assert!(near(fit.slope * x + fit.intercept, point.median));
    }
    assert!(
        !line.params.contains_key("s"),
        "what differs between points is no parameter of the line"
    );
}

#[test]
fn bandwidth_is_reported_at_a_fixed_x_and_plotted_at_all() {
    let results = results("bandwidth", 1);
    assert_eq!(primary(&results).x, Some(1000));
    assert_eq!(results.len(), 5);
    for result in &results {
        // A run of 500 messages takes 5000 ns, and 100 + s ns for each.
        let s = result.x.unwrap() as f64;
        assert!(near(result.median, 1e9 * s / (110.0 + s)), "{}", result.median);
    }
}

#[test]
fn slope_of_a_round_needs_all_of_its_points() {
    let mut runtime = MadeUpRuntime::spoiling(|before, _, answer| {
        // The calibration takes two requests at each of five points.
        if before == 10 + 2 * 5 + 1 {
            answer["received"] = json!(answer["received"].as_u64().unwrap() + 1);
        }
        Ok(())
    });
    let (outcome, _) = sampled("spawn-chain", &entrants(1), 1, &mut runtime);
    assert_eq!(outcome.invalid.len(), 1);
    let lost = outcome.invalid[0].round;
    let results = figures(experiment("spawn-chain"), &outcome.lanes[0], None);
    let line = primary(&results);
    let due: Vec<usize> = (1..=6).filter(|round| *round != lost).collect();
    assert_eq!(line.rounds, due);
    assert!(line.samples.iter().all(|slope| near(*slope, 100.0)), "{:?}", line.samples);
    let fit = line.fit.expect("there is a line");
    assert!(near(fit.slope, 100.0) && near(fit.slope_low, 100.0) && near(fit.intercept, 5000.0));
    let counts: Vec<usize> = results.iter().map(|result| result.rounds.len()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 5 * 6 - 1 + 5);
}

#[test]
fn call_vs_send_has_its_secondary_figures() {
    let results = results("call-vs-send", 1);
    let value = |part: &str| {
        let found = results.iter().find(|result| result.metric.contains(part));
        found.unwrap_or_else(|| panic!("no {part}")).median
    };
    assert!(near(value("remote over local"), 101.0));
    assert!(near(value("ticks"), 200.0));
    assert!(near(value("local call"), 100.0));
    assert!(near(value("peak"), 3.0));
}

#[test]
fn latency_and_memory_are_reported_at_each_point() {
    for id in ["ping-pong", "throughput", "fan-in", "call"] {
        let results = results(id, 2);
        for (metric, unit, due) in [
            ("latency p50", "µs", 2.0),
            ("latency p90", "µs", 3.0),
            ("latency p99", "µs", 4.0),
            ("latency max", "µs", 6.0),
            ("resident memory", "MB", 10.0),
        ] {
            let of_b = |result: &&ResultEntry| result.contender == "b" && result.metric == metric;
            let found: Vec<_> = results.iter().filter(of_b).collect();
            assert_eq!(found.len(), if id == "fan-in" { 5 } else { 1 }, "{id} {metric}");
            for result in found {
                assert!(near(result.median, due), "{id} {metric}: {}", result.median);
                assert_eq!((result.unit.as_str(), result.better.as_str()), (unit, "lower"));
                assert!(!result.primary && result.samples.len() == 6);
                assert_eq!(result.x.is_some(), id == "fan-in");
            }
        }
    }
}

#[test]
fn latency_is_optional() {
    let mut silent = MadeUpRuntime::spoiling(|_, _, answer| {
        let answer = answer.as_object_mut().unwrap();
        answer.retain(|name, _| !name.ends_with("_ns") || name == "elapsed_ns");
        Ok(())
    });
    let (outcome, _) = sampled("throughput", &entrants(1), 1, &mut silent);
    let results = figures(experiment("throughput"), &outcome.lanes[0], None);
    let metrics: Vec<_> = results.iter().map(|result| result.metric.as_str()).collect();
    assert_eq!(metrics, ["time per message", "resident memory"]);
}

#[test]
fn percentiles_out_of_order_make_a_sample_invalid() {
    let mut odd = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["p99_ns"] = 999.into();
        Ok(())
    });
    let (outcome, _) = sampled("call", &entrants(1), 1, &mut odd);
    assert!(outcome.lanes[0].points[0].replies.is_empty());
    assert_eq!(outcome.invalid[0].reason, "p50_ns, p90_ns, p99_ns and max_ns are not in order");
}

#[test]
fn call_deep_is_a_ratio_per_round() {
    let results = results("call-deep", 2);
    let of_b = |part: &str| {
        let mut own = results.iter().filter(|result| result.contender == "b");
        own.find(|result| result.metric.contains(part)).unwrap().median
    };
    assert!(near(of_b("nothing waiting"), 100.0) && near(of_b("all of it"), 200.0));
    assert!(near(of_b("over that"), 2.0));
}

#[test]
fn reply_deep_has_the_ratio_of_the_ends_and_the_times_of_all_points() {
    let results = results("reply-deep", 2);
    let of_b = results.iter().filter(|result| result.contender == "b");
    let found: Vec<_> = of_b.map(|one| (one.metric.as_str(), one.median.round())).collect();
    assert_eq!(
        found,
        [
            ("time per reply over that with an empty mailbox", 2.0),
            ("time per reply with nothing waiting", 100.0),
            ("time per reply with 1000 messages waiting", 200.0),
            ("time per reply with 1 000 000 messages waiting", 200.0),
        ]
    );
}

#[test]
fn hog_has_percentiles_per_loop_and_the_lateness_of_timers() {
    let results = results("hog", 1);
    let found: Vec<_> = results.iter().map(|one| (one.metric.as_str(), one.median)).collect();
    assert_eq!(
        found,
        [
            ("round trip p50, open loop", 12.0),
            ("round trip p99, open loop", 20.0),
            ("round trip max, open loop", 30.0),
            ("timer lateness p50, open loop", 6.0),
            ("timer lateness p99, open loop", 10.0),
            ("round trip p50, closed loop", 12.0),
            ("round trip p99, closed loop", 20.0),
            ("round trip max, closed loop", 30.0),
            ("round trip p50, open loop without hogs", 12.0),
            ("round trip p99, open loop without hogs", 20.0),
            ("round trip max, open loop without hogs", 30.0),
            ("timer lateness p50, open loop without hogs", 6.0),
            ("timer lateness p99, open loop without hogs", 10.0),
        ]
    );
}

#[test]
fn timer_expiry_has_the_time_per_expiry_and_the_lateness_of_spread_timers() {
    let results = results("timer-expiry", 1);
    let found: Vec<_> =
        results.iter().map(|one| (one.metric.as_str(), one.unit.as_str(), one.median)).collect();
    assert_eq!(
        found,
        [
            ("time per expiry", "ns", 100.0),
            ("lateness p50", "µs", 1.0),
            ("lateness p99", "µs", 2.0),
            ("lateness max", "µs", 3.0),
        ]
    );
}

#[test]
fn shrinking_memory_has_no_ratio() {
    let mut runtime = MadeUpRuntime::spoiling(|_, place, answer| {
        if place == 1 {
            answer["resident_after"] = json!(5);
        }
        Ok(())
    });
    let (outcome, _) = sampled("idle-memory", &entrants(2), 1, &mut runtime);
    let lanes = outcome.lanes.iter();
    let results: Vec<_> =
        lanes.flat_map(|lane| figures(experiment("idle-memory"), lane, None)).collect();
    assert!(results[1].median < 0.0);
    assert!(ratios(&results).is_empty());
}

#[test]
fn ticks_are_omitted_without_a_time_stamp_counter() {
    let (outcome, _) = sampled("call-vs-send", &entrants(1), 1, &mut MadeUpRuntime::default());
    let results = figures(experiment("call-vs-send"), &outcome.lanes[0], None);
    assert!(results.iter().all(|result| result.unit != "ticks"));
}

#[test]
fn ratio_above_one_means_the_reference_is_better_in_either_direction() {
    for id in ["ping-pong", "serial-spawn", "spawn-chain", "restart"] {
        let ratios = ratios(&results(id, 2));
        assert_eq!(ratios.len(), 1);
        assert_eq!((ratios[0].contender.as_str(), ratios[0].against.as_str()), ("b", "a"));
        assert!(near(ratios[0].ratio, 2.0), "{id}: {}", ratios[0].ratio);
        assert!(ratios[0].low <= ratios[0].ratio && ratios[0].ratio <= ratios[0].high);
    }
}

#[test]
fn purlin_is_the_reference_in_any_position() {
    let mut results = results("ping-pong", 2);
    for result in &mut results {
        if result.contender == "b" {
            result.contender = "purlin".into();
        }
    }
    let ratios = ratios(&results);
    assert_eq!((ratios[0].contender.as_str(), ratios[0].against.as_str()), ("a", "purlin"));
    assert!(near(ratios[0].ratio, 0.5));
}

#[test]
fn only_the_natural_variant_is_the_primary_metric() {
    let mut own = entrants(1);
    own[0].variants.insert("signals".into(), vec!["off_heap".into(), "on_heap".into()]);
    let (outcome, _) = sampled("signals", &own, 1, &mut MadeUpRuntime::default());
    let results: Vec<_> =
        outcome.lanes.iter().flat_map(|lane| figures(experiment("signals"), lane, None)).collect();
    let primary: Vec<_> = results.iter().filter(|result| result.primary).collect();
    assert_eq!(primary.len(), 1);
    assert_eq!(primary[0].variant.as_deref(), Some("off_heap"));
    assert!(results.iter().any(|result| result.variant.as_deref() == Some("on_heap")));
}

#[test]
fn other_variants_are_compared_except_those_of_purlin() {
    let mut own = entrants(3);
    own[0].label = "purlin".into();
    for entrant in &mut own[..2] {
        entrant.variants.insert("ack-sync-ack".into(), vec!["x".into(), "y".into()]);
    }
    let (outcome, _) = sampled("ack-sync-ack", &own, 3, &mut MadeUpRuntime::default());
    let lanes = outcome.lanes.iter();
    let mut results: Vec<_> =
        lanes.flat_map(|lane| figures(experiment("ack-sync-ack"), lane, None)).collect();
    for (number, result) in results.iter_mut().enumerate() {
        // Calibrated parameters differ between variants.
        result.params.insert("messages".into(), number.into());
        if result.variant.as_deref() == Some("y") {
            result.samples.iter_mut().for_each(|sample| *sample *= 4.0);
        }
    }
    let found: Vec<_> = ratios(&results)
        .into_iter()
        .map(|one| (one.contender, one.variant, (one.ratio * 10.0).round() / 10.0))
        .collect();
    let due =
        |who: &str, variant: Option<&str>, ratio| (who.into(), variant.map(Into::into), ratio);
    assert_eq!(found, [due("b", None, 2.0), due("b", Some("y"), 0.5), due("c", None, 3.0)]);
}

#[test]
fn experiment_without_its_primary_metric_gives_no_results() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        if answer["sent"] != json!(0) {
            answer["received"] = json!(0);
        }
        Ok(())
    });
    let (outcome, _) = sampled("call-vs-send", &entrants(1), 1, &mut runtime);
    assert!(figures(experiment("call-vs-send"), &outcome.lanes[0], None).is_empty());
}

#[test]
fn signals_are_computed_in_both_ways_and_assigned_to_their_graphs() {
    let results = results("signals", 1);
    // Two scenarios, two modes, four sender counts.
    assert_eq!(results.len(), 2 * 2 * 2 * 4);
    let graph = |result: &ResultEntry| result.graph.clone().expect("it has one");
    for (metric, due) in [
        ("send throughput", 1e7),
        ("send throughput, as OTP computes it", 1e7),
        ("receive throughput", 1e7),
        // The receiver finished after the senders by as much time as they took.
        ("receive throughput, as OTP computes it", 5e6),
    ] {
        let own: Vec<_> = results.iter().filter(|result| result.metric == metric).collect();
        assert_eq!(own.len(), 8, "{metric}");
        assert!(own.iter().all(|result| near(result.median, due)), "{metric}");
        let mode = if metric.starts_with("send") { "Send " } else { "Receive " };
        assert!(own.iter().all(|result| graph(result).starts_with(mode)));
    }
    assert_eq!(
        graph(primary(&results)),
        "Receive Throughput, send_duration=50 ms,  50.000000% {exit_signal_size,1},  50.000000% {message_size,1}"
    );
}

#[test]
fn figures_as_otp_computes_them_are_omitted_if_senders_ended_early() {
    let mut runtime = MadeUpRuntime::spoiling(|_, _, answer| {
        answer["cut"] = json!(1);
        Ok(())
    });
    let (outcome, _) = sampled("signals", &entrants(1), 1, &mut runtime);
    let results = figures(experiment("signals"), &outcome.lanes[0], None);
    assert_eq!(results.len(), 2 * 2 * 4);
    assert!(results.iter().all(|result| !result.metric.contains("OTP")));
}

#[test]
fn ack_latency_is_reported_with_the_rate() {
    let results = results("ack-best", 1);
    for (metric, due) in [("latency p50", 1.0), ("latency p99", 2.0), ("latency max", 3.0)] {
        let own: Vec<_> = results.iter().filter(|result| result.metric == metric).collect();
        assert_eq!(own.len(), 3, "for one, two and four connections");
        assert!(own.iter().all(|one| near(one.median, due) && one.unit == "µs" && !one.primary));
    }
}

#[test]
fn sync_or_async_has_one_graph_per_number_of_cores() {
    let results = results("ack-sync-or-async", 1);
    assert!(results.iter().all(|one| one.x.is_some() && one.unit == "messages/s"));
    let mut graphs: Vec<_> = results.iter().filter_map(|one| one.graph.as_deref()).collect();
    assert_eq!(graphs.len(), results.len());
    graphs.dedup();
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(2);
    assert_eq!(graphs, ["1 core, 1 connection", "2 cores, 1 connection"][..cores]);
}
