//! Connections with a BEAM node as the peer: acceptance, refusal, and what ends a connection.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use crate::log::Log;
use crate::processes::builder;
use crate::support::{Beam, Epmd, Ours, cookie, in_time, ours_and_beam, until_async, welcome};
use crate::ticks::{BEAM_WAITS, ticks_keep_it_and_silence_ends_it};
use purlin::Node;
use purlin_dist::connect::{self, Lengths, NoConnection};
use purlin_dist::control::Control;
use purlin_dist::epmd::{Alive, Kind, Registration};
use purlin_dist::frame::Signal;
use purlin_dist::handshake::{Caller, LocalNode, Refused, Verdict};
use purlin_dist::link::Ended;
use purlin_dist::{ConnectionTable, Flags, Listener, NodeName};
use purlin_term::{Atom, Term};
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn a_beam_with_another_cookie_is_refused_in_one_line_and_refuses_us() {
    let log = Log::new();
    let (_epmd, mut ours, mut beam) = ours_and_beam().await;
    beam.eval("erlang:set_cookie('ours@127.0.0.1', wrong)").await;
    beam.send("net_adm:ping('ours@127.0.0.1')").await;
    tokio::select! {
        line = beam.line() => assert_eq!(line, "pang"),
        _ = ours.called() => panic!("no connection is accepted"),
    }
    log.is_one_line_with("a handshake was refused: it does not know the cookie");

    // The BEAM closes the connection when our digest is wrong.
    let mut stream = connect::dial(&ours.epmd, &beam.name).await.expect("it listens");
    let called =
        connect::call(&mut stream, Lengths::Two, &ours.local, beam.name.clone(), cookie(), || true)
            .await;
    assert!(matches!(called, Err(NoConnection::HungUp)), "{called:?}");
}

#[tokio::test]
async fn a_beam_understands_us_in_every_negotiated_frame_format() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    beam.eval("register(here, self())").await;
    let without = |flags| Flags::OFFERED - flags;
    for (name, flags) in [
        ("neither", without(Flags::FRAGMENTS | Flags::DIST_HDR_ATOM_CACHE)),
        ("cache", without(Flags::FRAGMENTS)),
        ("fragments", without(Flags::DIST_HDR_ATOM_CACHE)),
        ("both", Flags::OFFERED),
    ] {
        let ours = Ours::start_with(epmd.ask(), name, flags, welcome).await;
        let mut connected = ours.call(&beam.name).await;
        assert_eq!(connected.link.flags(), flags & connected.link.flags());
        // Twice, as atoms are new only once; and large enough to be fragmented.
        for round in 0..2 {
            for size in [10, 100_000] {
                let text = format!("{name} {round}");
                let data = Term::list([Term::atom("data"), Term::from(vec![7; size].as_slice())]);
                let message = Term::tuple([
                    Term::Pid(Box::new(ours.pid(7))),
                    Term::Atom(Atom::new(&text).expect("short")),
                    data.clone(),
                ]);
                let to = Atom::from_static("here");
                let to_name = Control::RegSend { from: ours.pid(7), to, token: None };
                connected.send(to_name, Some(message)).await;
                let echo = "(fun() -> receive {From, Text, Data} -> From ! {Text, Data} end end)()";
                beam.send(echo).await;
                let Signal { payload, .. } = connected.next().await;
                let text = Term::Atom(Atom::new(&text).expect("short"));
                assert_eq!(payload, Some(Term::tuple([text, data])), "{name}");
                beam.line().await;
            }
        }
    }
}

#[tokio::test]
async fn a_node_that_is_not_allowed_is_told_so() {
    let epmd = Epmd::start();
    let decide = |_: &_| (Verdict::NotAllowed, cookie());
    let mut ours = Ours::start_with(epmd.ask(), "ours", Flags::OFFERED, decide).await;
    let mut beam = Beam::start(&epmd, "beam").await;
    beam.send("net_adm:ping('ours@127.0.0.1')").await;
    tokio::select! {
        line = beam.line() => assert_eq!(line, "pang"),
        _ = ours.called() => panic!("no connection is accepted"),
    }
    // The reverse: a BEAM that allows other nodes only.
    beam.eval("net_kernel:allow(['friend@127.0.0.1'])").await;
    let mut stream = connect::dial(&ours.epmd, &beam.name).await.expect("it listens");
    let called =
        connect::call(&mut stream, Lengths::Two, &ours.local, beam.name.clone(), cookie(), || true)
            .await;
    assert!(matches!(called, Err(NoConnection::Refused(Refused::NotAllowed))), "{called:?}");
}

