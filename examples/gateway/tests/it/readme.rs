//! The commands of the README do what it says.

use std::fs;
use std::process::Command;

use crate::page::blocks;
use crate::programs::Program;
use crate::support::{Gateway, Place, SOURCE};

const PAGE: &str = include_str!("../../README.md");

#[test]
fn commands_and_session_are_as_the_page_shows() {
    let [store, start, _kills] = &blocks(PAGE, "sh").collect::<Vec<_>>()[..] else {
        panic!("the page has three blocks of commands");
    };
    let [session] = blocks(PAGE, "text").collect::<Vec<_>>()[..] else {
        panic!("the page has a session");
    };
    let place = Place::new();
    let _epmd = place.epmd();
    let folder = place.path().join("examples/gateway");
    fs::create_dir_all(&folder).expect("there is room");
    fs::copy(SOURCE, folder.join("store.erl")).expect("it is there");
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        place.environment(shell.args(["-c", line]).current_dir(place.path()));
        shell
    };
    let [compile, run] = store.lines().collect::<Vec<_>>()[..] else { panic!("two commands") };
    assert!(shell(compile).status().expect("there is a shell").success());
    // WHY exec: a signal to the shell would not end the node.
    let _beam = Program::start(&mut shell(&format!("exec {run}")), "KILL");

    let due = "GATEWAY_COOKIE=secret cargo run -p example-gateway -- --listen 127.0.0.1:7000 ";
    let node = start.strip_prefix(due).expect("how it is started").trim();
    let gateway = format!("exec {} --listen 127.0.0.1:0 {node}", env!("CARGO_BIN_EXE_gateway"));
    let gateway = Gateway::start(shell(&gateway).env("GATEWAY_COOKIE", "secret"));
    let mut client = gateway.client_up();
    let lines = session.lines().skip_while(|line| *line == "  UP");
    for line in lines {
        match line.split_at(2) {
            ("> ", request) => client.send(request),
            (_, reply) => assert_eq!(client.reply().as_deref(), Some(reply)),
        }
    }
}
