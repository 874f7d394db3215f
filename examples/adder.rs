//! A process that adds two numbers.
//!
//! Processes share no memory; they communicate by messages. A message has a type, here [`Add`]: two
//! numbers, and a [`Reply`], the right to reply once.
//!
//! `call` sends such a message and waits for the reply, but not without limit: it returns an error
//! if the other process has ended, ends meanwhile, or does not reply within five seconds.
//!
//! The adder replies to one message and returns, which ends the process.
//!
//! Run it with `cargo run --example adder`, or with `cargo run --example adder -- 40 2` for other
//! numbers. It prints:
//!
//! ```text
//! 2 + 3 = 5
//! ```

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::exit;

use purlin::{CallError, Process, Reply, spawn};

/// Message to the adder. The sum has twice as many bits, so that it always fits.
struct Add(i64, i64, Reply<i128>);

/// Receives two numbers, replies with their sum, and ends.
async fn adder(mut me: Process<Add>) {
    let Add(a, b, reply) = me.receive().await;
    reply.send(i128::from(a) + i128::from(b));
}

#[purlin::main]
async fn main() -> Result<(), CallError> {
    let (a, b) = two_numbers();
    let adder = spawn(adder);
    let sum = adder.call(|reply| Add(a, b, reply)).await?;
    println!("{a} + {b} = {sum}");
    Ok(())
}

/// Returns the arguments, or 2 and 3 by default.
fn two_numbers() -> (i64, i64) {
    let number = |text: &OsStr| text.to_str()?.parse().ok();
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let numbers = match &arguments[..] {
        [] => Some((2, 3)),
        [a, b] => number(a).zip(number(b)),
        _ => None,
    };
    numbers.unwrap_or_else(|| {
        eprintln!(
            "adder: {arguments:?} are not two numbers: give two whole numbers of at most 64 bits"
        );
        exit(2)
    })
}
