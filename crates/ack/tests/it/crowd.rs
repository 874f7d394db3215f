//! Ten thousand connections at once: what they cost the server, and that all of them are served; and as
//! many that send a byte now and then, of which it lets in few. Servers and clients are programs of their
//! own, since each needs as many descriptors.


use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::common::programs::{self, Program};
use crate::common::{PATIENCE, message, start, until};
use purlin_ack::server::{Counts, Limits, Server};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{ACK, Ack, Id, SizeOrder};
use socket2::{Domain, Socket, Type};

const MANY: usize = 10_000;
/// Descriptors that a program needs for other things.
const OTHERS: usize = 200;
/// Addresses that clients come from.
const ADDRESSES: usize = 4;
/// What all connections together may cost.
const MOST: u64 = 200 << 20;
const LIMITED: &str = "PURLIN_ACK_LIMITED";
/// Of a server that is limited.
const PER_ADDRESS: usize = 100;
const SILENCE: Duration = Duration::from_secs(3);

/// A server that says its counts whenever it is told anything.
#[test]
fn the_server_for_many() {
    if !programs::is("crowd::the_server_for_many") {
        return;
    }
    let limits = match env::var_os(LIMITED) {
        None => Limits::default(),
        Some(_) => Limits { per_address: PER_ADDRESS, silence: Some(SILENCE), ..Limits::default() },
    };
    let anywhere = (Ipv4Addr::UNSPECIFIED, 0).into();
    let server = start(Server::builder(anywhere).strategy(Strategy::Best).limits(limits));
    println!("\nlistening on {}", server.address().port());
    while programs::told().is_some() {
        let Counts { connections, messages, silent, over_address, .. } = server.counts();
        println!("counts {connections} {messages} {silent} {over_address}");
    }
    server.drain();
}

/// Connections now, messages, those that were silent, those of which there were too many.
fn counts(server: &mut Program) -> [u64; 4] {
    server.tell("counts");
    let said = server.said("counts ");
    let counts: Vec<_> = said.split(' ').map(|count| count.parse().expect("a number")).collect();
    counts.try_into().expect("four of them")
}

fn is_first_of(test: &str) -> bool {
    if !programs::is(test) {
        let ran = programs::command(test).status().expect("there is a shell");
        assert!(ran.success(), "the program with many descriptors failed");
    }
    !programs::is(test)
}

/// How many connections this program, and the server's, have descriptors for.
fn many() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("there are some");
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let limit = line.and_then(|line| line.split_whitespace().next()).expect("it is there");
    let limit = limit.parse().unwrap_or(usize::MAX);
    let many = MANY.min(limit.saturating_sub(OTHERS));
    if many < MANY {
        eprintln!("only {many} connections: there are no more descriptors, see ulimit -Hn");
    }
    many
}

/// A client that comes from one of some addresses.
fn from(number: usize, port: u16) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there is a descriptor");
    let last = u8::try_from(number % ADDRESSES).expect("they are few") + 2;
    let here: IpAddr = Ipv4Addr::new(127, 0, 0, last).into();
    socket.bind(&SocketAddr::from((here, 0)).into()).expect("it is an address of this machine");
    socket.connect(&SocketAddr::from((here, port)).into()).expect("somebody listens");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    stream
}

fn served(stream: &mut TcpStream, id: u64) {
    stream.write_all(&message(id, b"hello", SizeOrder::Little)).expect("the server reads");
    let mut ack = [0; ACK];
    stream.read_exact(&mut ack).expect("the server acknowledges");
    assert_eq!(Ack::from_bytes(ack), Ack { id: Id::from(id), skipped: 0 });
}

// CLOCK: the machine's; a connection that is idle gives its buffer back after a second.
#[test]
fn ten_thousand_idle_connections_take_little_memory_and_are_all_served() {
    if is_first_of("crowd::ten_thousand_idle_connections_take_little_memory_and_are_all_served") {
        return;
    }
    let many = many();
    let mut server = Program::start("crowd::the_server_for_many", &[]);
    let port = server.said("listening on ").parse().expect("a port");
    let before = server.resident();
    // Each has sent something: it has had a buffer, and does not need it any more.
    let mut clients: Vec<_> = (0..many)
        .map(|number| {
            let mut stream = from(number, port);
            served(&mut stream, 0);
            stream
        })
        .collect();
    assert_eq!(counts(&mut server)[..2], [many as u64; 2]);
    until("the buffers are given back", || server.resident() < before + MOST / 3);
    let idle = server.resident();
    assert!(idle < MOST, "{idle} bytes are resident");
    let each = idle.saturating_sub(before) / many as u64;
    println!("{many} idle connections: {idle} bytes resident, {each} for each");
    for client in &mut clients {
        served(client, 1);
    }
    assert_eq!(counts(&mut server)[..2], [many as u64, 2 * many as u64]);
    let peak = server.peak();
    println!("when all have been served again: {peak} bytes resident at most");
    assert!(peak < MOST, "{peak} bytes were resident");
    drop(clients);
    until("all are gone", || counts(&mut server)[0] == 0);
    server.finish();
}

// CLOCK: the machine's; it is the server's patience with silence that is tested.
#[test]
fn of_ten_thousand_clients_that_send_a_byte_now_and_then_few_are_let_in_and_none_stays() {
    if is_first_of(
        "crowd::of_ten_thousand_clients_that_send_a_byte_now_and_then_few_are_let_in_and_none_stays",
    ) {
        return;
    }
    let many = many();
    let mut server = Program::start("crowd::the_server_for_many", &[(LIMITED, OsStr::new("1"))]);
    let port = server.said("listening on ").parse().expect("a port");
    let mut slow: Vec<_> = (0..many).map(|number| from(number, port)).collect();
    // Somebody who comes from elsewhere is served all the time.
    let honest = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there is a descriptor");
    let there = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    honest.connect(&there.into()).expect("somebody listens");
    let mut honest = TcpStream::from(honest);
    honest.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    let bytes = message(0, &[0; 1000], SizeOrder::Little);
    let (began, mut round) = (Instant::now(), 0);
    while !slow.is_empty() {
        assert!(began.elapsed() < PATIENCE, "{} are still let in", slow.len());
        // A byte from each in each round, of which there are many before a message would be whole.
        slow.retain_mut(|stream| match stream.write_all(&bytes[round..=round]) {
            Ok(()) => true,
            Err(error) => {
                let known = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
                assert!(known.contains(&error.kind()), "{error}");
                false
            }
        });
        served(&mut honest, round as u64);
        while began.elapsed() < Duration::from_millis(50) * round as u32 {
            std::thread::yield_now();
        }
        round += 1;
        assert!(round < bytes.len(), "a message would be whole");
    }
    let [_, messages, silent, over_address] = counts(&mut server);
    let let_in = (PER_ADDRESS * ADDRESSES).min(many) as u64;
    assert_eq!(messages, round as u64, "of the honest one");
    assert!(silent + over_address == many as u64, "{silent} silent, {over_address} too many");
    assert!(silent >= let_in, "{silent} were let in");
    drop(honest);
    server.finish();
}
