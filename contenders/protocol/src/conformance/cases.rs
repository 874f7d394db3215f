//! Requests of the conformance test: small, including the edge cases of the protocol's table.

use serde_json::{Value, json};

/// Requests that must be served.
pub(super) fn good() -> Vec<(&'static str, Value)> {
    let mut cases = vec![
        ("call-vs-send", json!({"mode": "local", "n": 1000})),
        ("call-vs-send", json!({"mode": "remote", "n": 5000})),
        ("call-vs-send", json!({"mode": "remote", "n": 0})),
        ("tail-call", json!({"n": 1000})),
        ("tail-call", json!({"n": 0, "reps": 3})),
        ("spawn-chain", json!({"n": 100, "reps": 3})),
        ("spawn-chain", json!({"n": 1})),
        ("exchange", json!({"n": 50, "pieces": 20, "work": 10, "reps": 3})),
        ("exchange", json!({"n": 7, "pieces": 100, "work": 3})),
        ("exchange", json!({"n": 0, "pieces": 1, "work": 0})),
        ("exchange", json!({"n": 3000, "pieces": 1, "work": 1})),
        ("message-size", json!({"n": 50, "s": 10, "pieces": 20, "work": 10, "reps": 2})),
        ("message-size", json!({"n": 50, "s": 0, "pieces": 100, "work": 1})),
        ("message-size", json!({"n": 0, "s": 10, "pieces": 10, "work": 1})),
        ("bandwidth", json!({"n": 40, "s": 1000, "pieces": 50, "work": 0})),
        ("message-moved", json!({"n": 50, "s": 10, "pieces": 20, "work": 10, "reps": 2})),
        ("message-moved", json!({"n": 50, "s": 0, "pieces": 100, "work": 0})),
        ("serial-spawn", json!({"m": 1, "total": 100})),
        ("serial-spawn", json!({"m": 7, "total": 100})),
        ("serial-spawn", json!({"m": 100, "total": 100})),
        ("ping-pong", json!({"n": 500})),
        ("ping-pong", json!({"n": 0})),
        ("throughput", json!({"n": 5000})),
        ("throughput", json!({"n": 0})),
        ("fan-in", json!({"senders": 1, "n": 100})),
        ("fan-in", json!({"senders": 16, "n": 1003})),
        ("fan-in", json!({"senders": 4, "n": 2})),
        ("thread-ring", json!({"processes": 1, "n": 10})),
        ("thread-ring", json!({"processes": 503, "n": 1000})),
        ("thread-ring", json!({"processes": 50, "n": 1})),
        ("fork-join", json!({"n": 1000})),
        ("fork-join", json!({"n": 0})),
        ("skynet", json!({"leaves": 1})),
        ("skynet", json!({"leaves": 1000})),
        ("fan-out", json!({"processes": 1, "n": 10})),
        ("fan-out", json!({"processes": 100, "n": 1003})),
        ("fan-out", json!({"processes": 5, "n": 3})),
        ("call", json!({"n": 500})),
        ("call", json!({"n": 0})),
        ("call-deep", json!({"waiting": 1000, "n": 100})),
        ("call-deep", json!({"waiting": 0, "n": 100})),
        ("reply-deep", json!({"waiting": 1000, "n": 100})),
        ("reply-deep", json!({"waiting": 0, "n": 100})),
        ("selective", json!({"k": 0, "reps": 250})),
        ("selective", json!({"k": 1000, "reps": 7})),
        ("timers", json!({"window": 1, "n": 100})),
        ("timers", json!({"window": 1000, "n": 0})),
        ("timers", json!({"window": 1000, "n": 2500})),
        ("timer-expiry", json!({"n": 1, "after_ms": 0, "spread_ms": 0})),
        ("timer-expiry", json!({"n": 2000, "after_ms": 20, "spread_ms": 0})),
        ("timer-expiry", json!({"n": 2000, "after_ms": 20, "spread_ms": 30})),
        ("idle-memory", json!({"n": 2500})),
        ("idle-memory", json!({"n": 0})),
        ("hog", json!({"loop": "open", "hogs": 0, "ms": 20})),
        ("hog", json!({"loop": "closed", "hogs": 0, "ms": 20})),
        ("hog", json!({"loop": "open", "hogs": 64, "ms": 20})),
        ("hog", json!({"loop": "closed", "hogs": 64, "ms": 20})),
        ("monitor-churn", json!({"n": 1000})),
        ("monitor-churn", json!({"n": 0})),
        ("link-churn", json!({"n": 1000})),
        ("link-churn", json!({"n": 0})),
        ("exit-cascade", json!({"n": 1})),
        ("exit-cascade", json!({"n": 1000, "reps": 3})),
        ("exit-cascade", json!({"n": 100_000})),
        ("restart", json!({"n": 0})),
        ("restart", json!({"n": 50, "reps": 3})),
        ("signals", signals("send", 1, 0, 1)),
        ("signals", signals("receive", 1, 100, 0)),
        ("signals", signals("receive", 16, 50, 10)),
    ];
    cases.extend(savina());
    cases
}

