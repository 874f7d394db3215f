//! The contender's side of the lab's protocol, for contenders written in Rust.
//!
//! A contender is a program that the lab measures: it reads one JSON object per line and answers
//! each with one line. This crate reads and checks the requests, turns each into a typed [`Run`],
//! hands it to the contender's own function and writes the answer. It also holds the local parts
//! of the experiments (work, counting down, when to send), so that all Rust contenders run
//! literally the same code there and differ in nothing but their processes and messages.
//!
//! Some experiments are about servers over TCP: a contender starts one when it is told to
//! ([`serve_program_with_servers`]), and one client, the same for all, sends it messages
//! ([`load_program`]). Others are about two nodes of a cluster: two contenders are told to be one each
//! ([`Nodes`]).
//!
//! It knows no runtime, starts no thread, and measures by itself only what involves none. Nothing that
//! arrives on the input can make it panic: a bad request is answered with one clear line and the
//! next one is read.
//!
//! ```
//! use purlin_contender::{Hello, Run, Sample, count_down, serve_on};
//!
//! let hello = Hello::new("example", "example 1.0").note("counts and does nothing else");
//! let input = br#"{"op":"run","experiment":"tail-call","params":{"n":1000}}"#;
//! let mut output = Vec::new();
//! serve_on(&input[..], &mut output, &hello, |run| match run {
//!     Run::TailCall { n, reps } => {
//!         let start = std::time::Instant::now();
//!         let left: u64 = (0..reps).map(|_| count_down(n)).sum();
//!         Ok(Sample::new(start.elapsed(), n * reps, 0, 0).with("left", left))
//!     }
//!     _ => Err("this contender only counts".to_owned()),
//! })?;
//! assert!(String::from_utf8_lossy(&output).contains(r#""ops":1000"#));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod conformance;

mod acks;
mod delays;
mod goods;
mod lines;
mod local;
mod nodes;
mod params;
mod parse;
mod probe;
mod request;
mod run;
mod running;
mod sample;
mod serve;
mod settings;
mod side;
mod signals;
mod tally;

pub use acks::{Load, SERVED, Serve};
pub use delays::{Delays, STAMP_EVERY, Stamps, TRIP_EVERY};
pub use goods::{Copied, Goods, Moved, Short};
pub use local::{Schedule, WORK_START, batches, count_down, shares, tail_call, work};
pub use nodes::{Far, Near, Nodes, PAIRED};
pub use params::{
    BATCH_MAX, CONNECTIONS_MAX, CORES_MAX, COUNT_MAX, HOGS_MAX, LENGTH_MAX, MESSAGES_MAX, MS_MAX,
    PROCESSES_MAX, REPS_MAX, RESTARTS_MAX, ROOM_MAX, SENDERS_MAX, SIZE_MAX, WAITING_MAX,
};
pub use probe::{Probe, Seat, Tell};
pub use request::Request;
pub use run::{EXPERIMENTS, End, Exchange, Hog, Mode, Pace, Payload, Run, Signals, Variant};
pub use running::Running;
pub use sample::Sample;
pub use serve::{
    Hello, load_program, serve, serve_on, serve_program, serve_program_with_nodes,
    serve_program_with_servers, serve_with_servers_on,
};
pub use settings::workers;
pub use side::{Side, Sides};
pub use signals::{Draw, Draws, Receipts, Received, Room, Sent, Stint, report};
pub use tally::{Depth, Tally};
