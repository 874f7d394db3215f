//! Two thousand simultaneous connections: their memory on the server, that all are served, and the limit on
//! connections per address. Servers and clients run in separate processes, because each needs one descriptor
//! per connection.

use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _, Write as _};
use std::iter;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use crate::common::over::uninterrupted;
use crate::common::programs::{self, Program};
use crate::common::{HANG, exactly, message, start, until, untimed};
use purlin_ack::server::{Counts, Limits, Server};
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{ACK, Ack, Head, Id, SizeOrder};
use socket2::{Domain, Socket, Type};

const MANY: usize = 2000;
/// Connections made or served together, fewer than the backlog.
const TOGETHER: usize = 500;
/// Descriptors that a program needs for other purposes.
const OTHERS: usize = 200;
/// Number of client addresses.
const ADDRESSES: usize = 4;
/// Maximum bytes per idle connection: more than without a buffer, less than with one.
const IDLE: u64 = 10_000;
/// Maximum bytes of all connections together, each with its buffer.
const MOST: u64 = 64 << 20;
/// Environment variable: the server's limit of connections per address; unlimited by default.
const PER_ADDRESS: &str = "PURLIN_ACK_PER_ADDRESS";
/// Environment variable: the server's idle timeout in milliseconds; no timeout by default.
const SILENCE: &str = "PURLIN_ACK_SILENCE";

/// A server that prints its counters for each line on its standard input.
#[test]
fn the_server_for_many() {
    if !programs::is("crowd::the_server_for_many") {
        return;
    }
    let set = |name| Some(env::var(name).ok()?.parse::<u64>().expect("a number"));
    let mut limits = Limits { per_address: usize::MAX, ..untimed() };
    if let Some(per_address) = set(PER_ADDRESS) {
        limits.per_address = per_address as usize;
    }
    if let Some(silence) = set(SILENCE) {
        limits.idle_timeout = Some(Duration::from_millis(silence));
    }
    let anywhere = (Ipv4Addr::UNSPECIFIED, 0).into();
    let server = start(Server::builder(anywhere).strategy(Strategy::Best).limits(limits));
    println!("\nlistening on {}", server.address().port());
    while programs::next_line().is_some() {
        let Counts { connections, messages, idle_timeout, over_address, .. } = server.counts();
        println!("counts {connections} {messages} {idle_timeout} {over_address}");
    }
    server.drain();
}

/// Returns the counts of open connections, messages, idle timeouts and connections over the limit
/// per address.
fn counts(server: &mut Program) -> [u64; 4] {
    server.send_line("counts");
    let said = server.said("counts ");
    let counts: Vec<_> = said.split(' ').map(|count| count.parse().expect("a number")).collect();
    counts.try_into().expect("four of them")
}

fn is_first_of(test: &str) -> bool {
    if !programs::is(test) {
        programs::passes(programs::command(test));
    }
    !programs::is(test)
}

/// Returns how many connections the descriptor limits of this program and the server allow.
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

/// Connects from one of several addresses.
fn from(number: usize, port: u16) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there is a descriptor");
    let last = u8::try_from(number % ADDRESSES).expect("they are few") + 2;
    let here: IpAddr = Ipv4Addr::new(127, 0, 0, last).into();
    socket.bind(&SocketAddr::from((here, 0)).into()).expect("it is an address of this machine");
    socket.connect(&SocketAddr::from((here, port)).into()).expect("the port is open");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(HANG)).expect("it is a socket");
    stream
}

/// Connected clients, each from the address with its number.
fn all_from(numbers: impl Iterator<Item = usize>, port: u16) -> Vec<TcpStream> {
    numbers.map(|number| from(number, port)).collect()
}

/// Sends a message on each connection and checks its ack.
fn served(clients: &mut [TcpStream], id: u64) {
    let bytes = message(id, b"hello", SizeOrder::Little);
    for client in &mut *clients {
        client.write_all(&bytes).expect("the server reads");
    }
    for client in clients {
        let ack: [u8; ACK] = exactly(client).expect("the server acknowledges");
        assert_eq!(Ack::from_bytes(ack), Ack { id: Id::from(id), skipped: 0 });
    }
}

// WHY real time: an idle connection frees its buffer after 1 s, and the test waits for that.
#[test]
fn two_thousand_idle_connections_take_little_memory_and_are_all_served() {
    if is_first_of("crowd::two_thousand_idle_connections_take_little_memory_and_are_all_served") {
        return;
    }
    let many = many();
    // WHY: with these settings the allocator returns each freed buffer to the operating system
    // immediately, and every byte of a buffer is resident, even if nothing was read into it.
    let tunables = OsStr::new("glibc.malloc.mmap_threshold=4096:glibc.malloc.perturb=1");
    let settings = [("GLIBC_TUNABLES", tunables)];
    let mut server = Program::start("crowd::the_server_for_many", &settings);
    let port = server.said("listening on ").parse().expect("a port");
    let before = server.resident();
    // Each client has sent a message: its connection has had a buffer and no longer needs it.
    let mut clients = Vec::with_capacity(many);
    while clients.len() < many {
        let first = clients.len();
        clients.extend(all_from(first..many.min(first + TOGETHER), port));
        served(&mut clients[first..], 0);
    }
    assert_eq!(counts(&mut server)[..2], [many as u64; 2]);
    until("the buffers are given back", || server.resident() < before + IDLE * many as u64);
    let idle = server.resident();
    let each = idle.saturating_sub(before) / many as u64;
    println!("{many} idle connections: {idle} bytes resident, {each} for each");
    clients.chunks_mut(TOGETHER).for_each(|clients| served(clients, 1));
    assert_eq!(counts(&mut server)[..2], [many as u64, 2 * many as u64]);
    let peak = server.peak();
    println!("when all have been served again: {peak} bytes resident at most");
    assert!(peak < MOST, "{peak} bytes were resident");
    drop(clients);
    until("all are gone", || counts(&mut server)[0] == 0);
    server.finish();
}