fn savina() -> Vec<(&'static str, Value)> {
    let buffer = |producers: u64, consumers: u64, capacity: u64, cost: u64, n: u64| {
        json!({
            "producers": producers, "consumers": consumers, "capacity": capacity, "cost": cost,
            "n": n,
        })
    };
    vec![
        ("banking", json!({"accounts": 1000, "n": 5000})),
        ("banking", json!({"accounts": 2, "n": 500, "reps": 3})),
        ("banking", json!({"accounts": 10, "n": 0})),
        ("bounded-buffer", buffer(40, 40, 50, 25, 20)),
        ("bounded-buffer", buffer(1, 7, 2, 0, 100)),
        ("bounded-buffer", buffer(7, 1, 1000, 3, 100)),
        ("bounded-buffer", buffer(3, 3, 4, 1, 0)),
        ("chameneos", json!({"creatures": 100, "n": 2000})),
        ("chameneos", json!({"creatures": 2, "n": 100})),
        ("chameneos", json!({"creatures": 3, "n": 0})),
        ("dictionary", json!({"workers": 20, "writes": 10, "n": 100})),
        ("dictionary", json!({"workers": 1, "writes": 100, "n": 10})),
        ("dictionary", json!({"workers": 3, "writes": 0, "n": 0})),
        ("logistic-map", json!({"series": 10, "terms": 500, "reps": 2})),
        ("logistic-map", json!({"series": 1, "terms": 1})),
        ("logistic-map", json!({"series": 3, "terms": 0})),
        ("philosophers", json!({"philosophers": 20, "n": 50})),
        ("philosophers", json!({"philosophers": 2, "n": 100})),
        ("philosophers", json!({"philosophers": 5, "n": 0})),
        ("sieve", json!({"n": 2000, "local": 20, "reps": 2})),
        ("sieve", json!({"n": 1000, "local": 1})),
        ("sieve", json!({"n": 1000, "local": 1000})),
        ("sieve", json!({"n": 2, "local": 1})),
        ("big", json!({"processes": 120, "n": 20})),
        ("big", json!({"processes": 1, "n": 100})),
        ("big", json!({"processes": 5, "n": 0})),
        ("spread", json!({"processes": 40, "n": 10, "us": 5})),
        ("spread", json!({"processes": 1, "n": 3, "us": 100})),
        ("spread", json!({"processes": 4, "n": 0, "us": 1})),
    ]
}

/// Requests for `signals` that must be served with each of its variants.
pub(super) fn with_queues() -> Vec<Value> {
    let mut switching = signals("receive", 4, 50, 1);
    switching["switch"] = 1.into();
    switching["rest_ms"] = 5.into();
    let mut crowded = signals("send", 4, 50, 100);
    crowded["room"] = 1.into();
    vec![signals("send", 3, 50, 1), switching, crowded]
}

fn signals(mode: &str, senders: u64, exit_percent: u64, s: u64) -> Value {
    json!({
        "mode": mode, "senders": senders, "ms": 50, "exit_percent": exit_percent, "s": s,
        "switch": 0, "rest_ms": 0, "room": 1_000_000,
    })
}

