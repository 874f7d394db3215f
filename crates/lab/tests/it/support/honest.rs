//! Answers of a valid contender: the protocol's table as arithmetic.
//!
//! Times are simulated with a fixed number of nanoseconds per operation, so that tests know the
//! expected figures.

#![allow(dead_code, reason = "each includer uses its own part")]

#[path = "honest_savina.rs"]
mod honest_savina;

use serde_json::{Map, Value, json};

/// Experiments without a server.
pub(crate) const EXPERIMENTS: [&str; 37] = [
    "call-vs-send",
    "tail-call",
    "spawn-chain",
    "exchange",
    "message-size",
    "bandwidth",
    "message-moved",
    "serial-spawn",
    "ping-pong",
    "throughput",
    "fan-in",
    "thread-ring",
    "fork-join",
    "skynet",
    "fan-out",
    "call",
    "call-deep",
    "reply-deep",
    "selective",
    "timers",
    "timer-expiry",
    "idle-memory",
    "hog",
    "monitor-churn",
    "link-churn",
    "exit-cascade",
    "restart",
    "signals",
    "banking",
    "bounded-buffer",
    "chameneos",
    "dictionary",
    "logistic-map",
    "philosophers",
    "sieve",
    "big",
    "spread",
];

/// Experiments with a server.
pub(crate) const SERVED: [&str; 7] = [
    "ack-request-reply",
    "ack-throttle",
    "ack-head-rest",
    "ack-sync-ack",
    "ack-async-ack",
    "ack-best",
    "ack-sync-or-async",
];

/// Experiments with two nodes.
pub(crate) const PAIRED: [&str; 3] = ["dist-send", "dist-round-trip", "dist-call"];

/// Base memory of an idle process, in bytes.
pub(crate) const IDLE_BYTES: u64 = 100;

