//! Request parser: accepted and refused requests, and absence of panics.

use proptest::prelude::*;
use purlin_contender::{
    Callee, Children, EXPERIMENTS, End, Exchange, Expiry, Flow, Hello, Hog, LoopKind, Mode,
    Payload, Request, Run, Sample, Savina, Schedule, Signals, Timers, Variants, serve_on, shares,
};
use serde_json::{Value, json};

fn variants() -> Variants {
    Variants {
        flows: vec![Flow::Bounded, Flow::Unbounded],
        children: vec![Children::Ending, Children::Alive],
        callees: vec![Callee::Server, Callee::Process],
    }
}

fn parsed(experiment: &str, params: Value) -> Result<Run, String> {
    let line = json!({"op": "run", "experiment": experiment, "params": params, "seed": 7});
    match Request::parse(line.to_string().as_bytes(), &variants())? {
        Request::Run(run) => Ok(run),
        other => panic!("{line} was read as {other:?}"),
    }
}

#[test]
fn every_experiment_is_parsed_with_its_parameters() {
    let exchange = Exchange { n: 4, pieces: 5, work: 6, reps: 1 };
    let payload = Payload { exchange, s: 3 };
    let cases = [
        (
            "call-vs-send",
            json!({"mode": "remote", "n": 4}),
            Run::CallVsSend { mode: Mode::Remote, n: 4, flow: Flow::Bounded },
        ),
        ("tail-call", json!({"n": 4, "reps": 2}), Run::TailCall { n: 4, reps: 2 }),
        ("spawn-chain", json!({"n": 4}), Run::SpawnChain { n: 4, reps: 1 }),
        ("exchange", json!({"n": 4, "pieces": 5, "work": 6}), Run::Exchange(exchange)),
        (
            "message-size",
            json!({"n": 4, "pieces": 5, "work": 6, "s": 3}),
            Run::MessageSize(payload),
        ),
        ("bandwidth", json!({"n": 4, "pieces": 5, "work": 6, "s": 3}), Run::Bandwidth(payload)),
        (
            "message-moved",
            json!({"n": 4, "pieces": 5, "work": 6, "s": 3}),
            Run::MessageMoved(payload),
        ),
        ("serial-spawn", json!({"m": 2, "total": 4}), Run::SerialSpawn { m: 2, total: 4 }),
        ("ping-pong", json!({"n": 4}), Run::PingPong { n: 4 }),
        (
            "throughput",
            json!({"n": 4, "variant": "unbounded"}),
            Run::Throughput { n: 4, flow: Flow::Unbounded },
        ),
        (
            "fan-in",
            json!({"senders": 2, "n": 4}),
            Run::FanIn { senders: 2, n: 4, flow: Flow::Bounded },
        ),
        ("thread-ring", json!({"processes": 2, "n": 4}), Run::ThreadRing { processes: 2, n: 4 }),
        (
            "fork-join",
            json!({"n": 4, "variant": "alive"}),
            Run::ForkJoin { n: 4, children: Children::Alive },
        ),
        ("skynet", json!({"leaves": 100}), Run::Skynet { leaves: 100 }),
        ("fan-out", json!({"processes": 2, "n": 4}), Run::FanOut { processes: 2, n: 4 }),
        (
            "call",
            json!({"n": 4, "variant": "process"}),
            Run::Call { n: 4, callee: Callee::Process },
        ),
        ("call-deep", json!({"waiting": 2, "n": 4}), Run::CallDeep { waiting: 2, n: 4 }),
        ("reply-deep", json!({"waiting": 2, "n": 4}), Run::ReplyDeep { waiting: 2, n: 4 }),
        ("selective", json!({"k": 2}), Run::Selective { k: 2, reps: 1 }),
        ("timers", json!({"window": 2, "n": 4}), Run::Timers(Timers { window: 2, n: 4, seed: 7 })),
        (
            "timer-expiry",
            json!({"n": 4, "after_ms": 3, "spread_ms": 2}),
            Run::TimerExpiry(Expiry { n: 4, after_ms: 3, spread_ms: 2, seed: 7 }),
        ),
        ("idle-memory", json!({"n": 4}), Run::IdleMemory { n: 4 }),
        (
            "hog",
            json!({"loop": "open", "hogs": 4, "ms": 3}),
            Run::Hog(Hog { pace: LoopKind::Open, hogs: 4, ms: 3 }),
        ),
        ("monitor-churn", json!({"n": 4}), Run::MonitorChurn { n: 4 }),
        ("link-churn", json!({"n": 4}), Run::LinkChurn { n: 4 }),
        ("exit-cascade", json!({"n": 4, "reps": 2}), Run::ExitCascade { n: 4, reps: 2 }),
        ("restart", json!({"n": 4}), Run::Restart { n: 4, reps: 1 }),
        (
            "signals",
            json!({
                "mode": "receive", "senders": 4, "ms": 3, "exit_percent": 50, "s": 1, "switch": 1,
                "rest_ms": 2, "room": 9, "variant": "adaptive",
            }),
            Run::Signals(Signals {
                end: End::Receive,
                senders: 4,
                ms: 3,
                exit_percent: 50,
                s: 1,
                switch: 1,
                rest_ms: 2,
                room: 9,
                seed: 7,
            }),
        ),
        (
            "banking",
            json!({"accounts": 4, "n": 5}),
            Run::Savina(Savina::Banking { accounts: 4, n: 5, reps: 1 }),
        ),
        (
            "bounded-buffer",
            json!({"producers": 4, "consumers": 5, "capacity": 6, "cost": 7, "n": 8}),
            Run::Savina(Savina::BoundedBuffer {
                producers: 4,
                consumers: 5,
                capacity: 6,
                cost: 7,
                n: 8,
            }),
        ),
        (
            "chameneos",
            json!({"creatures": 4, "n": 5}),
            Run::Savina(Savina::Chameneos { creatures: 4, n: 5 }),
        ),
        (
            "dictionary",
            json!({"workers": 4, "writes": 5, "n": 6}),
            Run::Savina(Savina::Dictionary { workers: 4, writes: 5, n: 6 }),
        ),
        (
            "logistic-map",
            json!({"series": 4, "terms": 5, "reps": 2}),
            Run::Savina(Savina::LogisticMap { series: 4, terms: 5, reps: 2 }),
        ),
        (
            "philosophers",
            json!({"philosophers": 4, "n": 5}),
            Run::Savina(Savina::Philosophers { philosophers: 4, n: 5 }),
        ),
        (
            "sieve",
            json!({"n": 4, "local": 5, "reps": 2}),
            Run::Savina(Savina::Sieve { n: 4, local: 5, reps: 2 }),
        ),
        ("big", json!({"processes": 4, "n": 5}), Run::Savina(Savina::Big { processes: 4, n: 5 })),
        (
            "spread",
            json!({"processes": 4, "n": 5, "us": 6}),
            Run::Savina(Savina::Spread { processes: 4, n: 5, us: 6 }),
        ),
    ];
    assert_eq!(cases.len(), EXPERIMENTS.len());
    for (experiment, params, run) in cases {
        assert_eq!(parsed(experiment, params), Ok(run));
        assert_eq!(run.experiment(), experiment);
    }
}

