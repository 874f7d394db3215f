//! Clients that send what is no request, or do not read, or are silent: none affects the others.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::thread;

use crate::client::Client;
use crate::programs::kill;
use crate::support::{Gateway, NODE, Place};

/// Starts a gateway, whose store is away.
fn gateway(more: &[&str]) -> (Place, Gateway) {
    let place = Place::new();
    let gateway = place.gateway(more);
    (place, gateway)
}

fn assert_serves(client: &mut Client) {
    assert_eq!(client.ask("PING").as_deref(), Some("PONG"));
}

#[test]
fn each_bad_line_gets_one_line_and_the_connection_stays() {
    let (_place, gateway) = gateway(&["--idle-timeout", "3600"]);
    let mut client = gateway.client();
    let long = "x".repeat(1_000_000);
    for bad in
        ["", " ", "PUT", "PUT key", "PUT key \u{7}", "GET", "GET a b", "put a b", "\0", &long]
    {
        let reply = client.ask(bad).expect("it stays");
        assert!(reply.starts_with("ERROR "), "{bad:.20}: {reply}");
        assert_serves(&mut client);
    }
    assert_eq!(client.ask("PING\r").as_deref(), Some("PONG"));

    let mut random = fastrand::Rng::with_seed(3);
    let mut garbage: Vec<u8> = (0..200_000).map(|_| random.u8(..)).collect();
    garbage.push(b'\n');
    let lines = garbage.iter().filter(|byte| **byte == b'\n').count();
    let mut output = client.output.try_clone().expect("a descriptor");
    // WHY a thread: the gateway reads no further line until the client takes the replies.
    let sender = thread::spawn(move || output.write_all(&garbage).expect("it reads"));
    for _ in 0..lines {
        let reply = client.reply().expect("it stays");
        assert!(reply.starts_with("ERROR "), "{reply}");
    }
    sender.join().expect("no failure");
    assert_serves(&mut client);
    client.send("PING\nGET ");
    assert_eq!(
        client.finish(),
        ["PONG", "ERROR a key has 1 to 128 bytes, no blanks and no control characters"]
    );
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_others_are_served() {
    let (_place, gateway) = gateway(&["--write-timeout", "1", "--idle-timeout", "3600"]);
    let mut other = gateway.client();
    let deaf = gateway.client();
    let mut output = deaf.output.try_clone().expect("a descriptor");
    let sender = thread::spawn(move || {
        let requests = "GET key\n".repeat(1000);
        loop {
            if let Err(error) = output.write_all(requests.as_bytes()) {
                return error.kind();
            }
        }
    });
    while !sender.is_finished() {
        assert_serves(&mut other);
    }
    let kind = sender.join().expect("no failure");
    assert!(matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{kind}");
    assert_serves(&mut other);
}

#[test]
fn a_client_that_sends_no_line_is_disconnected_although_it_sends_bytes() {
    let (_place, gateway) = gateway(&["--idle-timeout", "1", "--drain", "3600"]);
    let mut silent = gateway.client();
    assert_eq!(silent.reply(), None);
    assert_eq!(silent.bye.as_deref(), Some("idle"));

    let mut endless = gateway.client();
    let mut output = endless.output.try_clone().expect("a descriptor");
    let sender = thread::spawn(move || while output.write_all(&[b'x'; 1000]).is_ok() {});
    // The bytes may arrive after the farewell.
    if let Some(reply) = endless.reply() {
        assert_eq!(reply, "ERROR a line has at most 1024 bytes");
        assert_eq!(endless.reply(), None);
    }
    assert_eq!(endless.bye.as_deref(), Some("idle"));
    endless.output.shutdown(Shutdown::Both).expect("the gateway waits for its end");
    sender.join().expect("no failure");
}

#[test]
fn one_client_too_many_is_told_and_the_next_one_is_served() {
    let (_place, gateway) = gateway(&["--max-clients", "2", "--idle-timeout", "3600"]);
    let [mut first, second] = [gateway.client(), gateway.client()];
    let mut third = Client::connect(gateway.address);
    assert_eq!(third.reply(), None);
    assert_eq!(third.bye.as_deref(), Some("too many clients: try again later"));
    assert_serves(&mut first);
    assert_eq!(second.finish(), [""; 0]);
    // The process of the second one may not have ended yet.
    purlin_polling::until("there is room", || {
        let mut next = Client::connect(gateway.address);
        next.line().is_some_and(|line| line == "DOWN")
    });
}

#[test]
fn a_late_answer_is_not_that_of_a_later_request() {
    let place = Place::new();
    let _epmd = place.epmd();
    let beam = place.beam();
    let gateway = place.gateway(&["--request-timeout", "1", "--idle-timeout", "3600"]);
    let mut client = gateway.client_up();
    let late = "UNKNOWN no answer in time";
    // On a busy machine another answer is possible first.
    let mut ask_until = |request: &str, due: &str, other: &str| {
        purlin_polling::until(due, || {
            let reply = client.ask(request).expect("it stays");
            assert!(reply == due || reply == other, "{request}: {reply}");
            reply == due
        });
    };
    ask_until("PUT a 1", "OK", late);
    kill("STOP", &[beam.pid()]);
    ask_until("GET a", late, "VALUE 1");
    ask_until("PUT b 2", late, "OK");
    kill("CONT", &[beam.pid()]);
    ask_until("GET c", "NONE", late);
}

#[test]
fn a_client_that_vanishes_during_a_request_costs_nothing() {
    let (_place, gateway) = gateway(&["--max-clients", "1", "--idle-timeout", "3600"]);
    for _ in 0..20 {
        purlin_polling::until("there is room", || {
            let mut socket = TcpStream::connect(gateway.address).expect("it listens");
            let mut first = [0; 5];
            let is_served = socket.read_exact(&mut first).is_ok() && &first == b"DOWN\n";
            // Dropping the socket with unread replies resets the connection.
            is_served && socket.write_all(b"PING\nGET a\nPUT a").is_ok()
        });
    }
    purlin_polling::until("there is room", || {
        let mut client = Client::connect(gateway.address);
        client.line().is_some_and(|line| line == "DOWN")
    });
}

#[test]
fn invalid_arguments_are_refused_with_status_2() {
    let used = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let used = used.local_addr().expect("it is bound").to_string();
    for (arguments, due) in [
        (&["--listen", "7000", "--node", NODE][..], "invalid value '7000' for '--listen"),
        (&["--listen", &used, "--node", NODE], "gateway: cannot listen at 127.0.0.1:"),
        (&["--node", "store"], "invalid value 'store' for '--node"),
        (&["--node", "store@host"], "gateway: --name gateway@127.0.0.1 and --node store@host: "),
        (&["--node", NODE, "--name", NODE], "gateway: --name and --node are both store@127.0.0.1"),
        (&["--node", NODE, "--cookie", ""], "gateway: "),
        (&["--node", NODE, "--max-clients", "0"], "invalid value '0' for '--max-clients"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_gateway")).args(arguments).output();
        let output = output.expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(due), "{said}");
    }
}