/// Lines that must be refused, each with a one-line error.
pub(super) fn bad() -> Vec<&'static str> {
    vec![
        "",
        "nonsense",
        "{",
        "[1,2,3]",
        "42",
        "\"hello\"",
        r#"{"op":"hello"} and more"#,
        r#"{"op":"dance"}"#,
        r#"{"op":7}"#,
        r#"{"OP":"hello"}"#,
        r#"{"op":"run"}"#,
        r#"{"op":"run","experiment":7}"#,
        r#"{"op":"run","experiment":"no-such\n\"one\""}"#,
        r#"{"op":"run","experiment":"ping-pong"}"#,
        r#"{"op":"run","experiment":"ping-pong","params":[]}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":-1}}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":"5"}}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":1.5}}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":99999999999999999999999}}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":5,"m":1}}"#,
        r#"{"op":"run","experiment":"ping-pong","params":{"n":5},"seed":-1}"#,
        r#"{"op":"run","experiment":"tail-call","params":{"n":5,"reps":0}}"#,
        r#"{"op":"run","experiment":"call-vs-send","params":{"n":5}}"#,
        r#"{"op":"run","experiment":"call-vs-send","params":{"n":5,"mode":"far"}}"#,
        r#"{"op":"run","experiment":"spawn-chain","params":{"n":0}}"#,
        r#"{"op":"run","experiment":"serial-spawn","params":{"m":11,"total":10}}"#,
        r#"{"op":"run","experiment":"serial-spawn","params":{"m":0,"total":10}}"#,
        r#"{"op":"run","experiment":"fan-in","params":{"senders":0,"n":10}}"#,
        r#"{"op":"run","experiment":"skynet","params":{"leaves":11}}"#,
        r#"{"op":"run","experiment":"skynet","params":{"leaves":0}}"#,
        r#"{"op":"run","experiment":"fork-join","params":{"n":1000000000000}}"#,
        r#"{"op":"run","experiment":"fan-out","params":{"processes":0,"n":10}}"#,
        r#"{"op":"run","experiment":"timers","params":{"window":10000001,"n":10}}"#,
        r#"{"op":"run","experiment":"timers","params":{"window":0,"n":10}}"#,
        r#"{"op":"run","experiment":"timer-expiry","params":{"n":0,"after_ms":1,"spread_ms":1}}"#,
        r#"{"op":"run","experiment":"selective","params":{"n":10,"k":10}}"#,
        r#"{"op":"run","experiment":"hog","params":{"loop":"open","hogs":1,"ms":0}}"#,
        r#"{"op":"run","experiment":"hog","params":{"loop":"shut","hogs":1,"ms":5}}"#,
        r#"{"op":"run","experiment":"monitor-churn","params":{}}"#,
        r#"{"op":"run","experiment":"link-churn","params":{"n":1,"reps":1}}"#,
        r#"{"op":"run","experiment":"exit-cascade","params":{"n":0}}"#,
        r#"{"op":"run","experiment":"restart","params":{"n":1000001}}"#,
        r#"{"op":"run","experiment":"signals","params":{"mode":"send","senders":0,"ms":5,"exit_percent":0,"s":1,"switch":0,"rest_ms":0,"room":9}}"#,
        r#"{"op":"run","experiment":"signals","params":{"mode":"send","senders":1,"ms":5,"exit_percent":101,"s":1,"switch":0,"rest_ms":0,"room":9}}"#,
        r#"{"op":"run","experiment":"signals","params":{"mode":"both","senders":1,"ms":5,"exit_percent":0,"s":1,"switch":0,"rest_ms":0,"room":9}}"#,
        r#"{"op":"run","experiment":"signals","params":{"mode":"send","senders":1,"ms":5,"exit_percent":0,"s":1,"switch":0,"rest_ms":0,"room":9,"variant":"heapless"}}"#,
        r#"{"op":"run","experiment":"exchange","params":{"n":5,"pieces":0,"work":1}}"#,
        r#"{"op":"run","experiment":"banking","params":{"accounts":1,"n":5}}"#,
        r#"{"op":"run","experiment":"bounded-buffer","params":{"producers":4,"consumers":1,"capacity":4,"cost":1,"n":5}}"#,
        r#"{"op":"run","experiment":"dictionary","params":{"workers":1,"writes":101,"n":5}}"#,
        r#"{"op":"run","experiment":"sieve","params":{"n":1,"local":5}}"#,
        r#"{"op":"run","experiment":"spread","params":{"processes":1,"n":5,"us":0}}"#,
        r#"{"op":"run","experiment":"message-size","params":{"n":5,"s":1,"pieces":1,"work":1,"variant":"moved"}}"#,
        r#"{"op":"run","experiment":"message-size","params":{"n":1000000000000,"s":1000000,"pieces":1,"work":1,"reps":1000}}"#,
    ]
}
