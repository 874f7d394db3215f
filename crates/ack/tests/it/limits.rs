//! What a server grants, and what becomes of a client that wants more: connections, addresses, silence,
//! acks that nobody reads.


use crate::common;
use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::common::{Client, anywhere, message, rest, start, until};
use purlin::supervisor::ChildProcess;
use purlin_ack::server::{Limits, Server, StartError};
use purlin_ack::strategy::Strategy;

const SOON: Duration = Duration::from_millis(50);

fn silent(strategy: Strategy, silence: Duration) -> common::Running {
    let limits = Limits { silence: Some(silence), ..Limits::default() };
    start(Server::builder(anywhere()).strategy(strategy).limits(limits))
}

#[test]
fn at_the_limit_who_comes_waits_until_somebody_leaves() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = start(Server::builder(anywhere()).strategy(Strategy::SyncAck).limits(limits));
    let mut inside: Vec<_> = (0..2)
        .map(|_| {
            let mut client = Client::connect(server.address(), Strategy::SyncAck);
            client.message(0, b"hello");
            client.until(0);
            client
        })
        .collect();
    let mut outside = Client::connect(server.address(), Strategy::SyncAck);
    outside.message(0, b"hello");
    assert_eq!(server.counts().connections, 2);
    assert_eq!(server.counts().connections_ever, 2);
    inside.pop();
    outside.until(0);
    assert_eq!(server.counts().connections_ever, 3);
    assert!(server.counts().connections <= 2);
    drop((inside, outside));
    server.drain();
}

#[test]
fn one_connection_is_enough_for_ten_acceptors() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = start(Server::builder(anywhere()).strategy(Strategy::SyncAck).limits(limits));
    for _ in 0..20 {
        let mut client = Client::connect(server.address(), Strategy::SyncAck);
        client.message(0, b"hello");
        client.until(0);
    }
    assert_eq!(server.drain().messages, 20);
}

#[test]
fn an_address_with_too_many_connections_is_closed_at_once_and_counted() {
    let limits = Limits { per_address: 1, ..Limits::default() };
    let server = start(Server::builder(anywhere()).strategy(Strategy::SyncAck).limits(limits));
    let mut first = Client::connect(server.address(), Strategy::SyncAck);
    first.message(0, b"hello");
    first.until(0);
    let mut second = common::connect(server.address());
    assert_eq!(rest(&mut second), b"");
    assert_eq!(server.counts().over_address, 1);
    drop(first);
    server.until("the first has left", |counts| counts.connections == 0);
    let mut third = Client::connect(server.address(), Strategy::SyncAck);
    third.message(0, b"hello");
    third.until(0);
    drop(third);
    server.drain();
}

// CLOCK: the node's, which is the machine's; what is measured is that time.
#[test]
fn a_connection_that_is_silent_is_answered_and_closed() {
    for strategy in Strategy::ALL {
        let server = silent(strategy, SOON);
        let began = Instant::now();
        let mut nothing = Client::connect(server.address(), strategy);
        let mut one = Client::connect(server.address(), strategy);
        one.message(0, b"hello");
        let mut cut = Client::connect(server.address(), strategy);
        cut.send(&message(0, b"hello", strategy.order())[..13]);
        assert_eq!(nothing.until_closed(), None, "{strategy}");
        assert!(began.elapsed() >= SOON, "{strategy}: closed too early");
        assert_eq!(one.until_closed(), Some(0), "{strategy}");
        assert_eq!(cut.until_closed(), None, "{strategy}");
        server.until("they are counted", |counts| counts.silent == 3);
        drop((nothing, one, cut));
        server.drain();
    }
}

// CLOCK: as above
#[test]
fn a_client_that_sends_a_byte_now_and_then_does_not_live_for_ever() {
    for strategy in Strategy::ALL {
        let server = silent(strategy, SOON);
        let mut client = common::connect(server.address());
        let bytes = message(0, &[0; 10_000], strategy.order());
        let mut bytes = bytes.iter();
        let mut last = Instant::now();
        // A byte every five milliseconds: all of them take a thousand times as long as a message may.
        until("the server closes", || {
            if last.elapsed() > Duration::from_millis(5) {
                last = Instant::now();
                let byte = bytes.next().expect("it is closed long before the message is whole");
                return client.write_all(&[*byte]).is_err();
            }
            server.counts().silent > 0
        });
        server.until("it is counted", |counts| counts.silent == 1);
        drop(client);
        assert_eq!(server.drain().messages, 0, "{strategy}");
    }
}

