//! Tests with OTP's epmd: registration, look-up, and renewed registration after a restart of epmd.

use std::process::Stdio;

use crate::support::{Beam, Epmd, LOG_TO_STDERR, Ours, free_port, in_time, until_async};
use purlin_dist::NodeName;
use purlin_dist::epmd::{self, Alive, Failed, Kind, Registration, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

async fn knows(epmd: &epmd::Epmd, name: &str) -> bool {
    epmd.find(name).await.expect("epmd answers").is_some()
}

fn alive(name: &str) -> Alive {
    Alive { alive: name.to_owned(), port: 4711, kind: Kind::Hidden }
}

#[tokio::test]
async fn a_registered_name_is_found_with_its_port_until_it_is_released() {
    let epmd = Epmd::start();
    let registration = Registration::new(epmd.ask(), alive("shop")).await.expect("it is free");
    assert_ne!(registration.creation(), 0);
    let found = epmd.ask().find("shop").await.expect("epmd answers").expect("it is there");
    assert_eq!((found.port, found.kind, found.speaks_ours()), (4711, Kind::Hidden, true));
    assert_eq!(epmd.ask().find("shed").await.expect("epmd answers"), None);
    assert_eq!(epmd.ask().names().await.expect("epmd answers"), [("shop".to_owned(), 4711)]);

    let taken = Registration::new(epmd.ask(), alive("shop")).await;
    assert!(matches!(taken, Err(Failed::Taken(name)) if name == "shop"));
    drop(registration);
    until_async("the name is forgotten", async || !knows(&epmd.ask(), "shop").await).await;
    Registration::new(epmd.ask(), alive("shop")).await.expect("it is free again");
}

#[tokio::test]
async fn a_name_is_registered_again_after_a_restart_of_epmd() {
    let port = free_port();
    let first = Epmd::start_on(port.clone());
    let registration = Registration::new(first.ask(), alive("shop")).await.expect("it is free");
    let creation = registration.creation();
    drop(first);
    let second = Epmd::start_on(port);
    until_async("the name is registered again", async || knows(&second.ask(), "shop").await).await;
    assert_eq!(registration.creation(), creation);
}

#[tokio::test]
async fn a_missing_epmd_is_reported() {
    let port = free_port();
    let here = epmd::Epmd::of_host("localhost", port.number).await.expect("it is known");
    assert!(here.names().await.is_err());
    let nowhere = epmd::Epmd::at(([127, 0, 0, 1], port.number).into());
    let failed = nowhere.find("shop").await.expect_err("no process is there");
    assert!(failed.to_string().starts_with("no epmd at 127.0.0.1:"), "{failed}");
}

#[tokio::test]
async fn a_beam_finds_us_and_we_find_it() {
    let epmd = Epmd::start();
    let _ours = Ours::start(&epmd, "ours").await;
    let mut beam = Beam::start(&epmd, "beam").await;
    let found = epmd.ask().find("beam").await.expect("epmd answers").expect("it is there");
    assert_eq!(found.kind, Kind::Normal);
    let names =
        beam.eval("{ok, Names} = erl_epmd:names(), lists:sort([N || {N, _} <- Names])").await;
    assert_eq!(names, r#"["beam","ours"]"#);
}

#[tokio::test]
async fn two_beams_register_with_our_epmd_find_each_other_and_are_removed() {
    let server = Server::start(("127.0.0.1", 0)).await.expect("a port");
    let port = server.address().port();
    let ask = epmd::Epmd::at(server.address());
    let mut one = Beam::start_with(port, "one", &[]).await;
    let two = Beam::start_with(port, "two", &[]).await;
    assert_eq!(one.eval("net_adm:ping('two@127.0.0.1')").await, "pong");
    assert_eq!(one.eval("net_adm:ping('three@127.0.0.1')").await, "pang");
    let names =
        one.eval("{ok, Names} = erl_epmd:names(), lists:sort([N || {N, _} <- Names])").await;
    assert_eq!(names, r#"["one","two"]"#);
    let found = ask.find("two").await.expect("it answers").expect("it is there");
    assert_eq!(found.kind, Kind::Normal);
    two.kill().await;
    until_async("the node is forgotten", async || !knows(&ask, "two").await).await;

    let first = Registration::new(ask, alive("shop")).await.expect("it is free").creation();
    until_async("the name is forgotten", async || !knows(&ask, "shop").await).await;
    let second = Registration::new(ask, alive("shop")).await.expect("it is free").creation();
    assert_ne!(first, second);
}

#[tokio::test]
async fn our_epmd_ignores_garbage_and_kill_requests() {
    let server = Server::start(("127.0.0.1", 0)).await.expect("a port");
    for bytes in [&b"\xff\xff"[..], b"\0\x01k", b"\0\x05sshop", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(server.address()).await.expect("it listens");
        stream.write_all(bytes).await.expect("it reads");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty());
    }
    assert!(epmd::Epmd::at(server.address()).names().await.expect("it answers").is_empty());
}

#[tokio::test]
async fn silent_clients_keep_no_node_from_registering_with_our_server() {
    let server = Server::start("127.0.0.1:0").await.expect("a port");
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(TcpStream::connect(server.address()).await.expect("it listens"));
    }
    let one = Beam::start_with(server.address().port(), "one", &[]).await;
    let known = epmd::Epmd::at(server.address()).names().await.expect("it answers");
    assert!(matches!(&known[..], [(name, _)] if name == "one"), "{known:?}");
    drop((one, silent));
}

#[tokio::test]
async fn valid_node_names_are_those_of_a_beam() {
    const NAMES: &str = r#"
        io:setopts([{encoding, unicode}]), [S, L] = [list_to_atom("s@" ++ [C, $.]) || C <- [255, 256]],
        Names = ['a.b@h.x', 'é@h.x', 'a+b@h.x', 'a b@h.x', 'Ab-_9@h.x', '-@h.x', '@h.x', 'a@b@h.x',
            'a@h .x', 'a@h!.x', 'a@h_.x', 'a@::1', S, L],
        [case catch net_kernel:start([Name, longnames]) of
            {ok, _} -> net_kernel:stop(), io:format("+~ts~n", [Name]);
            _ -> io:format("-~ts~n", [Name])
        end || Name <- Names], halt()."#;
    let epmd = Epmd::start();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-start_epmd", "false", "-kernel", "logger", LOG_TO_STDERR]);
    erl.args(["-eval", NAMES]).stderr(Stdio::null());
    erl.env("ERL_EPMD_PORT", epmd.port.to_string()).env("ERL_CRASH_DUMP_SECONDS", "0");
    let output = in_time("the names", erl.kill_on_drop(true).output()).await.expect("erl is there");
    let lines = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<_> = lines.lines().filter(|line| line.starts_with(['+', '-'])).collect();
    assert_eq!(lines.len(), 14, "{lines:?}");
    for line in lines {
        let (is_valid, name) = line.split_at(1);
        assert_eq!(name.parse::<NodeName>().is_ok(), is_valid == "+", "{name}");
    }
}
