//! SIGTERM under load.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use purlin_polling::until;

use crate::client::{Ledger, Put};
use crate::programs::kill;
use crate::support::Place;

const CLIENTS: usize = 50;
/// Number of acknowledged puts before the signal.
const STORED: u64 = 200;

#[test]
fn at_sigterm_requests_are_finished_clients_are_told_and_the_status_is_0() {
    let place = Place::new();
    let _epmd = place.epmd();
    let _beam = place.beam();
    let options = ["--request-timeout", "60", "--idle-timeout", "3600", "--drain", "600"];
    let mut gateway = place.gateway(&options);
    let stored = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..CLIENTS).map(|_| gateway.client_up()).collect();
    let clients = clients.into_iter().enumerate().map(|(number, mut client)| {
        let stored = Arc::clone(&stored);
        thread::spawn(move || {
            let mut ledger = Ledger::new(number);
            while let Some(is_stored) = ledger.put(&mut client) {
                assert!(is_stored, "{:?}", ledger.puts.last());
                stored.fetch_add(1, Ordering::SeqCst);
            }
            assert_eq!(client.bye.as_deref(), Some("the gateway stops"));
            ledger
        })
    });
    let clients: Vec<_> = clients.collect();
    until("values are stored", || stored.load(Ordering::SeqCst) >= STORED);
    let status = gateway.program.end().expect("it is a child");
    assert!(status.success(), "{status}");
    let ledgers: Vec<_> =
        clients.into_iter().map(|client| client.join().expect("no failure")).collect();

    // A request without a reply before the farewell was not performed.
    let gateway = place.gateway(&options);
    let mut witness = gateway.client_up();
    for ledger in &ledgers {
        let acknowledged = ledger.puts.iter().filter(|put| **put == Put::Stored).count();
        assert_eq!(ledger.check_all(&mut witness), acknowledged);
    }
}

#[test]
fn a_client_that_goes_on_sending_after_the_farewell_gets_no_reset() {
    let place = Place::new();
    let options = ["--write-timeout", "3600", "--idle-timeout", "3600", "--drain", "3600"];
    let mut gateway = place.gateway(&options);
    let mut client = gateway.client();
    kill("TERM", &[gateway.program.pid()]);
    assert_eq!(client.reply(), None);
    assert_eq!(client.bye.as_deref(), Some("the gateway stops"));
    // More than the buffers of the kernel hold.
    client.output.write_all(&vec![b'x'; 20_000_000]).expect("the gateway reads it");
    drop(client);
    assert!(gateway.program.end().is_some_and(|status| status.success()));
}
