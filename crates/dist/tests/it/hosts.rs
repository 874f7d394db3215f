//! Nodes on several hosts, simulated by several addresses of this machine with an epmd each; and the requirements for a
//! connection: the same form of name, and a common cookie.

use crate::processes;
use std::net::{IpAddr, SocketAddr};

use crate::log::Log;
use crate::support::{Beam, COOKIE, Epmd, HANG, free_port};
use purlin::Node;
use purlin_dist::NodeName;
use purlin_dist::cluster::{Builder, Cluster};
use purlin_dist::connect::NoConnection;
use purlin_dist::epmd::Server;
use purlin_term::{Atom, Term};
use tokio::sync::mpsc;

fn name(text: &str) -> NodeName {
    text.parse().expect("a name")
}

async fn epmd(host: &str, port: u16) -> Server {
    let host: IpAddr = host.parse().expect("an address");
    Server::start(SocketAddr::from((host, port))).await.expect("the port is free there, too")
}

/// Returns a builder of a node whose epmd is on that port of 127.0.0.1 by default.
fn builder(of: &str, port: u16) -> Builder {
    Cluster::builder(name(of)).cookie(COOKIE).epmd(([127, 0, 0, 1], port).into())
}

/// Joins with a process `echo` that replies to calls with their request.
async fn join(builder: Builder) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    let cluster = builder.start(&node).await.expect("it joins");
    processes::echoes(&cluster);
    cluster
}

async fn echoes(of: &Cluster, asks: &Cluster) {
    let answer = asks.call::<Term>("echo", of.name(), Term::atom("hello"), HANG).await;
    assert_eq!(answer.expect("it answers"), Term::atom("hello"), "{of}");
}

async fn echoes_to_a_beam(of: &Cluster, beam: &mut Beam) {
    let call = format!("gen_server:call({{echo, '{of}'}}, hello, infinity)");
    assert_eq!(beam.eval(&call).await, "hello");
}

/// Disconnects two nodes and waits until both have noticed.
async fn cut(one: &Cluster, other: &Cluster) {
    let (sender, mut down) = mpsc::channel::<()>(1);
    for (here, there) in [(one, other), (other, one)] {
        let sender = sender.clone();
        here.when_down(there.name(), move |_| drop(sender));
    }
    drop(sender);
    assert!(one.disconnect(other.name()));
    assert_eq!(down.recv().await, None);
}

async fn calls_a_beam(asks: &Cluster, beam: &Beam) {
    let answer = asks.rpc(&beam.name, "erlang", "node", vec![], HANG).await;
    assert_eq!(
        answer.expect("it answers"),
        Term::Atom(Atom::new(beam.name.as_str()).expect("short"))
    );
}

#[tokio::test]
async fn nodes_on_three_hosts_find_each_other_by_the_epmd_of_each_host() {
    let theirs = Epmd::start();
    let port = theirs.port;
    let [second, third] = [epmd("127.0.0.2", port).await, epmd("127.0.0.3", port).await];
    let mut beam = Beam::start(&theirs, "beam").await;
    let second = join(builder("ours@127.0.0.2", port).epmd(second.address())).await;
    // The same name on another host.
    let third = join(builder("ours@127.0.0.3", port).epmd(third.address())).await;
    echoes_to_a_beam(&second, &mut beam).await;
    calls_a_beam(&third, &beam).await;
    echoes(&second, &third).await;
    let mut nodes = third.nodes();
    nodes.sort_unstable();
    assert_eq!(nodes, [name("beam@127.0.0.1"), name("ours@127.0.0.2")]);
    // The name is known to the epmd of the first host, but not to that of the second.
    let unknown = third.connect(&name("beam@127.0.0.2")).await;
    assert!(matches!(*unknown.expect_err("no such node"), NoConnection::Unknown(_)));
}

#[tokio::test]
async fn nodes_are_reachable_by_ipv6() {
    if let Err(error) = std::net::TcpListener::bind("[::1]:0") {
        return eprintln!("left out: this machine has no IPv6: {error}");
    }
    // An epmd that listens at 127.0.0.1 also listens at ::1.
    let epmd = Epmd::start();
    let six: SocketAddr = ([0, 0, 0, 0, 0, 0, 0, 1], epmd.port).into();
    let more = ["-proto_dist", "inet6_tcp"];
    let mut beam = Beam::run(epmd.port, "-name", "beam@::1", &more).await;
    let ours = join(builder("ours@::1", epmd.port).epmd(six)).await;
    let four = join(builder("four@127.0.0.1", epmd.port)).await;
    echoes_to_a_beam(&ours, &mut beam).await;
    calls_a_beam(&four, &beam).await;
    echoes(&ours, &four).await;
    cut(&ours, &four).await;
    echoes(&four, &ours).await;
}

