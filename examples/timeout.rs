//! A receive with a timeout, and the messages it did not match.
//!
//! A receive waits until a matching message arrives, if necessary for ever. A last arm, `after`,
//! limits the wait. Messages that do not match neither end nor restart the timeout, and they are
//! not lost: they stay in the mailbox, in order.
//!
//! `flush` takes all messages out of the mailbox. It is the first thing to try when a receive waits
//! in vain: often the message did arrive and did not match, as here.
//!
//! `after Duration::ZERO` checks the mailbox once and does not wait.
//!
//! Run it with `cargo run --example timeout`. It prints:
//!
//! ```text
//! asking the way to the station
//! no directions within 100ms, giving up
//! still in the mailbox: Directions { to: "harbour", minutes: 12 }
//! still in the mailbox: Directions { to: "museum", minutes: 5 }
//! still in the mailbox: Directions { to: "Station", minutes: 7 }
//! now the mailbox is empty
//! ```

use std::time::Duration;

use purlin::{Pid, Process, receive, spawn};

/// Message to the traveller.
#[derive(Debug)]
struct Directions {
    to: &'static str,
    minutes: u32,
}

/// Sends directions to every place, with its own spelling of the names.
async fn passer_by(_me: Process<()>, traveller: Pid<Directions>) {
    for (to, minutes) in [("harbour", 12), ("museum", 5), ("Station", 7)] {
        traveller.send(Directions { to, minutes });
    }
}

#[purlin::main]
async fn main(mut me: Process<Directions>) {
    println!("asking the way to the station");
    let traveller = me.pid();
    let asked = spawn(move |me| passer_by(me, traveller));

    let limit = Duration::from_millis(100);
    receive!(me, {
        Directions { to: "station", minutes } => println!("{minutes} minutes to walk"),
        after limit => println!("no directions within {limit:?}, giving up"),
    });

    // Once a process has ended, everything it sent has arrived.
    asked.ended().await;
    for message in me.flush() {
        println!("still in the mailbox: {message:?}");
    }

    receive!(me, {
        message => println!("a late one: {message:?}"),
        after Duration::ZERO => println!("now the mailbox is empty"),
    });
}
