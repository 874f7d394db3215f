//! Requests for servers and for the load client: accepted and refused requests, and the limit of
//! one server.

use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};

use proptest::prelude::{any, prop, prop_assert, prop_oneof, proptest};
use proptest::strategy::Strategy as _;
use purlin_contender::{Hello, Load, Running, SERVED, Serve, serve_with_servers_on};
use serde_json::{Map, Value, json};

fn params(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

fn serve(experiment: &str, value: Value) -> Result<Serve, String> {
    Serve::parse(experiment, &params(value))
}

fn load(experiment: &str, value: Value) -> Result<Load, String> {
    Load::parse(experiment, &params(value))
}

#[test]
fn every_experiment_selects_its_strategy() {
    let strategies =
        ["request-reply", "throttle", "head-rest", "sync-ack", "async-ack", "best", "sync-ack"];
    for (experiment, strategy) in SERVED.into_iter().zip(strategies) {
        let due = Serve { experiment, strategy, each: false, cores: None };
        assert_eq!(serve(experiment, json!({})), Ok(due));
        assert_eq!(serve(experiment, json!({"cores": 2})), Ok(Serve { cores: Some(2), ..due }));
    }
    assert!(serve("ack-best", json!({"variant": "each"})).unwrap().each);
    let either = serve("ack-sync-or-async", json!({"variant": "async-ack", "cores": 1})).unwrap();
    assert_eq!((either.strategy, either.cores), ("async-ack", Some(1)));
}

#[test]
fn request_to_the_load_client_is_parsed() {
    let asked = json!({"address": "127.0.0.1:80", "connections": 4, "messages": 1000, "size": 5, "batch": 50});
    let due = Load {
        strategy: "head-rest",
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 80)),
        connections: 4,
        messages: 1000,
        size: 5,
        batch: 50,
    };
    assert_eq!(load("ack-head-rest", asked.clone()), Ok(due));
    let to_either = load("ack-sync-or-async", asked.clone());
    assert_eq!(to_either, Ok(Load { strategy: "sync-ack", ..due }));
    // The server's variant is not a parameter of the client.
    let mut changed = asked;
    changed["variant"] = "async-ack".into();
    assert!(load("ack-sync-or-async", changed).unwrap_err().contains("\"variant\""));
    assert_eq!(due.all(), 4000);
}

#[test]
fn invalid_server_and_load_requests_are_refused_with_the_cause() {
    for (refused, named) in [
        (serve("ack-fast", json!({})).unwrap_err(), "\"ack-fast\""),
        (serve("ping-pong", json!({})).unwrap_err(), "\"ping-pong\""),
        (serve("ack-best", json!({"cores": 0})).unwrap_err(), "\"cores\""),
        (serve("ack-best", json!({"cores": 1025})).unwrap_err(), "from 1 to 1024"),
        (serve("ack-best", json!({"variant": "sync-ack"})).unwrap_err(), "\"variant\""),
        (serve("ack-sync-or-async", json!({"variant": "best"})).unwrap_err(), "\"async-ack\""),
        (load("ack-best", json!({})).unwrap_err(), "\"address\" is missing"),
        (load("ack-best", json!({"address": "here"})).unwrap_err(), "not \"here\""),
        (
            load("ack-best", json!({"address": "[::1]:1", "connections": 0})).unwrap_err(),
            "\"connections\"",
        ),
    ] {
        assert!(refused.contains(named) && !refused.contains('\n'), "{refused}");
    }
}

/// Returns the answers of a contender that serves `ack-best` at a simulated address, and the number
/// of starts.
fn answers(requests: &[&str]) -> (Vec<Value>, u64) {
    let hello = Hello::new("test", "test 1").serving(&["ack-best"]);
    let (mut output, started) = (Vec::new(), Cell::new(0));
    let start = |asked: Serve| {
        started.set(started.get() + 1);
        match asked.cores {
            Some(_) => Err("no cores".to_owned()),
            None => Ok(Running::new(SocketAddr::from(([127, 0, 0, 1], 80)), || Ok(7))),
        }
    };
    let run = |_| Err("not asked".to_owned());
    serve_with_servers_on(requests.join("\n").as_bytes(), &mut output, &hello, run, start).unwrap();
    let text = String::from_utf8(output).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), started.get())
}

