//! The contender protocol of the lab, for contenders written in Rust.
//!
//! A contender is a program that the lab measures: it reads one JSON object per line and answers
//! each with one line. This crate reads and checks the requests, converts each to a typed [`Run`],
//! passes it to the contender's function and writes the answer. It also contains the parts of the
//! experiments that involve no runtime (work, counting down, send schedules), so that all Rust
//! contenders run the same code there and differ only in their processes and messages.
//!
//! In the experiments with servers over TCP, a contender starts a server on request
//! ([`serve_program_with_servers`]) and a common load client sends messages to it
//! ([`load_program`]). In the experiments with two nodes, two contenders are one distribution node
//! each ([`Nodes`]).
//!
//! The crate depends on no runtime, starts no threads, and takes measurements only where no runtime
//! is involved. No input makes it panic: an invalid request is answered with a one-line error, and
//! the next request is read.
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
mod lines;
mod local;
mod nodes;
mod params;
mod parse;
mod payloads;
mod probe;
mod request;
mod run;
mod running;
mod sample;
mod savina;
mod serve;
mod servers;
mod settings;
mod side;
mod signals;
mod tally;
mod timers;
mod variants;

pub use acks::{Load, SERVED, Serve};
pub use delays::{Delays, STAMP_EVERY, Stamps, TRIP_EVERY};
pub use local::{Schedule, WORK_START, batches, count_down, shares, tail_call, work};
pub use nodes::{Far, Near, Nodes, PAIRED, Traffic};
pub use params::{
    BATCH_MAX, CONNECTIONS_MAX, CORES_MAX, COUNT_MAX, HOGS_MAX, LENGTH_MAX, MESSAGES_MAX, MS_MAX,
    PROCESSES_MAX, REPS_MAX, RESTARTS_MAX, ROOM_MAX, SENDERS_MAX, SIZE_MAX, WAITING_MAX,
};
pub use payloads::{Copied, Moved, Payloads, Short};
pub use probe::{Participant, Probe, TRIP_INTERVAL};
pub use request::Request;
pub use run::{
    EXPERIMENTS, End, Exchange, Expiry, Hog, LoopKind, Mode, Payload, Run, Signals, Timers,
};
pub use running::Running;
pub use sample::Sample;
pub use savina::{
    BALANCE, Calibration, Colour, DrawStream, Filter, KEYS, Lookup, SAVINA, Savina, Series,
    Transfer, dictionary, is_value_of, logistic, lookups, scaled_term, transfers,
};
pub use serve::{
    Hello, load_program, serve, serve_on, serve_program, serve_program_with_nodes,
    serve_program_with_servers, serve_with_servers_on,
};
pub use settings::{allocator, workers};
pub use side::{Side, Sides};
pub use signals::{Draw, Draws, InFlightLimit, Receipts, Received, Sent, Stint, report};
pub use tally::{Depth, Tally};
pub use timers::{Expiries, Window};
pub use variants::{Callee, Children, Flow, Variants};
