//! Erlang's processes and messages at native speed.
//!
//! A *process* is an `async` function that owns a mailbox. It costs one allocation, is run by
//! purlin's own scheduler, and shares nothing: others know its [`Pid`] and send it messages.
//!
//! ```
//! use purlin::{Process, Reply, spawn};
//!
//! enum Msg { Add(i64), Total(Reply<i64>) }
//!
//! async fn accumulator(mut me: Process<Msg>) {
//!     let mut tally = 0;
//!     loop {
//!         match me.receive().await {
//!             Msg::Add(n) => tally += n,
//!             Msg::Total(reply) => reply.send(tally),
//!         }
//!     }
//! }
//!
//! #[purlin::main]
//! async fn main() {
//!     let acc = spawn(accumulator);
//!     acc.send(Msg::Add(40));
//!     acc.send(Msg::Add(2));
//!     assert_eq!(acc.call(Msg::Total).await, Ok(42));
//! }
//! ```
//!
//! Words that come from Erlang mean what they mean there; `SEMANTICS.md` states every clause, and
//! the difference where there is one. The two that matter at first: a process that computes
//! without awaiting is not interrupted, and a process that is told to end does so at its next
//! await.
//!
//! | to | use |
//! |---|---|
//! | start a node | [`Node::builder`], [`macro@main`], [`macro@test`] |
//! | make a process | [`spawn()`], [`Node::spawn`], [`try_spawn`] |
//! | send to it, ask it | [`Pid::send`], [`Pid::call`], [`Pid::call_blocking`] |
//! | receive | [`Process::receive`], [`receive!`], [`Process::try_receive`], [`Process::flush`] |
//! | send later | [`Pid::send_after`], [`Pid::send_interval`], [`Timer`] |
//! | be polite in a long loop | [`yield_now`], [`consume_budget`] |
//! | see what runs | [`Node::processes`], [`Pid::info`] |
//!
//! Sockets, timers and every other library of tokio's work inside a process with no adapter.
//!
//! # What it needs
//!
//! Rust 1.88 and a 64-bit target; it is tested on Linux. A panic ends its process alone only where
//! panics unwind: in a program built with `panic = "abort"` it ends the program. What blocks a
//! thread (`std::thread::sleep`, `std::fs`, [`Pid::call_blocking`]) holds up its worker: inside a
//! process await instead, or hand it to `tokio::task::spawn_blocking`.

#![forbid(unsafe_code)]

mod body;
mod builder;
mod call;
mod deadline;
mod exit;
mod home;
mod id;
mod info;
mod interval;
mod node;
mod outcome;
mod pid;
mod process;
mod receive;
mod reply;
mod spawn;
mod stop;
mod timer;
mod yielding;

pub use builder::{BuildError, Builder};
pub use call::{CALL_TIMEOUT, CallError};
pub use exit::{ExitReason, Panic};
pub use id::ProcessId;
pub use info::{ProcessInfo, ProcessState};
pub use node::{LookupError, Node};
pub use outcome::Outcome;
pub use pid::{Pid, SendError};
pub use process::{Process, Receive};
pub use purlin_macros::{main, test};
pub use reply::Reply;
pub use spawn::{SpawnError, spawn, try_spawn};
pub use stop::StopReport;
pub use timer::Timer;
pub use yielding::{consume_budget, yield_now};

/// What the macros of this crate expand to; not for direct use.
#[doc(hidden)]
pub mod __private {
    pub use crate::node::{run_main, run_test};
    pub use crate::receive::Scan;
}

/// The documents whose examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/processes-and-messages.md")]
    struct ProcessesAndMessages;
}
