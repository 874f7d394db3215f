//! A slow handler: the server's memory stays bounded, TCP slows the sender down, and all messages
//! are acknowledged once the handler resumes. The server runs in a separate process, so that its
//! memory can be measured.

use std::env;
use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::net::Shutdown;
use std::time::Duration;

use crate::common::programs::{self, Program};
use crate::common::{
    Client, Gated, HANG, anywhere, for_each_at_once, message, payload, start_with, untimed,
};
use purlin_ack::server::Server;
use purlin_ack::strategy::Strategy;
use socket2::{Domain, SockRef, Socket, Type};

const STRATEGY: &str = "PURLIN_ACK_STRATEGY";
const CLIENTS: usize = 2;
/// Size of each socket buffer in bytes.
const ROOM: usize = 64 << 10;
/// More bytes than all buffers on the path can hold.
const MANY: u64 = 64 << 20;
/// Maximum memory per connection: the queued blocks of async-ack, plus allocator overhead.
const MOST: u64 = 12 << 20;

#[test]
fn the_server_with_a_slow_handler() {
    if !programs::is("slow::the_server_with_a_slow_handler") {
        return;
    }
    let strategy: Strategy = env::var(STRATEGY).expect("it is set").parse().expect("a strategy");
    let gated = Gated::default();
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).expect("there is a descriptor");
    listener.set_recv_buffer_size(ROOM).expect("it is a socket");
    listener.bind(&anywhere().into()).expect("there is a port");
    listener.listen(16).expect("it is bound");
    let server = start_with(
        Server::builder_on(listener.into()).strategy(strategy).limits(untimed()),
        &gated,
    );
    println!("\nlistening on {}", server.address());
    assert_eq!(programs::next_line().as_deref(), Some("go"));
    gated.open();
    programs::next_line();
    println!("acknowledged {}", server.drain().messages);
}

// WHY real time: a sender counts as blocked if a write does not complete within this time. On a
// slow machine it stops earlier, which fails no assertion.
#[test]
fn slow_handler_blocks_the_sender_with_bounded_memory() {
    const HELD_UP: Duration = Duration::from_millis(200);
    for_each_at_once(Strategy::ALL, |strategy| {
        let name = OsStr::new(strategy.name());
        let mut server =
            Program::start("slow::the_server_with_a_slow_handler", &[(STRATEGY, name)]);
        let address = server.said("listening on ").parse().expect("an address");
        let before = server.resident();
        let mut clients: Vec<_> =
            (0..CLIENTS).map(|_| Client::connect(address, strategy)).collect();
        let mut sent = Vec::new();
        for client in &mut clients {
            let stream = &mut client.stream;
            SockRef::from(&**stream).set_send_buffer_size(ROOM).expect("it is a socket");
            stream.set_write_timeout(Some(HELD_UP)).expect("it is a socket");
            let (mut id, mut bytes, mut written, mut all) = (0, Vec::new(), 0, 0);
            let held_up = loop {
                if written == bytes.len() {
                    (bytes, written) = (message(id, &payload(id, 10_000), strategy.order()), 0);
                    id += 1;
                }
                match stream.write(&bytes[written..]) {
                    Ok(count) => (written, all) = (written + count, all + count as u64),
                    Err(error) => break error,
                }
                assert!(all < MANY, "{strategy}: nothing holds the sender up");
            };
            let known = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
            assert!(known.contains(&held_up.kind()), "{strategy}: {held_up}");
            // The rest of the partly written message is sent once there is room.
            sent.push((id, bytes.split_off(written)));
        }
        let grown = server.resident().saturating_sub(before);
        println!("{strategy}: {grown} bytes for {CLIENTS} clients that were held up");
        assert!(grown < CLIENTS as u64 * MOST, "{strategy}: {grown} bytes more");
        server.send_line("go");
        for (client, (_, rest)) in clients.iter_mut().zip(&sent) {
            client.stream.set_write_timeout(Some(HANG)).expect("it is a socket");
            client.send(rest);
            client.stream.shutdown(Shutdown::Write).expect("it is connected");
        }
        let mut due = 0;
        for (client, (count, _)) in clients.iter_mut().zip(&sent) {
            assert_eq!(client.until_closed(), Some(count - 1), "{strategy}");
            due += count;
        }
        drop(clients);
        server.send_line("end");
        assert_eq!(server.said("acknowledged "), due.to_string(), "{strategy}");
        server.finish();
    });
}
