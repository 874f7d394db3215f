//! A receive that gives up, and what was in the mailbox all the while.
//!
//! A receive waits until a message comes that matches. If none ever does, it waits for ever, so a
//! last arm may say how long to wait: `after`. Messages that do not match neither end the waiting
//! nor begin it anew, and they are not lost: they stay in the mailbox, in order.
//!
//! `flush` empties the mailbox and shows what was there. That is the first thing to do when a
//! receive waits in vain: often the message did come, and merely looked different, as here.
//!
//! `after Duration::ZERO` looks once and does not wait at all.
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

/// What the traveller is sent.
#[derive(Debug)]
struct Directions {
    to: &'static str,
    minutes: u32,
}

/// Knows the way to everywhere, and writes it in its own manner.
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

    let patience = Duration::from_millis(100);
    receive!(me, {
        Directions { to: "station", minutes } => println!("{minutes} minutes to walk"),
        after patience => println!("no directions within {patience:?}, giving up"),
    });

    // Once a process has ended, all it sent has arrived.
    asked.ended().await;
    for message in me.flush() {
        println!("still in the mailbox: {message:?}");
    }

    receive!(me, {
        message => println!("a late one: {message:?}"),
        after Duration::ZERO => println!("now the mailbox is empty"),
    });
}
