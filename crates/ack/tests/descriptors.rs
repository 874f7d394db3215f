//! A server that has no descriptors left goes on when it has some again, one for each connection. In a
//! program of its own, which is this one, since descriptors belong to the program.

#[path = "it/common/mod.rs"]
mod common;

use std::fs::File;

use common::programs;
use common::{Client, counting, try_connect, until};
use purlin_ack::strategy::Strategy;

#[test]
fn the_program_with_few_descriptors() {
    if !programs::is("the_program_with_few_descriptors") {
        return;
    }
    // What the program opens once and keeps is there after the first.
    counting(Strategy::Best).drain();
    for strategy in Strategy::ALL {
        let before = descriptors();
        let server = counting(strategy);
        let (mut files, mut clients) = (Vec::new(), Vec::new());
        until("it has none left for a client", || {
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            // One for a client, none for the server; unless somebody has given one back.
            if clients.len() as u64 == server.counts().connections_ever {
                files.pop();
                if let Ok(stream) = try_connect(server.address()) {
                    let mut client = Client::on(stream, strategy);
                    client.message(0, b"hello");
                    clients.push(client);
                }
            }
            let counts = server.counts();
            counts.exhausted > 0 && counts.connections_ever < clients.len() as u64
        });
        // Not one more than it needs to let everybody in.
        while server.counts().connections_ever < clients.len() as u64 {
            let before = server.counts().exhausted;
            files.pop();
            server.until("it has taken that one", |counts| {
                counts.exhausted > before || counts.connections_ever == clients.len() as u64
            });
        }
        let waits = clients.last_mut().expect("there is one");
        waits.until(0);
        drop((files, clients));
        assert!(server.drain().messages >= 1, "{strategy}");
        until("all are given back", || descriptors() <= before);
    }
}

/// How many descriptors this program has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[test]
fn a_server_without_descriptors_waits_for_some_and_goes_on() {
    programs::passes(programs::limited("the_program_with_few_descriptors", "128"));
}
