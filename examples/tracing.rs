//! A reactive process that logs what it does.
//!
//! To observe a process, log its start and each message it receives, with its pid, the message, and
//! its state. Here `tracing` carries these lines, as elsewhere in Rust. The program sets up the
//! subscriber once, in `main`: here it writes plain lines to the terminal, without the time of day.
//!
//! The log shows the order in which the process *received* its messages, which is the order of its
//! whole life. Between two processes there is no such order.
//!
//! Run it with `cargo run --example tracing`. Apart from the pid it prints:
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

/// Messages to the accumulator. The log prints their `Debug` text.
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
