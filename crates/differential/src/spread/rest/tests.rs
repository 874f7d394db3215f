use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use purlin::{Node, ProcessState};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use purlin_dist::epmd::{Alive, Epmd, Kind, Registration, Server};
use purlin_term::Term;
use tokio::runtime::Builder;

use super::Prober;

fn name(text: &str) -> NodeName {
    text.parse().expect("a node name")
}

#[test]
fn a_proxy_that_waits_for_a_connection_is_not_at_rest() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime starts");
    let node = Node::builder().name("waiting").workers(2).build().expect("a node starts");
    // The other node never answers.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    let port = silent.local_addr().expect("the socket is bound").port();
    let _entered = runtime.enter();
    let (cluster, _found) = runtime.block_on(async {
        let epmd = Server::start((Ipv4Addr::LOCALHOST, 0)).await.expect("epmd starts");
        let alive = Alive { alive: "silent".to_owned(), port, kind: Kind::Hidden };
        let registered = Registration::new(Epmd::at(epmd.address()), alive).await;
        let registered = registered.expect("the name is free");
        let builder = Cluster::builder(name("purlin@127.0.0.1")).cookie("c").epmd(epmd.address());
        (builder.start(&node).await.expect("the node joins"), (epmd, registered))
    });
    let other = name("silent@127.0.0.1");
    let prober = Prober::start(&cluster, &other).expect("there is room");
    let process = cluster.named::<Term>("process", &other).expect("there is room");
    // The proxies have their first turns.
    while prober.observe(None).is_none() {
        thread::yield_now();
    }
    process.send(Term::from(1));
    let state = || node.process_info(process.id()).map(|info| info.state);
    while state() != Some(ProcessState::Waiting) {
        thread::yield_now();
    }
    assert!(prober.observe(None).is_none());
}