#[tokio::test]
async fn a_beam_that_considers_us_connected_accepts_us_when_we_deny_it() {
    let (_epmd, ours, mut beam) = ours_and_beam().await;
    let first = ours.call(&beam.name).await;
    assert_eq!(beam.eval("nodes(hidden)").await, "['ours@127.0.0.1']");
    // The same node reconnects and declares the first connection dead, which ends it.
    let mut stream = connect::dial(&ours.epmd, &beam.name).await.expect("it listens");
    let call =
        connect::call(&mut stream, Lengths::Two, &ours.local, beam.name.clone(), cookie(), || {
            first.link.close();
            true
        });
    let established = call.await.expect("it lets us in");
    assert_eq!(established.peer, beam.name);
    // A node that declares the first connection alive is refused.
    let mut stream = connect::dial(&ours.epmd, &beam.name).await.expect("it listens");
    let name = beam.name.clone();
    let refused =
        connect::call(&mut stream, Lengths::Two, &ours.local, name, cookie(), || false).await;
    assert!(matches!(refused, Err(NoConnection::Refused(Refused::Connected))), "{refused:?}");
}

#[tokio::test]
async fn a_beam_that_asks_for_a_dynamic_name_is_refused() {
    let epmd = Epmd::start();
    let mut ours = Ours::start(&epmd, "ours").await;
    // As a remote shell does.
    let mut beam = Beam::start_nameless(epmd.port).await;
    let asks = "net_kernel:connect_node('ours@127.0.0.1')";
    let answer = tokio::select! {
        answer = beam.eval(asks) => answer,
        _ = ours.called() => panic!("it was accepted"),
    };
    assert_eq!(answer, "false");
}

#[tokio::test]
async fn a_node_restarted_under_its_name_is_a_different_node() {
    let (epmd, ours, beam) = ours_and_beam().await;
    let first = ours.call(&beam.name).await;
    beam.kill().await;
    assert!(matches!(first.link.ended().await, Ended::ByPeer | Ended::Io(_)));
    let forgotten = async || epmd.ask().find("beam").await.expect("epmd answers").is_none();
    until_async("epmd forgets the BEAM", forgotten).await;
    let beam = Beam::start(&epmd, "beam").await;
    let second = ours.call(&beam.name).await;
    assert_ne!(first.link.creation(), second.link.creation());
}

#[tokio::test]
async fn ticks_alone_keep_a_connection_with_a_beam_and_silence_ends_it() {
    let epmd = Epmd::start();
    let ours = Ours::start(&epmd, "ours").await;
    let mut beam = Beam::start_with(epmd.port, "beam", &BEAM_WAITS).await;
    let mut connected = ours.call(&beam.name).await;
    ticks_keep_it_and_silence_ends_it(&mut beam, &mut connected).await;
}

#[tokio::test]
async fn two_nodes_that_connect_simultaneously_get_one_connection() {
    let epmd = Epmd::start();
    // `ours` is greater than `beam`, `also` is less.
    for alive in ["ours", "also"] {
        let name: NodeName = format!("{alive}@127.0.0.1").parse().expect("a name");
        let peers = Arc::new(Mutex::new(ConnectionTable::new(name.clone())));
        let decides = Arc::clone(&peers);
        let decide = move |caller: &Caller| {
            (decides.lock().expect("the lock is not poisoned").called(&caller.name), cookie())
        };
        let mut ours = Ours::start_with(epmd.ask(), alive, Flags::OFFERED, decide).await;
        let mut beam = Beam::start(&epmd, &format!("beam_{alive}")).await;
        for _ in 0..5 {
            let called = peers.lock().expect("the lock is not poisoned").call(&beam.name);
            assert!(called);
            let mut stream = connect::dial(&ours.epmd, &beam.name).await.expect("it listens");
            beam.send(&format!("net_kernel:connect_node('{name}')")).await;
            let (local, peer) = (ours.local.clone(), beam.name.clone());
            let call = connect::call(&mut stream, Lengths::Two, &local, peer, cookie(), || true);
            tokio::pin!(call);
            let _held = tokio::select! {
                established = &mut call => match established {
                    Ok(_) => {
                        peers.lock().expect("the lock is not poisoned").up(&beam.name, true);
                        None
                    }
                    Err(NoConnection::Refused(Refused::TheirCall)) => {
                        let held = ours.called_raw().await;
                        peers.lock().expect("the lock is not poisoned").up(&beam.name, false);
                        Some(held)
                    }
                    Err(other) => panic!("{other}"),
                },
                held = ours.called_raw() => {
                    let up = peers.lock().expect("the lock is not poisoned").up(&beam.name, false);
                    assert!(up.give_up_call);
                    Some(held)
                }
            };
            assert_eq!(beam.line().await, "true");
            assert_eq!(beam.eval("nodes(connected)").await, format!("['{name}']"));
            beam.eval(&format!("erlang:disconnect_node('{name}')")).await;
            *peers.lock().expect("the lock is not poisoned") = ConnectionTable::new(name.clone());
        }
    }
}