#[test]
fn of_two_thousand_clients_from_four_addresses_few_are_let_in_and_another_address_is_served() {
    const EACH: usize = 100;
    if is_first_of(
        "crowd::of_two_thousand_clients_from_four_addresses_few_are_let_in_and_another_address_is_served",
    ) {
        return;
    }
    let many = many();
    let settings = [(PER_ADDRESS, OsStr::new("100"))];
    let mut server = Program::start("crowd::the_server_for_many", &settings);
    let port = server.said("listening on ").parse().expect("a port");
    let mut clients = Vec::with_capacity(many);
    while clients.len() < many {
        let first = clients.len();
        clients.extend(all_from(first..many.min(first + TOGETHER), port));
        // The accept queue is empty before the next clients connect.
        until("all have been let in or closed", || {
            let [connections, .., over_address] = counts(&mut server);
            connections + over_address == clients.len() as u64
        });
    }
    let let_in = EACH * ADDRESSES;
    assert_eq!(counts(&mut server), [let_in as u64, 0, 0, (many - let_in) as u64]);
    // WHY polled: the server counts a connection before it closes it.
    until("all others are closed", || {
        let closed = clients.iter_mut().filter_map(|client| is_closed(client).then_some(()));
        closed.count() == many - let_in
    });
    served(&mut [elsewhere(port)], 0);
    assert_eq!(counts(&mut server)[1..], [1, 0, (many - let_in) as u64]);
    drop(clients);
    server.finish();
}

/// Whether the server has closed the connection. Panics if the server sent anything.
fn is_closed(client: &mut TcpStream) -> bool {
    client.set_nonblocking(true).expect("it is a socket");
    match uninterrupted(|| client.read(&mut [0])) {
        Ok(0) => true,
        Ok(_) => panic!("the server answers what was not sent"),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock => false,
            ErrorKind::ConnectionReset => true,
            _ => panic!("{error}"),
        },
    }
}

/// Connects from an address that no other client uses.
fn elsewhere(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the port is open");
    stream.set_read_timeout(Some(HANG)).expect("it is a socket");
    stream
}

// WHY real time: the test covers the server's idle timeout. At one byte per millisecond or slower,
// a message takes more than an hour.
#[test]
fn clients_that_send_a_byte_now_and_then_are_all_closed_and_another_is_served_meanwhile() {
    const SLOW: usize = 400;
    if is_first_of(
        "crowd::clients_that_send_a_byte_now_and_then_are_all_closed_and_another_is_served_meanwhile",
    ) {
        return;
    }
    let mut server = Program::start("crowd::the_server_for_many", &[(SILENCE, OsStr::new("200"))]);
    let port = server.said("listening on ").parse().expect("a port");
    let mut slow = all_from(0..SLOW, port);
    let head = Head { id: Id::from(0), size: Limits::default().largest };
    let mut bytes = head.to_bytes(SizeOrder::Little).into_iter().chain(iter::repeat(0));
    let (mut rounds, mut attempts) = (0, 0);
    until("all are closed", || {
        let byte = bytes.next().expect("they have no end");
        slow.retain_mut(|stream| match stream.write_all(&[byte]) {
            Ok(()) => true,
            Err(error) => {
                let known = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
                assert!(known.contains(&error.kind()), "{error}");
                false
            }
        });
        // WHY repeated: on a busy machine a well-behaved client may exceed the idle timeout too.
        until("another is served", || {
            attempts += 1;
            is_served(elsewhere(port))
        });
        rounds += 1;
        slow.is_empty()
    });
    until("all are gone", || counts(&mut server)[0] == 0);
    let [_, served, silent, refused] = counts(&mut server);
    assert_eq!((served, refused), (rounds, 0));
    // WHY a range up to all attempts: on a busy machine the idle timeout may close a served client
    // before the server reads its disconnect.
    let least = SLOW as u64 + attempts - rounds;
    assert!((least..=SLOW as u64 + attempts).contains(&silent), "{silent} silent, {least} or more");
    server.finish();
}

/// Whether the server acknowledges a message before the idle timeout closes the connection.
fn is_served(mut stream: TcpStream) -> bool {
    // The write fails if the server has closed.
    let sent = stream.write_all(&message(0, b"hello", SizeOrder::Little));
    sent.is_ok() && exactly::<ACK>(&mut stream).is_ok()
}
