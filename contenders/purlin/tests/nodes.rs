//! Two nodes, each purlin's or the BEAM's: what one sends arrives at the other, in order, and what they
//! tell of it agrees.

#[path = "../../protocol/tests/it/built.rs"]
#[allow(dead_code, reason = "the contender in Erlang is all that is needed here")]
mod built;

use std::process::Command;

use purlin_contender::conformance::Contender;
use purlin_dist::epmd::Server;
use serde_json::{Value, json};

use built::erlang;

/// Which program is a node.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Purlin,
    Beam,
}

/// A contender with that epmd.
fn start(kind: Kind, epmd: u16) -> Contender {
    let mut command = match kind {
        Kind::Purlin => Command::new(env!("CARGO_BIN_EXE_contender-purlin")),
        Kind::Beam => {
            let mut command = Command::new("erl");
            // WHY a cookie: without one it makes the user's file of it, and a second that starts meanwhile may
            // find that file before it is protected, and then refuses to be a node.
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

/// Both experiments, twice each, between two programs.
fn talk(near: Kind, far: Kind) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let epmd = runtime.block_on(Server::start("127.0.0.1:0")).unwrap();
    let (mut near, mut far) =
        (start(near, epmd.address().port()), start(far, epmd.address().port()));
    for (experiment, each) in [("dist-send", 1), ("dist-round-trip", 2)].repeat(2) {
        let serve = json!({"cookie": "secret"});
        let serve = json!({"op": "serve", "experiment": experiment, "params": serve});
        let there = ask(&mut far, &serve);
        let n = 1000;
        let run = json!({"n": n, "node": there["address"], "cookie": "secret"});
        let run = json!({"op": "run", "experiment": experiment, "params": run});
        let sample = ask(&mut near, &run);
        let told = ["ops", "sent", "received"].map(|name| sample[name].as_u64().unwrap());
        assert_eq!(told, [n, each * n, each * n], "{experiment}: {sample}");
        assert_eq!(experiment == "dist-round-trip", sample["p99_ns"].is_u64());
        assert_eq!(ask(&mut far, &json!({"op": "stop"})), json!({"received": n}));
    }
    for contender in [near, far] {
        assert_eq!(contender.finish(), Ok(Some(0)));
    }
}

#[test]
fn two_nodes_of_purlin_keep_what_is_sent() {
    talk(Kind::Purlin, Kind::Purlin);
}

#[test]
fn what_purlin_sends_arrives_at_a_beam() {
    talk(Kind::Purlin, Kind::Beam);
}

#[test]
fn what_a_beam_sends_arrives_at_purlin() {
    talk(Kind::Beam, Kind::Purlin);
}

#[test]
fn two_beams_keep_what_is_sent() {
    talk(Kind::Beam, Kind::Beam);
}

#[test]
fn a_far_node_that_is_not_there_and_a_wrong_cookie_are_told_in_one_line() {
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