/// Returns the answer to a request; every operation takes `cost` times its base time.
///
/// | operation | base time in ns |
/// |---|---|
/// | a function call, a step of work, an element | 1 |
/// | a signal | 100, sent for the requested duration |
/// | a message, a process, a round trip, a call, a tagged reply, a timer, a restart | 100 |
/// | fixed cost of a run of a sweep | 5000 |
/// | skipping a message | 1 |
/// | a call or a tagged reply with an empty mailbox, for any `cost` | 100 |
/// | a round trip in `hog` (p50, p99, max) | 12 000, 20 000, 30 000 |
/// | latency of a message or round trip (p50, p90, p99, max) | 1000, 1500, 2000, 3000 |
///
/// The answer includes the fields that the lab adds: `acknowledged` for a server and `taken` for a
/// far node, equal to what was sent; memory of `cost` times [`IDLE_BYTES`] per idle process, and a
/// peak of `cost` times 5 MB for a watched program.
pub(crate) fn honest(experiment: &str, params: &Map<String, Value>, cost: u64) -> Value {
    let asked = |name: &str| params.get(name).and_then(Value::as_u64);
    let n = asked("n").unwrap_or(0);
    let reps = asked("reps").unwrap_or(1);
    let (ops, messages, time, more) = match experiment {
        "call-vs-send" if params["mode"] == "local" => (n, 0, n, json!({})),
        "call-vs-send" => (n, n, 101 * n, json!({"queue_peak": 3, "queue_peak_bytes": 96})),
        "tail-call" => (n * reps, 0, (5000 + n) * reps, json!({"left": 0})),
        "spawn-chain" => (n * reps, n * reps, (5000 + 100 * n) * reps, json!({})),
        "exchange" | "message-size" | "bandwidth" | "message-moved" => {
            let s = asked("s").unwrap_or(0);
            let steps = asked("pieces").unwrap_or(0) * asked("work").unwrap_or(0);
            let end = (0..steps).fold(1u64, |x, _| (x * 20_077 + 12_345) % (1 << 31));
            let time = (5000 + steps + 100 * n + n * s) * reps;
            let more = json!({"sink": 2 * reps * end, "elements": 2 * n * s * reps});
            (n * reps, 2 * n * reps, time, more)
        }
        "serial-spawn" => {
            let total = asked("total").unwrap_or(0);
            (total, total, 100 * total, json!({}))
        }
        "ping-pong" | "call" => (n, 2 * n, 100 * n, beside(cost)),
        "throughput" | "fan-in" => (n, n, 100 * n, beside(cost)),
        "dist-send" => (n, n, 100 * n, json!({"taken": n})),
        "dist-round-trip" | "dist-call" => {
            let [p50, p99, max] = [1000, 2000, 3000].map(|ns| ns * cost);
            let more = json!({"taken": n, "p50_ns": p50, "p99_ns": p99, "max_ns": max});
            (n, 2 * n, 100 * n, more)
        }
        "call-deep" | "reply-deep" => {
            let waiting = asked("waiting").unwrap_or(0);
            // The result is multiplied by `cost` below.
            let each = if waiting == 0 { 100 / cost } else { 100 };
            (n, 2 * n, each * n, json!({"waiting": waiting}))
        }
        "selective" => {
            let k = asked("k").unwrap_or(0);
            (reps, reps, (5000 + k) * reps, json!({"waiting": k}))
        }
        "exit-cascade" => (n * reps, n * reps, 100 * n * reps, json!({})),
        "restart" => (n * reps, n * reps, 100 * n * reps, json!({"alive": reps})),
        "timers" => (n, n, 100 * n, json!({"waiting": asked("window").unwrap_or(0)})),
        "timer-expiry" => {
            let [p50, p99, max] = [1000, 2000, 3000].map(|ns| ns * cost);
            let late = json!({"overdue": 0, "p50_ns": p50, "p99_ns": p99, "max_ns": max});
            let spread = asked("spread_ms").is_some_and(|spread| spread > 0);
            (n, n, 100 * n, if spread { late } else { json!({"overdue": 0}) })
        }
        "idle-memory" => {
            let before = 1 << 20;
            let after = before + n * IDLE_BYTES * cost;
            (n, n, 100 * n, json!({"resident_before": before, "resident_after": after}))
        }
        "hog" => {
            let ms = asked("ms").unwrap_or(0);
            let trips = if params["loop"] == "open" { ms } else { 50 * ms };
            let [p50, p99, max] = [12_000, 20_000, 30_000].map(|ns| ns * cost);
            let more = json!({
                "starved": 0, "p50_ns": p50, "p99_ns": p99, "max_ns": max,
                "late_p50_ns": p50 / 2, "late_p99_ns": p99 / 2,
            });
            (trips, trips, 1_000_000 * ms, more)
        }
        "signals" => {
            let ms = asked("ms").unwrap_or(0);
            let sent = 10_000 * ms;
            let switches = 2 * asked("switch").unwrap_or(0);
            let exits = (sent - switches) * asked("exit_percent").unwrap_or(0) / 100;
            let more = json!({
                "messages": sent - switches - exits, "exits": exits, "switches": switches,
                "late": sent / 10, "cut": 0, "drain_ns": 1_000_000 * ms,
            });
            (sent, sent, 1_000_000 * ms, more)
        }
        "skynet" => {
            let leaves = asked("leaves").unwrap_or(0);
            (leaves, leaves, 100 * leaves, json!({"sum": leaves * (leaves - 1) / 2}))
        }
        _ if SERVED.contains(&experiment) => {
            let all = asked("connections").unwrap_or(0) * asked("messages").unwrap_or(0);
            let [p50, p99, max] = [1000, 2000, 3000].map(|ns| ns * cost);
            let more = json!({"p50_ns": p50, "p99_ns": p99, "max_ns": max, "acknowledged": all});
            (all, all, 100 * all, more)
        }
        _ => honest_savina::answer(experiment, asked).unwrap_or((n, n, 100 * n, json!({}))),
    };
    let mut answer =
        json!({"elapsed_ns": time * cost, "ops": ops, "sent": messages, "received": messages});
    if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
        answer.extend(more);
    }
    answer
}

/// Returns latency and memory figures.
fn beside(cost: u64) -> Value {
    let [p50, p90, p99, max] = [1000, 1500, 2000, 3000].map(|ns| ns * cost);
    let resident = 5_000_000 * cost;
    json!({"p50_ns": p50, "p90_ns": p90, "p99_ns": p99, "max_ns": max, "resident_peak": resident})
}
