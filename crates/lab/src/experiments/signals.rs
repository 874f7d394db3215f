//! Signals from many senders to one receiver: `signals`.

use super::checks::{asked, found, same};
use super::experiment::{
    Axis, Better, Experiment, Figure, Invalid, Params, Point, Quantity, SamplingMode,
};
use super::points::{cores, params};
use crate::contender::Reply;
use crate::profile::Profile;

/// Senders of the primary metric, in both profiles and on every machine.
pub(crate) const PRIMARY_SENDERS: u64 = 16;

/// Maximum bytes of signals in flight.
const ROOM_BYTES: u64 = 1 << 30;

pub(super) static SIGNALS: Experiment = Experiment {
    id: "signals",
    title: "Signals, many to one",
    what: "Senders send messages and exit signals to one receiver for a time; it traps exits and counts all of them.",
    notes: &[
        "After parallel_messages_SUITE of Erlang/OTP, whose scenarios and titles these are: messages, exit signals or half of each, drawn by chance, every one with a list of S integers that the sender copies. Each sender looks for the word to stop before every signal. Send throughput and receive throughput have each their own runs.",
        "The primary metric is the receive throughput of 16 senders, half messages and half exit signals, of size 1: a signal counts when it has arrived, and the number is the same in both profiles and on every machine.",
        "The quick profile takes two scenarios for 50 ms without rest. The full one takes all twelve for a second after a second of rest, and the one that asks for another queue. Six samples each; OTP's suite takes three, whose range holds the median in three of four cases only. 1, 2, 4 and 16 senders are always there; of 8, 15, 31, 32, 47, 48, 63 and 64 the full profile takes those for which there are cores.",
        "Put right: OTP's suite divides by T what was also sent after T, and leaves the time to stop the senders out of both its figures. Here the clock runs from the first signal to the last that was sent, or received. The figure of the suite stands beside it.",
        "On the BEAM the receiver is spawned with message_queue_data off_heap, as the suite does, and on_heap, which is the runtime's default. purlin's inbox goes from one stack to lanes and back by itself, and has no setting for it: adaptive.",
        "Where more signals are under way than fit into 1 GiB, at 16 bytes an element and 112 a signal, all senders end early. The throughput is still that of what was sent; the figure of OTP's suite is left out then.",
        "purlin's exit signal carries an error that holds the list. No other contender in Rust has exit signals to a process of one's choice, nor has Go.",
    ],
    metric: "receive throughput",
    unit: "signals/s",
    better: Better::Higher,
    x: Some(Axis { param: "senders", label: "senders", scale: "log" }),
    y: Some(Quantity { label: "throughput", unit: "signals/s" }),
    figure: Figure::Signals,
    variants: true,
    mode: SamplingMode::Few,
    points: |profile| match profile {
        Profile::Quick => quick(),
        Profile::Full => full(cores()),
    },
    check: check_signals,
};

/// Mix of signal kinds, and their size.
#[derive(Clone, Copy)]
struct Scenario {
    exit_percent: u64,
    s: u64,
    switch: u64,
}

/// Duration of sending, and of the idle period before it, in ms.
#[derive(Clone, Copy)]
struct Times {
    ms: u64,
    rest_ms: u64,
}

fn quick() -> Vec<Point> {
    let scenarios = [0, 50].map(|exit_percent| Scenario { exit_percent, s: 1, switch: 0 });
    points(&scenarios, &["send", "receive"], &[1, 2, 4, 16], Times { ms: 50, rest_ms: 0 })
}

fn full(cores: u64) -> Vec<Point> {
    let scenarios: Vec<_> = [0, 100, 50]
        .into_iter()
        .flat_map(|exit_percent| {
            [1, 10, 100, 1000].map(|s| Scenario { exit_percent, s, switch: 0 })
        })
        .collect();
    let wanted = |senders: &u64| *senders <= cores || [1, 2, 4, PRIMARY_SENDERS].contains(senders);
    let senders: Vec<_> =
        [1, 2, 4, 8, 15, 16, 31, 32, 47, 48, 63, 64].into_iter().filter(wanted).collect();
    let second = Times { ms: 1000, rest_ms: 1000 };
    let mut all = points(&scenarios, &["send", "receive"], &senders, second);
    let switching = Scenario { exit_percent: 50, s: 1, switch: 1 };
    all.extend(points(&[switching], &["receive"], &[1, 2, 4], Times { ms: 100, rest_ms: 500 }));
    all
}

fn points(scenarios: &[Scenario], modes: &[&str], senders: &[u64], times: Times) -> Vec<Point> {
    let mut points = Vec::new();
    for scenario in scenarios {
        for mode in modes {
            points.extend(senders.iter().map(|senders| point(*scenario, mode, *senders, times)));
        }
    }
    points
}

fn point(scenario: Scenario, mode: &str, senders: u64, times: Times) -> Point {
    let Scenario { exit_percent, s, switch } = scenario;
    let mut params = params([
        ("senders", senders),
        ("ms", times.ms),
        ("exit_percent", exit_percent),
        ("s", s),
        ("switch", switch),
        ("rest_ms", times.rest_ms),
        ("room", ROOM_BYTES / (16 * s + 112)),
    ]);
    params.insert("mode".into(), mode.into());
    Point { x: Some(senders), params, scaled: None }
}

