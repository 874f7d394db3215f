//! Processes that say hello.
//!
//! A process is an `async` function with a mailbox; its *pid* is its address. `spawn` starts a
//! process and returns its pid without waiting. From then on parent and child run concurrently, so
//! the greetings below come in any order.
//!
//! Each child sends its pid to the parent after its greeting. These messages also come in any
//! order. The parent takes them in the order in which it spawned the children: `receive!` leaves
//! other messages in the mailbox.
//!
//! Run it with `cargo run --example hello`, or with `cargo run --example hello -- 8` for eight
//! processes. Apart from the pids it prints:
//!
//! ```text
//! hello from <0.1.0>
//! hello from <0.3.0>
//! hello from <0.2.0>
//! hello from <0.5.0>
//! hello from <0.4.0>
//! they were, in the order spawned: <0.1.0> <0.2.0> <0.3.0> <0.4.0> <0.5.0>
//! ```

use std::env;
use std::ffi::OsString;
use std::process::exit;

use purlin::{Pid, Process, ProcessId, receive, spawn};

/// Upper limit of the processes, to keep the output readable.
const MOST: usize = 10_000;

/// Says hello, and sends its pid to the parent.
async fn greeter(me: Process<()>, parent: Pid<ProcessId>) {
    println!("hello from {}", me.id());
    parent.send(me.id());
}

#[purlin::main]
async fn main(mut me: Process<ProcessId>) {
    let mut children = Vec::new();
    for _ in 0..how_many() {
        let parent = me.pid();
        let child = spawn(move |me| greeter(me, parent));
        children.push(child.id());
    }

    let mut spoken = String::new();
    for child in children {
        let id = receive!(me, { id if id == child => id });
        spoken += &format!(" {id}");
    }
    println!("they were, in the order spawned:{spoken}");
}

/// Returns the number of processes: the argument, or five by default.
fn how_many() -> usize {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let number = match &arguments[..] {
        [] => Some(5),
        [n] => n.to_str().and_then(|n| n.parse().ok()),
        _ => None,
    };
    number.filter(|n| (1..=MOST).contains(n)).unwrap_or_else(|| {
        eprintln!(
            "hello: {arguments:?} is no number of processes: give one whole number from 1 to {MOST}"
        );
        exit(2)
    })
}
