//! A reactive process that can be watched.
//!
//! To see what a process does, let it say so where it is entered and at each message it receives:
//! who it is, what came, and what it knew at that moment. Here `tracing` carries these lines, as it
//! does in the rest of the Rust world. A program picks once, in `main`, where they go: here to the
//! terminal, plain and without the time of day.
//!
//! The trace shows the order in which the process *received*, which is the order of its whole life.
//! There is no such order between two processes.
//!
//! Run it with `cargo run --example tracing`. It prints, with another pid:
//!
//! ```text
//! accumulator begins pid=<0.1.0> tally=0
//! accumulator received Number(1) pid=<0.1.0> tally=0
//! accumulator received Number(2) pid=<0.1.0> tally=1
//! accumulator received Number(3) pid=<0.1.0> tally=3
//! accumulator received Total(Reply { .. }) pid=<0.1.0> tally=6
//! the total is 6
//! ```

use purlin::{CallError, Process, Reply, spawn};
use tracing::info;

/// What the accumulator is sent. `Debug` is what the trace prints.
#[derive(Debug)]
enum Msg {
    Number(i64),
    Total(Reply<i64>),
}

async fn accumulator(mut me: Process<Msg>) {
    let pid = me.id();
    let mut tally = 0;
    info!(%pid, tally, "accumulator begins");
    loop {
        let message = me.receive().await;
        info!(%pid, tally, "accumulator received {message:?}");
        match message {
            Msg::Number(n) => tally += n,
            Msg::Total(reply) => reply.send(tally),
        }
    }
}

#[purlin::main]
async fn main() -> Result<(), CallError> {
    let trace = tracing_subscriber::fmt().without_time();
    trace.with_level(false).with_target(false).init();

    let accumulator = spawn(accumulator);
    for n in 1..=3 {
        accumulator.send(Msg::Number(n));
    }
    let total = accumulator.call(Msg::Total).await?;
    println!("the total is {total}");
    Ok(())
}