// Simultaneous connect: the peer has the greater name, and its call arrives after it has refused the call of this node.
#[tokio::test]
async fn a_call_that_the_peers_own_call_refuses_waits_for_that() {
    let epmd = Epmd::start();
    let any = (Ipv4Addr::LOCALHOST, 0);
    let (listener, address) = Listener::bind(any).await.expect("a port");
    let entry = Alive { alive: "peer".to_owned(), port: address.port(), kind: Kind::Hidden };
    let registration = Registration::new(epmd.ask(), entry).await.expect("epmd is there");
    let name: NodeName = "peer@127.0.0.1".parse().expect("a name");
    let creation = registration.creation();
    let local = LocalNode { name: name.clone(), creation, flags: Flags::OFFERED };
    let node = Node::builder().workers(2).build().expect("a node");
    let cluster = builder(&epmd, "ours").start(&node).await.expect("it joins");
    let (connects, to) = (cluster.clone(), name.clone());
    let connecting = tokio::spawn(async move { connects.connect(&to).await });
    let (mut called, _) = in_time("the call", listener.accept()).await.expect("it calls");
    let refuse = |_: &Caller| (Verdict::Nok, cookie());
    let refused = connect::answer(&mut called, Lengths::Two, local.clone(), refuse).await;
    assert!(refused.is_err());
    // The node closes the connection when it has read the refusal.
    let mut rest = Vec::new();
    in_time("the end of the call", called.read_to_end(&mut rest)).await.expect("it ends");
    // Meanwhile a failure of the refused call would end `connecting`.
    let nobody: NodeName = "nobody@127.0.0.1".parse().expect("a name");
    assert!(cluster.connect(&nobody).await.is_err());
    let mut stream = connect::dial(&epmd.ask(), cluster.name()).await.expect("it listens");
    let ours = cluster.name().clone();
    let call = connect::call(&mut stream, Lengths::Two, &local, ours, cookie(), || true);
    call.await.expect("it knows the cookie");
    connecting.await.expect("it does not panic").expect("it is connected");
}

#[tokio::test]
async fn a_message_of_a_hundred_megabytes_does_not_block_pings() {
    let epmd = Epmd::start();
    let ours = Ours::start(&epmd, "ours").await;
    // Two schedulers, as one is busy reading the large message.
    let mut beam = Beam::start_with(epmd.port, "beam", &["+S", "2:2"]).await;
    let mut connected = ours.call(&beam.name).await;
    beam.eval("Echo = fun Echo() -> receive {P, _} -> P ! pong, Echo() end end").await;
    beam.eval("register(echo, spawn(Echo)), register(large, spawn(Echo))").await;
    let to = |from, name, message| {
        let from = ours.pid(from);
        let message = Term::tuple([Term::Pid(Box::new(from.clone())), message]);
        let control = Control::RegSend { from, to: Atom::from_static(name), token: None };
        Signal { control, payload: Some(message) }
    };
    let small = || to(2, "echo", Term::from(&b"ping"[..]));
    // A first message, as some work happens only once.
    connected.link.signal(small()).expect("it goes on");
    connected.next().await;

    let large = Term::from(vec![7; 100 << 20].as_slice());
    let mut trips = 0;
    // WHY repeated: how many pings are answered during one message depends on the machine.
    while trips <= 10 {
        connected.link.signal(to(1, "large", large.clone())).expect("it goes on");
        let before = trips;
        loop {
            connected.link.signal(small()).expect("it goes on");
            let Control::SendSender { to, .. } = connected.next().await.control else {
                panic!("a message")
            };
            if to == ours.pid(1) {
                break;
            }
            trips += 1;
        }
        assert!(trips > before + 1, "pings wait behind the large message");
        // The last ping of the loop is answered after the large message.
        connected.next().await;
    }
}
