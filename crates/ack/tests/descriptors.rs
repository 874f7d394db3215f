//! A server that runs out of descriptors resumes when descriptors are freed, one per connection.
//! Runs in a separate process, which is this one, because descriptors are a process-wide resource.

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
    // Descriptors that the process opens once and keeps are open after the first server.
    counting(Strategy::Best).drain();
    for strategy in Strategy::ALL {
        let before = descriptors();
        let server = counting(strategy);
        let (mut files, mut clients) = (Vec::new(), Vec::new());
        until("it has none left for a client", || {
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            // One descriptor for the client and none for the server, unless another one was freed.
            if clients.len() as u64 == server.counts().connections_ever {
                files.pop();
                if let Ok(stream) = try_connect(server.address()) {
                    let mut client = Client::on(stream, strategy);
                    client.message(0, b"hello");
                    clients.push(client);
                }
            }
            let counts = server.counts();
            counts.resource_exhausted > 0 && counts.connections_ever < clients.len() as u64
        });
        // Frees only as many descriptors as are needed to accept all clients.
        while server.counts().connections_ever < clients.len() as u64 {
            let before = server.counts().resource_exhausted;
            files.pop();
            server.until("it has taken that one", |counts| {
                counts.resource_exhausted > before
                    || counts.connections_ever == clients.len() as u64
            });
        }
        let waits = clients.last_mut().expect("there is one");
        waits.until(0);
        drop((files, clients));
        assert!(server.drain().messages >= 1, "{strategy}");
        until("all are given back", || descriptors() <= before);
    }
}

/// Returns the number of open descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[test]
fn server_out_of_descriptors_resumes_when_some_are_freed() {
    programs::passes(programs::limited("the_program_with_few_descriptors", "128"));
}