#[test]
fn error_names_the_wrong_parameter_and_the_valid_values() {
    let complaint = |experiment, params| parsed(experiment, params).unwrap_err();
    assert_eq!(
        complaint("ping-pong", json!({})),
        r#"ping-pong: parameter "n" is missing; it is an integer from 0 to 1000000000000"#
    );
    assert_eq!(
        complaint("ping-pong", json!({"n": -4})),
        r#"ping-pong: parameter "n" must be an integer from 0 to 1000000000000, not -4"#
    );
    assert_eq!(
        complaint("ping-pong", json!({"n": 1, "k": 2})),
        r#"ping-pong: unknown parameter "k"; it takes n"#
    );
    let mut signals = json!({
        "mode": "send", "senders": 1, "ms": 1, "exit_percent": 101, "s": 1, "switch": 0,
        "rest_ms": 0, "room": 1,
    });
    assert_eq!(
        complaint("signals", signals.clone()),
        r#"signals: parameter "exit_percent" must be an integer from 0 to 100, not 101"#
    );
    signals["variant"] = "off_heap".into();
    assert_eq!(
        complaint("signals", signals),
        r#"signals: parameter "variant" must be "adaptive", not "off_heap""#
    );
    assert_eq!(
        complaint("serial-spawn", json!({"m": 5, "total": 4})),
        "serial-spawn: m is 5, more than the total of 4"
    );
    assert_eq!(
        complaint("skynet", json!({"leaves": 20})),
        "skynet: leaves is 20, not a power of ten"
    );
    assert_eq!(
        complaint("call-vs-send", json!({"n": 1, "mode": "far"})),
        r#"call-vs-send: parameter "mode" must be "local" or "remote", not "far""#
    );
}