/// Returns whether these parameters give the primary metric.
pub(crate) fn is_primary(params: &Params) -> bool {
    let at = |name, due| asked(params, name) == due;
    receives(params)
        && at("exit_percent", 50)
        && at("s", 1)
        && at("switch", 0)
        && at("senders", PRIMARY_SENDERS)
}

/// Returns whether the clock stops at the last receipt.
pub(crate) fn receives(params: &Params) -> bool {
    params.get("mode").is_some_and(|mode| mode == "receive")
}

/// Returns the name of the graph a point belongs to: the title OTP's suite gives it, byte for byte,
/// without the leading word and without the receiver's options at the end.
pub(crate) fn graph(params: &Params) -> String {
    let mode = if receives(params) { "Receive" } else { "Send" };
    let (ms, s) = (asked(params, "ms"), asked(params, "s"));
    let (exit, message) = (format!("{{exit_signal_size,{s}}}"), format!("{{message_size,{s}}}"));
    let change = |queue| format!("{{message_queue_data_change,{queue}}}");
    let exits = asked(params, "exit_percent");
    let drawn = match (asked(params, "switch"), exits) {
        (1, _) => vec![
            (49.9995, exit),
            (49.9995, message),
            (0.0005, change("off_heap")),
            (0.0005, change("on_heap")),
        ],
        (_, 0) => vec![(100.0, message)],
        (_, 100) => vec![(100.0, exit)],
        _ => vec![(exits as f64, exit), ((100 - exits) as f64, message)],
    };
    let drawn = drawn.iter().map(|(percent, what)| format!("  {percent:.6}% {what}"));
    format!("{mode} Throughput, send_duration={ms} ms,{}", drawn.collect::<Vec<_>>().join(","))
}

/// Checks that every sent signal was received, and that only the requested kinds were.
fn check_signals(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    if reply.sent == 0 {
        return Err(Invalid("nothing was sent".to_owned()));
    }
    same("ops", reply.ops, reply.sent)?;
    same("received", reply.received, reply.sent)?;
    let [messages, exits, switches] =
        ["messages", "exits", "switches"].map(|name| found(reply, name));
    let (messages, exits, switches) = (messages?, exits?, switches?);
    let counted = u128::from(messages) + u128::from(exits) + u128::from(switches);
    if counted != u128::from(reply.received) {
        return Err(Invalid(format!(
            "messages, exits and switches are {counted} together, not {}",
            reply.received
        )));
    }
    match asked(params, "exit_percent") {
        0 => same("exits", exits, 0)?,
        100 => same("messages", messages, 0)?,
        _ => {}
    }
    if asked(params, "switch") == 0 {
        same("switches", switches, 0)?;
    }
    let (late, cut) = (found(reply, "late")?, found(reply, "cut")?);
    if late > reply.sent || cut > asked(params, "senders") {
        return Err(Invalid(format!("late is {late} and cut is {cut}, which cannot be")));
    }
    found(reply, "drain_ns").map(drop)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn graphs(points: &[Point]) -> BTreeSet<String> {
        points.iter().map(|point| graph(&point.params)).collect()
    }

    #[test]
    fn graph_titles_are_those_of_the_suite() {
        let title = |exit_percent, s, switch, mode, ms| {
            let scenario = Scenario { exit_percent, s, switch };
            graph(&point(scenario, mode, 1, Times { ms, rest_ms: 0 }).params)
        };
        for (found, due) in [
            (
                title(50, 1, 0, "send", 1000),
                "Send Throughput, send_duration=1000 ms,  50.000000% {exit_signal_size,1},  50.000000% {message_size,1}",
            ),
            (
                title(0, 1000, 0, "receive", 500),
                "Receive Throughput, send_duration=500 ms,  100.000000% {message_size,1000}",
            ),
            (
                title(100, 10, 0, "receive", 1000),
                "Receive Throughput, send_duration=1000 ms,  100.000000% {exit_signal_size,10}",
            ),
            (
                title(50, 1, 1, "receive", 100),
                "Receive Throughput, send_duration=100 ms,  49.999500% {exit_signal_size,1},  49.999500% {message_size,1},  0.000500% {message_queue_data_change,off_heap},  0.000500% {message_queue_data_change,on_heap}",
            ),
        ] {
            assert_eq!(found, due);
        }
    }

    #[test]
    fn full_profile_has_twelve_scenarios_in_both_modes_and_the_switching_scenario() {
        for (cores, senders) in [(2, 4), (4, 4), (16, 6), (64, 12)] {
            let points = full(cores);
            assert_eq!(points.len(), 12 * 2 * senders + 3, "{cores} cores");
            assert_eq!(graphs(&points).len(), 12 * 2 + 1);
        }
        assert_eq!(graphs(&quick()).len(), 2 * 2);
    }

    #[test]
    fn one_point_is_the_primary_metric_in_each_profile() {
        for points in [quick(), full(2), full(64)] {
            assert_eq!(points.iter().filter(|point| is_primary(&point.params)).count(), 1);
        }
    }

    #[test]
    fn limit_of_signals_in_flight_shrinks_with_their_size() {
        let room = |s| {
            let scenario = Scenario { exit_percent: 0, s, switch: 0 };
            asked(&point(scenario, "send", 1, Times { ms: 1, rest_ms: 0 }).params, "room")
        };
        assert_eq!((room(1), room(1000)), (8_388_608, 66_642));
    }
}