#[tokio::test]
async fn the_epmd_of_a_host_can_be_configured() {
    let (ours, theirs) = (Epmd::start(), Epmd::start());
    let port = free_port();
    let second = epmd("127.0.0.2", port.number).await;
    let at = second.address();
    let there = builder("there@127.0.0.2", at.port()).epmd(at);
    let there = join(there.epmd_of("127.0.0.1", ([127, 0, 0, 1], ours.port).into())).await;
    let here = join(builder("here@127.0.0.1", ours.port).epmd_of("127.0.0.2", at)).await;
    echoes(&there, &here).await;
    cut(&here, &there).await;
    echoes(&here, &there).await;
    // Without that configuration.
    let stranger = join(builder("stranger@127.0.0.1", theirs.port)).await;
    let why = stranger.connect(there.name()).await.expect_err("there is no epmd");
    let line = format!("no epmd at 127.0.0.2:{}: ", theirs.port);
    assert!(why.to_string().starts_with(&line), "{why}");
}

#[tokio::test]
async fn nodes_with_short_names_connect_to_each_other_and_not_to_long_ones() {
    let epmd = Epmd::start();
    let mut short = Beam::run(epmd.port, "-sname", "beam@localhost", &[]).await;
    let ours = join(builder("ours@localhost", epmd.port)).await;
    let also = join(builder("also@localhost", epmd.port)).await;
    echoes_to_a_beam(&ours, &mut short).await;
    calls_a_beam(&also, &short).await;
    echoes(&ours, &also).await;

    let long = join(builder("long@127.0.0.1", epmd.port)).await;
    for (from, to, forms) in [(&ours, &long, ["long", "short"]), (&long, &ours, ["short", "long"])]
    {
        let why = from.connect(to.name()).await.expect_err("its name has another form").to_string();
        let due = format!("{to} is a {} name and that of this node a {} one: ", forms[0], forms[1]);
        assert!(why.starts_with(&due), "{why}");
    }
}

#[tokio::test]
async fn an_unknown_host_is_reported() {
    let epmd = Epmd::start();
    let ours = join(builder("ours@127.0.0.1", epmd.port)).await;
    let why = ours.connect(&name("a@nowhere.invalid")).await.expect_err("there is no such host");
    let NoConnection::Host(host, _) = &*why else { panic!("{why}") };
    assert_eq!(host, "nowhere.invalid");
    assert!(why.to_string().starts_with("the host nowhere.invalid is not known: "), "{why}");
}

#[tokio::test]
async fn a_node_that_only_calls_needs_no_epmd_and_is_not_found() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let port = free_port();
    let nowhere = ([127, 0, 0, 1], port.number).into();
    let calls = builder("calls@127.0.0.9", epmd.port).epmd(nowhere).only_calls();
    let calls = join(calls.epmd_of("127.0.0.1", ([127, 0, 0, 1], epmd.port).into())).await;
    calls_a_beam(&calls, &beam).await;
    echoes_to_a_beam(&calls, &mut beam).await;
    assert_eq!(beam.eval("erlang:disconnect_node('calls@127.0.0.9')").await, "true");
    assert_eq!(beam.eval("net_adm:ping('calls@127.0.0.9')").await, "pang");
    calls_a_beam(&calls, &beam).await;
}

#[tokio::test]
async fn nodes_may_use_a_separate_cookie_per_peer() {
    let epmd = Epmd::start();
    let mut same = Beam::start(&epmd, "same").await;
    let mut other = Beam::start(&epmd, "other").await;
    assert_eq!(other.eval("erlang:set_cookie(node(), another)").await, "true");
    let knows = builder("knows@127.0.0.1", epmd.port).cookie_for(other.name.clone(), "another");
    let knows = join(knows).await;
    calls_a_beam(&knows, &same).await;
    calls_a_beam(&knows, &other).await;
    for beam in [&mut same, &mut other] {
        assert_eq!(beam.eval("monitor_node('knows@127.0.0.1', true)").await, "true");
        assert!(knows.disconnect(&beam.name));
        assert_eq!(beam.eval("receive {nodedown, _} -> gone end").await, "gone");
    }
    echoes_to_a_beam(&knows, &mut same).await;
    echoes_to_a_beam(&knows, &mut other).await;

    // Without it, neither accepts the other.
    let log = Log::new();
    let stranger = join(builder("stranger@127.0.0.1", epmd.port)).await;
    let why = stranger.connect(&other.name).await.expect_err("it has another cookie");
    assert!(matches!(&*why, NoConnection::HungUp), "{why}");
    let due =
        "it hung up when we had shown that we know the cookie: most likely it has another one";
    assert_eq!(why.to_string(), due);
    assert_eq!(other.eval("net_adm:ping('stranger@127.0.0.1')").await, "pang");
    log.is_one_line_with("a handshake was refused: it does not know the cookie");
    // Erlang's per-node cookie works as well.
    assert_eq!(
        other.eval(&format!("erlang:set_cookie('stranger@127.0.0.1', {COOKIE})")).await,
        "true"
    );
    echoes_to_a_beam(&stranger, &mut other).await;
}
