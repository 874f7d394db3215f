//! Message order: two paths from A to B.
//!
//! In each round A sends a message to C, which forwards it to B, and then one directly to B. Either
//! of the two may arrive first; B counts which does.
//!
//! ```text
//!        C
//!      ↗   ↘
//!    A  ──→  B
//! ```
//!
//! Messages from one process to another arrive in the order sent (M2 in SEMANTICS.md). B's two
//! messages have different senders, and between different senders there is no guaranteed order
//! (M3).
//!
//! Between its two sends A does some work, more in one round than in another. If C runs meanwhile,
//! because A's turn ends or because another worker runs C, C's message arrives first; otherwise A's
//! does. (If A sent to B before C, its message would arrive first in every round today, because a
//! send within a node puts the message into the mailbox immediately. M3 does not guarantee that.)
//!
//! A program that needs an order must enforce it: B waits for the message that must be first
//! (`receive!`), or A waits until C has replied.
//!
//! Run it with `cargo run --example triangle`, or with `cargo run --example triangle -- 500` for
//! 500 rounds. Apart from the counts it prints:
//!
//! ```text
//! A→B came first in 5837 of 10000 rounds
//! A→C→B came first in 4163 of 10000 rounds
//! ```

use std::env;
use std::ffi::OsString;
use std::process::exit;

use purlin::{Pid, Process, consume_budget, spawn};

/// Upper limit of the rounds, because B stores each one.
const MOST: usize = 100_000;

/// Message to B.
struct Arrival {
    round: usize,
    way: Way,
}

#[derive(PartialEq)]
enum Way {
    Straight,
    ThroughC,
}

async fn a(_me: Process<()>, b: Pid<Arrival>, c: Pid<usize>, rounds: usize) {
    for round in 0..rounds {
        c.send(round);
        // Work of varying length. Each piece consumes budget of A's turn, which may end here.
        for _ in 0..round % 1000 {
            consume_budget().await;
        }
        let way = Way::Straight;
        b.send(Arrival { round, way });
    }
}

async fn c(mut me: Process<usize>, b: Pid<Arrival>) {
    loop {
        let round = me.receive().await;
        let way = Way::ThroughC;
        b.send(Arrival { round, way });
    }
}

/// Process B: counts which path was faster.
#[purlin::main(workers = 2)]
async fn main(mut me: Process<Arrival>) {
    let rounds = how_many();
    let (b, to_b) = (me.pid(), me.pid());
    let c = spawn(move |me| c(me, b));
    spawn(move |me| a(me, to_b, c, rounds));

    let mut arrived = vec![false; rounds];
    let (mut straight, mut through_c) = (0, 0);
    for _ in 0..2 * rounds {
        let Arrival { round, way } = me.receive().await;
        let second = std::mem::replace(&mut arrived[round], true);
        match way {
            _ if second => {}
            Way::Straight => straight += 1,
            Way::ThroughC => through_c += 1,
        }
    }
    println!("A→B came first in {straight} of {rounds} rounds");
    println!("A→C→B came first in {through_c} of {rounds} rounds");
}

/// Returns the number of rounds: the argument, or 10,000 by default.
fn how_many() -> usize {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let number = match &arguments[..] {
        [] => Some(10_000),
        [n] => n.to_str().and_then(|n| n.parse().ok()),
        _ => None,
    };
    number.filter(|n| (1..=MOST).contains(n)).unwrap_or_else(|| {
        eprintln!(
            "triangle: {arguments:?} is no number of rounds: give one whole number from 1 to {MOST}"
        );
        exit(2)
    })
}