// CLOCK: as above
#[test]
fn a_client_that_never_reads_its_acks_is_closed_and_counted() {
    // With small buffers on both sides, as it takes many acks to fill them. The two that are left out
    // acknowledge most seldom.
    let socket = || {
        let stream = socket2::Type::STREAM;
        socket2::Socket::new(socket2::Domain::IPV4, stream, None).expect("there is a descriptor")
    };
    let often = [Strategy::RequestReply, Strategy::HeadRest, Strategy::SyncAck, Strategy::Best];
    for strategy in often {
        let listener = socket();
        listener.set_send_buffer_size(4096).expect("it is a socket");
        listener.bind(&anywhere().into()).expect("there is a port");
        listener.listen(16).expect("it is bound");
        let keep = common::Keep::default();
        let kept = keep.0.clone();
        let limits = Limits { silence: Some(Duration::from_millis(200)), ..Limits::default() };
        let builder = Server::builder_on(listener.into()).strategy(strategy).limits(limits);
        let server = start(builder.handler(move |_| keep.clone()));
        let client = socket();
        client.set_recv_buffer_size(4096).expect("it is a socket");
        client.set_tcp_nodelay(true).expect("it is a socket");
        client.connect(&server.address().into()).expect("somebody listens");
        let mut client: TcpStream = client.into();
        let segment = message(0, b"", strategy.order());
        let refused = loop {
            if let Err(error) = client.write_all(&segment) {
                break error;
            }
        };
        let known = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        assert!(known.contains(&refused.kind()), "{strategy}: {refused}");
        server.until("it is gone", |counts| counts.connections == 0);
        let counts = server.drain();
        // WHY or silent: a client whose buffer is as small may not even hear that it may write on.
        assert_eq!(counts.deaf + counts.silent, 1, "{strategy}: it is counted");
        assert!(counts.messages <= kept.take().len() as u64, "{strategy}: more than was handled");
    }
}

#[test]
fn a_port_that_is_taken_is_told_in_a_line() {
    let server = start(Server::builder(anywhere()));
    let address = server.address();
    let on = server.node.clone();
    let second = server.node.block_on(async move |_: purlin::Process<()>| {
        Server::builder(address).start(&on).await.map(|server| server.local_addr())
    });
    let error = second.expect_err("the port is taken");
    assert!(matches!(error, StartError::Listen { .. }));
    assert_eq!(
        error.to_string(),
        format!("cannot listen on {address}: another program does, choose another port")
    );
    server.drain();
}

#[test]
fn who_has_handed_over_its_socket_accepts_nobody_whatever_is_restarted() {
    let first = start(Server::builder(anywhere()).strategy(Strategy::SyncAck));
    let address = first.address();
    let listener = first.hand_over();
    // What the acceptors stand behind is killed, and its supervisor restarts what comes after it.
    let supervisor = first.server().supervisor().clone();
    let restarted = first.node.block_on(async move |_: purlin::Process<()>| {
        let children = || async { supervisor.which_children().await.expect("it lives") };
        let [connections] = &children().await[..] else { panic!("there are acceptors") };
        let ChildProcess::Running(before) = connections.process else { panic!("it runs") };
        purlin::exit_process(before, purlin::ExitReason::Kill);
        loop {
            let [connections] = &children().await[..] else { panic!("there are acceptors") };
            match connections.process {
                ChildProcess::Running(now) if now != before => return true,
                _ => purlin::yield_now().await,
            }
        }
    });
    assert!(restarted);
    let second = start(Server::builder_on(listener).strategy(Strategy::SyncAck));
    for _ in 0..50 {
        let mut client = Client::connect(address, Strategy::SyncAck);
        client.message(0, b"hello");
        client.until(0);
    }
    assert_eq!((first.counts().connections_ever, second.counts().connections_ever), (0, 50));
    first.drain();
    second.drain();
}

#[test]
fn a_second_server_takes_over_the_socket_while_the_first_drains_and_nobody_is_refused() {
    let first = start(Server::builder(anywhere()).strategy(Strategy::SyncAck));
    let address = first.address();
    let mut old = Client::connect(address, Strategy::SyncAck);
    old.message(0, b"hello");
    old.until(0);

    let listener = first.hand_over();
    // Nobody accepts now; who comes waits.
    let mut between = Client::connect(address, Strategy::SyncAck);
    between.message(0, b"hello");
    let second = start(Server::builder_on(listener).strategy(Strategy::SyncAck));
    between.until(0);
    old.message(1, b"hello");
    old.until(1);
    assert_eq!((first.counts().connections_ever, second.counts().connections_ever), (1, 1));
    drop(old);
    assert_eq!(first.drain().messages, 2);

    let mut new = Client::connect(address, Strategy::SyncAck);
    new.message(0, b"hello");
    new.until(0);
    drop((between, new));
    assert_eq!(second.drain().messages, 2);
}
