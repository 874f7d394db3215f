//! Nodes without epmd, discovery of nodes, and readiness.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::processes::{builder, echoes};
use crate::support::{Beam, COOKIE, Epmd, HANG, free_port, until};
use purlin::Node;
use purlin_dist::cluster::{Builder, Cluster, Discovery, StartError};
use purlin_dist::epmd::Server;
use purlin_term::Term;

/// A period between two lookups. CLOCK: a later lookup has the same result, so the tests do not depend on it.
const OFTEN: Duration = Duration::from_millis(10);

async fn start(builder: Builder) -> Cluster {
    let node = Node::builder().workers(2).build().expect("a node");
    builder.start(&node).await.expect("it joins")
}

/// Starts a node with a process `echo`, which keeps it in the cluster.
async fn join(builder: Builder) -> Cluster {
    let cluster = start(builder).await;
    echoes(&cluster);
    cluster
}

fn without_epmd(name: &str, port: u16) -> Builder {
    Cluster::builder(name.parse().expect("a name")).cookie(COOKIE).without_epmd(port)
}

#[tokio::test]
async fn nodes_without_epmd_find_each_other_at_the_port_that_all_use() {
    let port = free_port().number;
    let text = port.to_string();
    // No epmd has this port.
    let more = ["-erl_epmd_port", &text, "-kernel", "inet_dist_use_interface", "{127,0,0,1}"];
    let mut beam = Beam::run(free_port().number, "-name", "beam@127.0.0.1", &more).await;
    let two = join(without_epmd("two@127.0.0.2", port)).await;
    let three = join(without_epmd("three@127.0.0.3", port)).await;
    for name in [&two, &three].map(Cluster::name) {
        let call = format!("gen_server:call({{echo, '{name}'}}, hello, infinity)");
        assert_eq!(beam.eval(&call).await, "hello");
        assert_eq!(beam.eval(&format!("erlang:disconnect_node('{name}')")).await, "true");
    }
    until("the loss", || two.nodes().is_empty()).await;
    let node = two.rpc(&beam.name, "erlang", "node", vec![], HANG).await;
    assert!(node.expect("it answers").is_atom(beam.name.as_str()));
    let hello: String = three.call("echo", two.name(), "hello", HANG).await.expect("it answers");
    assert_eq!(hello, "hello");
    // No listener is bound to this port.
    assert!(three.connect(&"four@127.0.0.4".parse().expect("a name")).await.is_err());
}

#[tokio::test]
async fn a_node_at_a_configured_address_is_not_looked_up() {
    let epmd = Epmd::start();
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port().number));
    let there = join(builder(&epmd, "there").listen(at)).await;
    let here = without_epmd("here@127.0.0.9", free_port().number);
    let here = join(here.node_at(there.name().clone(), at)).await;
    let echoed = here.call::<Term>("echo", there.name(), Term::atom("hello"), HANG).await;
    assert_eq!(echoed, Ok(Term::atom("hello")));
}

#[tokio::test]
async fn nodes_of_a_list_are_connected_also_when_they_start_later() {
    let epmd = Epmd::start();
    let here = start(builder(&epmd, "here")).await;
    let mut nodes = Vec::new();
    let names = ["here", "first", "second"];
    let names = names.map(|name| format!("{name}@127.0.0.1").parse().expect("a name"));
    here.discover(Discovery::List(names.to_vec()), OFTEN);
    for (name, count) in [("first", 1), ("second", 2)] {
        nodes.push(start(builder(&epmd, name)).await);
        until("it is connected", || here.nodes().len() == count).await;
    }
    let weak = here.downgrade();
    drop(here);
    until("the task of the discovery lets the node leave", || weak.upgrade().is_none()).await;
}

#[tokio::test]
async fn nodes_at_the_addresses_of_a_host_are_connected() {
    let epmd = Epmd::start();
    let there = join(builder(&epmd, "pod")).await;
    let here = join(builder(&epmd, "here")).await;
    // It has the addresses 127.0.0.1 and perhaps ::1, where no node has that name.
    here.discover(Discovery::dns("localhost", "pod"), OFTEN);
    here.discover(Discovery::dns("nowhere.invalid", "pod"), OFTEN);
    until("it is connected", || here.nodes() == [there.name().clone()]).await;
}

#[tokio::test]
async fn a_node_is_ready_while_it_is_registered() {
    let epmd = Server::start("127.0.0.1:0").await.expect("a free port");
    let at = epmd.address();
    let name = || "ours@127.0.0.1".parse().expect("a name");
    let ours = join(Cluster::builder(name()).cookie(COOKIE).epmd(at)).await;
    assert!(ours.readiness().is_ready());
    let line = "ready: listens true, registered true, connected 0";
    assert_eq!(ours.readiness().to_string(), line);
    drop(epmd);
    until("epmd is gone", || !ours.readiness().is_ready()).await;
    assert!(ours.readiness().listens);
    let _again = Server::start(at).await.expect("the port is free");
    until("it has registered again", || ours.readiness().is_ready()).await;
    let alone = without_epmd("alone@127.0.0.5", free_port().number);
    assert!(join(alone).await.readiness().is_ready());
}

#[tokio::test]
async fn a_node_with_an_invalid_cookie_or_without_a_port_does_not_start() {
    let node = Node::builder().workers(1).build().expect("a node");
    let builder = without_epmd("ours@127.0.0.1", free_port().number).cookie("");
    let error = builder.start(&node).await.expect_err("there is no cookie");
    assert!(matches!(error, StartError::EmptyCookie));
    assert_eq!(error.to_string(), "`Builder::cookie` was given an empty cookie");
    let long = "x".repeat(256);
    let builder = || without_epmd("ours@127.0.0.1", free_port().number);
    let for_node = builder().cookie_for("other@127.0.0.1".parse().expect("a name"), &long);
    for builder in [builder().cookie(&long), for_node] {
        let error = builder.start(&node).await.expect_err("a cookie is too long");
        assert!(matches!(error, StartError::CookieTooLong), "{error}");
    }
    let error = without_epmd("ours@127.0.0.1", 0).start(&node).await.expect_err("there is no port");
    assert!(matches!(error, StartError::NoPort));
    let builder = Cluster::builder("ours@127.0.0.1".parse().expect("a name")).cookie(COOKIE);
    let builder = builder.epmd("127.0.0.1:0".parse().expect("an address"));
    let error = builder.start(&node).await.expect_err("epmd has no port");
    assert!(matches!(error, StartError::NoEpmdPort));
}
