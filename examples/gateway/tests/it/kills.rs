//! The Erlang node is killed and started again while many clients put and get values. Each value whose put was
//! acknowledged is there in the end, each one whose put was refused is not, and every reply goes to its request.
//!
//! `PURLIN_KILLS` sets the number of kills, `PURLIN_CLIENTS` that of clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use purlin_polling::until;

use crate::client::{Ledger, Put};
use crate::support::Place;

/// Number of acknowledged puts before each kill and after the last one.
const BETWEEN: u64 = 100;

#[test]
fn no_acknowledged_value_is_lost_and_no_reply_goes_astray_through_kills_of_the_node() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let kills: u64 = number("PURLIN_KILLS").unwrap_or(3);
    let count = usize::try_from(number("PURLIN_CLIENTS").unwrap_or(50)).expect("it fits");
    let place = Place::new();
    let _epmd = place.epmd();
    let mut beam = place.beam();
    // WHY: a store on a busy machine is slow, and not lost.
    let gateway = place.gateway(&["--request-timeout", "60", "--idle-timeout", "3600"]);
    let (stored, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..count).map(|_| gateway.client_up()).collect();
    let clients = clients.into_iter().enumerate().map(|(number, mut client)| {
        let (stored, over) = (Arc::clone(&stored), Arc::clone(&over));
        thread::spawn(move || {
            let mut ledger = Ledger::new(number);
            while !over.load(Ordering::SeqCst) {
                let is_stored = ledger.put(&mut client).expect("the gateway does not stop");
                stored.fetch_add(u64::from(is_stored), Ordering::SeqCst);
                client.wait(true, 0);
            }
            // The notices of all kills are on their way.
            client.wait(true, kills);
            ledger
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut witness = gateway.client_up();
    let more = || {
        let due = stored.load(Ordering::SeqCst) + BETWEEN;
        until("values are stored", || stored.load(Ordering::SeqCst) >= due);
    };
    for kill in 1..=kills {
        more();
        beam.end();
        witness.wait(false, kill);
        beam = place.beam();
        witness.wait(true, kill);
    }
    more();
    over.store(true, Ordering::SeqCst);
    let ledgers: Vec<_> =
        clients.into_iter().map(|client| client.join().expect("no failure")).collect();

    let found: usize = ledgers.iter().map(|ledger| ledger.check_all(&mut witness)).sum();
    let puts = ledgers.iter().flat_map(|ledger| &ledger.puts);
    let [acknowledged, refused, unknown] = [Put::Stored, Put::Refused, Put::Unknown]
        .map(|kind| puts.clone().filter(|put| **put == kind).count());
    println!("{acknowledged} acknowledged, {refused} refused, {unknown} unknown; {found} found");
    assert!(acknowledged as u64 >= (kills + 1) * BETWEEN);
    assert!((acknowledged..=acknowledged + unknown).contains(&found));
}
