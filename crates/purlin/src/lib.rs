//! Erlang's processes and messages at native speed.
//!
//! A *process* is an `async` function with a mailbox. It costs one allocation, runs on purlin's own
//! scheduler and shares no state: other processes hold its [`Pid`] and send it messages.
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
//! Terms from Erlang keep their Erlang meaning. `SEMANTICS.md` states every clause and each
//! difference from Erlang. Two differences matter first: a process that computes without awaiting
//! is not preempted, and a process that an exit signal terminates ends at its next await.
//!
//! | to | use |
//! |---|---|
//! | start a node | [`Node::builder`], [`macro@main`], [`macro@test`] |
//! | spawn a process | [`spawn()`], [`Node::spawn`] |
//! | spawn one with a mailbox bound or a name, or one that may block its thread | [`SpawnOptions`] |
//! | send a message, make a call | [`Pid::send`], [`Pid::call`], [`Pid::call_blocking`] |
//! | call many processes concurrently | [`multi_call()`], [`Pid::send_request`] |
//! | receive | [`Process::receive`], [`receive!`], [`Process::try_receive`], [`Process::flush`] |
//! | wait for a tagged reply, keep the messages that a process leaves | [`Process::make_ref`], [`Process::on_unread`] |
//! | link, monitor, trap exits | [`Process::link`], [`Process::monitor`], [`Process::trap_exit`], [`Process::spawn_link`] |
//! | end a process | [`exit()`], [`Pid::exit`], [`ExitReason`] |
//! | register a name, create a revocable address | [`register`], [`whereis`], [`Process::alias`] |
//! | write a server, as OTP's `gen_server` | [`macro@server`], [`mod@server`] |
//! | write a state machine, as OTP's `gen_statem` | [`state_machine`] |
//! | run a future as a process and await its result; many of them | [`task`], [`task::async_stream`] |
//! | find processes by keys of any type | [`registry`] |
//! | publish to the subscribers of a topic | [`pubsub`], [`Recipient`] |
//! | join process groups | [`pg`] |
//! | supervise and restart processes, pool them | [`supervisor`], [`supervisor::Pool`] |
//! | start and stop an application as one unit | [`application`] |
//! | represent remote processes by local proxies | [`remote`] |
//! | send after a delay or periodically | [`Pid::send_after`], [`Pid::send_interval`], [`Timer`] |
//! | yield in a long loop | [`yield_now`], [`consume_budget`] |
//! | list processes, find those that do not yield | [`Node::processes`], [`Pid::info`], [`Node::hogs`] |
//! | observe a node, trace processes | [`observe`], [`trace`] |
//!
//! Sockets, timers and every other tokio library work inside a process without an adapter.
//!
//! # Requirements
//!
//! Rust 1.88 and a 64-bit target; tested on Linux. A panic ends only its own process if panics
//! unwind; in a program built with `panic = "abort"` it ends the program. Code that blocks its
//! thread (`std::thread::sleep`, `std::fs`, [`Pid::call_blocking`]) or computes for a long time
//! stalls its worker for about a millisecond, or eight where all workers were computing before, and
//! then occupies an extra thread. Await inside a process instead, or use [`SpawnOptions::blocking`].

// WHY: `eprintln!` panics if standard error is closed or full.
#![warn(clippy::print_stderr)]

mod adaptive_spin;
pub mod application;
mod call;
#[cfg(test)]
mod escript;
mod mailbox;
mod node;
pub mod observe;
pub mod pg;
mod process;
pub mod pubsub;
mod race;
pub mod registry;
pub mod remote;
pub mod server;
mod signals;
#[doc(hidden)]
pub mod simulated;
pub mod state_machine;
pub mod supervisor;
pub mod task;
mod timer;
pub mod trace;

pub use adaptive_spin::AdaptiveSpin;
pub use call::multi_call::multi_call;
pub use call::reply::Reply;
pub use call::request::{CALL_TIMEOUT, CallError};
pub use call::send_request::Request;
pub use mailbox::receive::Receive;
pub use node::builder::{BuildError, Builder};
pub use node::drops::Drops;
pub use node::handle::Node;
pub use node::name::{LookupError, Name, RegisterError};
pub use node::register::{register, registered, unregister, whereis};
pub use node::stalled::Hog;
pub use node::state::StopReport;
pub use node::weak_node::WeakNode;
pub use process::exit::{Cause, ExitReason, Panic};
pub use process::handle::Process;
pub use process::id::ProcessId;
pub use process::info::{MailboxBound, ProcessDetails, ProcessInfo};
pub use process::options::SpawnOptions;
pub use process::outcome::Outcome;
pub use process::pid::Pid;
pub use process::process_ref::{ToProcess, exit_process};
pub use process::recipient::Recipient;
pub use process::relation::{LinkedTo, MonitoredBy, Relation};
pub use process::spawn::{SpawnError, spawn};
pub use process::unwind::exit;
pub use process::yielding::{consume_budget, yield_now};
pub use purlin_macros::{Message, main, server, test};
pub use purlin_raw::{Overflow, ProcessState, SendError};
pub use purlin_sched::OsPriorities;
pub use signals::alias::Alias;
pub use signals::conversion::{ReceivesDown, ReceivesExit};
pub use signals::notices::{Down, Exit, MonitorRef, Monitored};
pub use signals::reference::Reference;
pub use timer::handle::Timer;

/// Targets of this crate's macro expansions; not public API.
#[doc(hidden)]
pub mod __private {
    pub use crate::mailbox::marker::{Tag, UnboundTag};
    pub use crate::mailbox::scan::Scan;
    pub use crate::node::run::{run_main, run_test};
    pub use crate::server::handler_result::{HandlerResult, InitResult};
    pub use purlin_macros::fits;
}

/// Documents whose code examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../README.md")]
    struct PackageReadme;

    #[doc = include_str!("../../../docs/guide/applications.md")]
    struct Applications;

    #[doc = include_str!("../../../docs/guide/coming-from.md")]
    struct ComingFrom;

    #[doc = include_str!("../../../docs/guide/processes.md")]
    struct Processes;

    #[doc = include_str!("../../../docs/guide/receive.md")]
    struct Receive;

    #[doc = include_str!("../../../docs/guide/links-and-monitors.md")]
    struct LinksAndMonitors;

    #[doc = include_str!("../../../docs/guide/services.md")]
    struct Services;

    #[doc = include_str!("../../../docs/guide/servers.md")]
    struct Servers;

    #[doc = include_str!("../../../docs/guide/state-machines.md")]
    struct StateMachines;

    #[doc = include_str!("../../../docs/guide/supervisors.md")]
    struct Supervisors;
}