#[test]
fn variant_of_a_mailbox_is_refused_unless_the_contender_lists_it() {
    let line = |variant: &str| {
        let params = format!(r#"{{"n":1,"variant":"{variant}"}}"#);
        format!(r#"{{"op":"run","experiment":"throughput","params":{params}}}"#).into_bytes()
    };
    let refused = |variant, known: &Variants| match Request::parse(&line(variant), known) {
        Err(refused) => refused,
        Ok(request) => panic!("{request:?}"),
    };
    assert_eq!(
        refused("recv-many", &variants()),
        r#"throughput: parameter "variant" must be "bounded" or "unbounded", not "recv-many""#
    );
    assert_eq!(
        refused("bounded", &Variants::default()),
        r#"throughput: unknown parameter "variant"; it takes n"#
    );
}

#[test]
fn hello_lists_variants_of_mailboxes_children_and_called_processes() {
    let hello = Hello::new("test", "test 1")
        .flows(&[Flow::Unbounded, Flow::ReceiveMany])
        .callees(&[Callee::Server, Callee::Process]);
    let mut output = Vec::new();
    serve_on(&b"{\"op\":\"hello\"}\n"[..], &mut output, &hello, |_| Err(String::new())).unwrap();
    let listed = &serde_json::from_slice::<Value>(&output).unwrap()["variants"];
    for experiment in ["call-vs-send", "throughput", "fan-in"] {
        assert_eq!(listed[experiment], json!(["unbounded", "recv-many"]));
    }
    assert_eq!(listed["call"], json!(["server", "process"]));
    assert_eq!(listed["fork-join"], Value::Null);
}

#[test]
fn hello_omits_experiments_that_are_not_offered() {
    let hello = Hello::new("test", "test 1").without(&["selective"]);
    let mut output = Vec::new();
    let ask = b"{\"op\":\"hello\"}\n";
    serve_on(&ask[..], &mut output, &hello, |_| Err("not asked".to_owned())).unwrap();
    let greeting: Value = serde_json::from_slice(&output).unwrap();
    let offered = greeting["experiments"].as_array().unwrap();
    assert_eq!(offered.len(), EXPERIMENTS.len() - 1);
    assert!(!offered.contains(&"selective".into()));
}

#[test]
fn contender_continues_after_a_malformed_request_and_a_failed_run() {
    let input = b"nonsense\n{\"op\":\"run\",\"experiment\":\"ping-pong\",\"params\":{\"n\":1}}\n\
        {\"op\":\"hello\"}\n{\"op\":\"quit\"}\nnever read\n";
    let hello = Hello::new("test", "test 1").note("a note");
    let mut output = Vec::new();
    serve_on(&input[..], &mut output, &hello, |_| Err("too tired".to_owned())).unwrap();
    let text = String::from_utf8(output).unwrap();
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3);
    assert!(answers[0]["error"].as_str().unwrap().starts_with("not a line of JSON"));
    assert_eq!(answers[1], json!({"error": "too tired"}));
    assert_eq!(answers[2]["variants"]["signals"], json!(["adaptive"]));
    assert_eq!(answers[2]["os_pid"], json!(std::process::id()));
}

/// Generates any JSON, a few levels deep, with words of the protocol among its keys and strings.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        prop::sample::select(EXPERIMENTS.to_vec()).prop_map(str::to_owned),
        prop::sample::select(vec![
            "op",
            "run",
            "experiment",
            "params",
            "seed",
            "n",
            "s",
            "m",
            "total",
            "reps",
            "pieces",
            "work",
            "mode",
            "remote",
            "leaves",
            "senders",
            "processes",
            "variant",
            "waiting",
            "loop",
            "open",
            "rest_ms",
            "adaptive",
        ])
        .prop_map(str::to_owned),
        ".*",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0u64..20).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(word.clone(), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Generates parameters with valid names and any values.
fn any_params() -> impl Strategy<Value = Value> {
    let names = vec![
        "n",
        "s",
        "m",
        "total",
        "reps",
        "pieces",
        "work",
        "mode",
        "leaves",
        "senders",
        "processes",
        "variant",
        "waiting",
        "window",
        "after_ms",
        "spread_ms",
        "k",
        "loop",
        "hogs",
        "ms",
        "exit_percent",
        "switch",
        "rest_ms",
        "room",
        "accounts",
        "producers",
        "consumers",
        "capacity",
        "creatures",
        "workers",
        "writes",
        "series",
        "terms",
        "philosophers",
        "local",
        "us",
    ];
    let value = prop_oneof![
        any::<u64>().prop_map(Value::from),
        (0u64..2_000_000).prop_map(Value::from),
        (0u32..20).prop_map(|power| Value::from(10u64.saturating_pow(power))),
        prop::sample::select(vec![
            "local", "remote", "open", "closed", "send", "receive", "adaptive",
        ])
        .prop_map(Value::from),
    ];
    prop::collection::btree_map(prop::sample::select(names), value, 0..8)
        .prop_map(|map| map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns a total that contenders compute; it must not overflow for any accepted run.
fn totals(run: &Run) -> u64 {
    match run {
        Run::TailCall { n, reps }
        | Run::SpawnChain { n, reps }
        | Run::ExitCascade { n, reps }
        | Run::Restart { n, reps } => n * reps,
        Run::Exchange(exchange) => exchange.messages(),
        Run::MessageSize(payload) | Run::Bandwidth(payload) | Run::MessageMoved(payload) => {
            payload.exchange.messages() * payload.s
        }
        Run::PingPong { n } | Run::Call { n, .. } | Run::CallDeep { n, .. } => 2 * n,
        Run::Skynet { leaves } => leaves * (leaves - 1) / 2,
        Run::Savina(savina) => savina.due().1,
        _ => 0,
    }
}

fn one_line(complaint: &str) -> bool {
    !complaint.is_empty() && !complaint.contains('\n') && complaint.len() < 2000
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(complaint) = Request::parse(&bytes, &variants()) {
            prop_assert!(!complaint.is_empty() && !complaint.contains('\n'));
        }
    }

    #[test]
    fn arbitrary_json_never_panics(value in any_json()) {
        let _ = Request::parse(value.to_string().as_bytes(), &variants());
    }

    #[test]
    fn arbitrary_parameters_are_refused_or_cannot_overflow(
        experiment in prop::sample::select(EXPERIMENTS.to_vec()),
        params in prop_oneof![any_params(), any_json()],
    ) {
        match parsed(experiment, params) {
            Ok(run) => prop_assert!(totals(&run) < 1 << 63),
            Err(complaint) => prop_assert!(one_line(&complaint), "{}", complaint),
        }
    }

    #[test]
    fn every_line_is_answered_by_one_line(
        lines in prop::collection::vec("[^\n]{0,80}", 0..10),
    ) {
        let hello = Hello::new("test", "test 1");
        let input = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let mut output = Vec::new();
        serve_on(input.as_bytes(), &mut output, &hello, |_| {
            Ok(Sample::new(std::time::Duration::ZERO, 0, 0, 0))
        })
        .unwrap();
        let answers = output.iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(answers, lines.len());
    }

    #[test]
    fn schedule_sends_the_floor_of_the_share_after_each_piece(n in 0u64..10_000, pieces in 1u64..500) {
        let mut sent = 0;
        for (i, due) in (1..).zip(Schedule::new(n, pieces)) {
            sent += due;
            prop_assert_eq!(sent, i * n / pieces);
        }
        prop_assert_eq!(sent, n);
    }

    #[test]
    fn shares_sum_to_the_total_and_only_the_first_differs(total in 0u64..100_000, parts in 1u64..200) {
        let all: Vec<_> = shares(total, parts).collect();
        prop_assert_eq!(all.len() as u64, parts);
        prop_assert_eq!(all.iter().sum::<u64>(), total);
        prop_assert!(all[1..].iter().all(|share| *share == total / parts));
    }
}