#[test]
fn at_most_one_server_runs_from_serve_to_stop() {
    let (serve, stop) = (r#"{"op":"serve","experiment":"ack-best"}"#, r#"{"op":"stop"}"#);
    let (answers, started) = answers(&[stop, serve, serve, stop, stop, serve, r#"{"op":"quit"}"#]);
    let (there, seven) = (json!({"address": "127.0.0.1:80"}), json!({"received": 7}));
    let wrong =
        |answer: &Value| answer["error"].as_str().is_some_and(|error| error.contains("run"));
    assert!(wrong(&answers[0]) && wrong(&answers[2]) && wrong(&answers[4]), "{answers:?}");
    assert_eq!((&answers[1], &answers[3], &answers[5]), (&there, &seven, &there));
    assert_eq!((answers.len(), started), (6, 2));
}

#[test]
fn failed_start_leaves_no_server_running() {
    let (answers, started) = answers(&[
        r#"{"op":"serve","experiment":"ack-throttle"}"#,
        r#"{"op":"serve","experiment":"ack-best","params":{"cores":1}}"#,
        r#"{"op":"stop"}"#,
    ]);
    assert!(answers[0]["error"].as_str().unwrap().contains("serves ack-best"), "{answers:?}");
    assert_eq!(answers[1], json!({"error": "no cores"}));
    assert!(answers[2]["error"].is_string());
    assert_eq!(started, 1);
}

#[test]
fn hello_lists_servers_and_their_variants() {
    let greeting = |serving: &[&'static str]| {
        let hello = Hello::new("test", "test 1").serving(serving);
        let mut output = Vec::new();
        let (run, start) = (|_| Err("no".to_owned()), |_| Err("no".to_owned()));
        serve_with_servers_on(&b"{\"op\":\"hello\"}"[..], &mut output, &hello, run, start).unwrap();
        serde_json::from_slice::<Value>(&output).unwrap()
    };
    let all = greeting(&SERVED);
    let offered = all["experiments"].as_array().unwrap();
    assert!(SERVED.into_iter().all(|id| offered.contains(&id.into())));
    assert_eq!(all["variants"]["ack-sync-or-async"], json!(["sync-ack", "async-ack"]));
    assert_eq!(all["variants"]["ack-best"], json!(["batch", "each"]));
    assert!(greeting(&["ack-best"])["variants"].get("ack-sync-or-async").is_none());
}

proptest! {
    #[test]
    fn arbitrary_parameters_are_refused_or_can_be_counted(
        experiment in prop::sample::select(SERVED.to_vec()),
        params in prop::collection::btree_map(
            prop::sample::select(vec!["address", "connections", "messages", "size", "batch", "cores", "variant"]),
            prop_oneof![
                any::<u64>().prop_map(Value::from),
                (0u64..100_000).prop_map(Value::from),
                prop::sample::select(vec!["127.0.0.1:8001", "async-ack", "x"]).prop_map(Value::from),
            ],
            0..8,
        ),
    ) {
        let params: Map<String, Value> =
            params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let one_line = |complaint: &str| !complaint.is_empty() && !complaint.contains('\n');
        match Load::parse(experiment, &params) {
            Ok(load) => prop_assert!(u128::from(load.connections) * u128::from(load.messages) < 1 << 63),
            Err(complaint) => prop_assert!(one_line(&complaint)),
        }
        if let Err(complaint) = Serve::parse(experiment, &params) {
            prop_assert!(one_line(&complaint));
        }
    }
}
