//! The triangle: two ways from A to B.
//!
//! In each round A sends a message to C, who passes it on to B, and then one straight to B. Which
//! of the two is B's first? Either, and B counts.
//!
//! ```text
//!        C
//!      ↗   ↘
//!    A  ──→  B
//! ```
//!
//! Messages from one process to another arrive in the order sent (M2 in SEMANTICS.md). But B's two
//! messages come from two processes, and between different senders nothing is promised (M3):
//! whoever reaches B's mailbox first is first.
//!
//! Between its two sends A does some work, more in one round than in another. If C gets to run
//! meanwhile, because A's turn ends or because another worker has it, C wins the round; else A does.
//! (Were A to send to B before it sends to C, it would win every round today, as a send inside a
//! node reaches the mailbox at once. That is luck, not a promise: M3 covers it too.)
//!
//! A program that needs an order has to make one: let B wait for what must be first (`receive!`
//! does), or let A wait until C has answered.
//!
//! Run it with `cargo run --example triangle`, or `cargo run --example triangle -- 500` for so many
//! rounds. It prints, with other counts:
//!
//! ```text
//! A→B came first in 5837 of 10000 rounds
//! A→C→B came first in 4163 of 10000 rounds
//! ```

use std::env;
use std::ffi::OsString;
use std::process::exit;

use purlin::{Pid, Process, consume_budget, spawn};

/// B remembers every round, so there has to be an end.
const MOST: usize = 100_000;

/// A message that reaches B.
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
        // Some work, now more, now less. Each piece of it is charged to A's turn, which may end here.
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

/// B: says which way was the faster, and how often.
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

/// How many rounds: the argument, or ten thousand.
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
