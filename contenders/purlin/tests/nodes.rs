//! Two nodes, each of purlin or the BEAM: messages arrive in order, and both ends report the same
//! counts.

#[path = "../../protocol/tests/it/built.rs"]
#[allow(dead_code, reason = "the contender in Erlang is all that is needed here")]
mod built;

use std::process::Command;

use purlin_contender::conformance::Contender;
use purlin_dist::epmd::Server;
use serde_json::{Value, json};

use built::erlang;

/// The program that runs a node.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Purlin,
    Beam,
}

/// Starts a contender that uses this epmd.
fn start(kind: Kind, epmd: u16) -> Contender {
    let mut command = match kind {
        Kind::Purlin => Command::new(env!("CARGO_BIN_EXE_contender-purlin")),
        Kind::Beam => {
            let mut command = Command::new("erl");
            // WHY a cookie: without one, the runtime creates the user's cookie file. A second
            // runtime that starts at the same time may find the file before its permissions are
            // set, and then refuses to become a node.
            command
                .args(["-setcookie", "secret", "-noshell", "-pa"])
                .arg(erlang().expect("erlc is there"));
            command.args(["-s", "contender", "main"]);
            command
        }
    };
    command.env("ERL_EPMD_PORT", epmd.to_string());
    Contender::start(command).unwrap()
}

fn ask(contender: &mut Contender, request: &Value) -> Value {
    let answer = contender.ask(&request.to_string()).unwrap();
    assert!(answer.get("error").is_none(), "{request} gave {answer}");
    answer
}

/// Runs each experiment twice between two programs.
fn talk(near: Kind, far: Kind) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let epmd = runtime.block_on(Server::start("127.0.0.1:0")).unwrap();
    let (mut near, mut far) =
        (start(near, epmd.address().port()), start(far, epmd.address().port()));
    let experiments = [
        ("dist-send", None, 1),
        ("dist-round-trip", None, 2),
        ("dist-call", Some(1), 2),
        ("dist-call", Some(7), 2),
    ];
    for (experiment, callers, each) in experiments.repeat(2) {
        let serve = json!({"cookie": "secret"});
        let serve = json!({"op": "serve", "experiment": experiment, "params": serve});
        let there = ask(&mut far, &serve);
        let n = 1000;
        let mut run = json!({"n": n, "node": there["address"], "cookie": "secret"});
        if let Some(callers) = callers {
            run["callers"] = json!(callers);
        }
        let run = json!({"op": "run", "experiment": experiment, "params": run});
        let sample = ask(&mut near, &run);
        let counts = ["ops", "sent", "received"].map(|name| sample[name].as_u64().unwrap());
        assert_eq!(counts, [n, each * n, each * n], "{experiment}: {sample}");
        assert_eq!(experiment != "dist-send", sample["p99_ns"].is_u64());
        assert_eq!(ask(&mut far, &json!({"op": "stop"})), json!({"received": n}));
    }
    for contender in [near, far] {
        assert_eq!(contender.finish(), Ok(Some(0)));
    }
}

#[test]
fn messages_and_calls_arrive_from_purlin_to_purlin() {
    talk(Kind::Purlin, Kind::Purlin);
}

#[test]
fn messages_and_calls_arrive_from_purlin_to_beam() {
    talk(Kind::Purlin, Kind::Beam);
}

#[test]
fn messages_and_calls_arrive_from_beam_to_purlin() {
    talk(Kind::Beam, Kind::Purlin);
}

#[test]
fn messages_and_calls_arrive_from_beam_to_beam() {
    talk(Kind::Beam, Kind::Beam);
}

#[test]
fn unreachable_far_node_and_wrong_cookie_are_one_line_errors() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let epmd = runtime.block_on(Server::start("127.0.0.1:0")).unwrap();
    let mut far = start(Kind::Purlin, epmd.address().port());
    let serve = json!({"cookie": "secret"});
    let serve = json!({"op": "serve", "experiment": "dist-send", "params": serve});
    let there = ask(&mut far, &serve)["address"].clone();
    for kind in [Kind::Purlin, Kind::Beam] {
        let mut near = start(kind, epmd.address().port());
        for (node, cookie) in [(&json!("none@127.0.0.1"), "secret"), (&there, "guessed")] {
            let run = json!({"n": 1, "node": node, "cookie": cookie});
            let run = json!({"op": "run", "experiment": "dist-send", "params": run});
            let refused = near.ask(&run.to_string()).unwrap();
            let line = refused["error"].as_str().unwrap_or_else(|| panic!("{run} gave {refused}"));
            assert!(line.contains(node.as_str().unwrap()) && !line.contains('\n'), "{line}");
        }
    }
}
