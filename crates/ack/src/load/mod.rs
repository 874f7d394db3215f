//! Load generator for servers of all six strategies.
//!
//! A program connects a [`Load`] and runs it round by round; a round ends when all its messages are
//! answered. All answers are verified. The results are available as text and JSON. The
//! command line is `purlin ack load`.
//!
//! | module | role |
//! |---|---|
//! | `run` | runs the rounds |
//! | `plan` | presets and parameters; pure |
//! | `block` | prebuilt write; pure |
//! | `in_flight` | in-flight messages: verifies answers; pure |
//! | `connection` | write, read and wait loop |
//! | `socket` | TCP or TLS socket |
//! | `counters` | counters of all connections |
//! | `summary`, `report`, `json` | report; pure |
//! | `error` | error types |
//!
//! TLS differs only inside `socket`.
//!
//! Connecting and waiting use the tokio runtime of the caller. Rounds run on the blocking threads
//! of that runtime, one per connection; if it has fewer threads, some connections wait until others
//! are done.

mod block;
mod connection;
mod counters;
mod error;
mod in_flight;
mod json;
mod plan;
mod report;
mod run;
mod socket;
mod summary;

pub use counters::Answered;
pub use error::{Failed, LoadError};
pub use plan::{BadPlan, Plan};
pub use report::short;
pub use run::{Live, Load};
pub use summary::{Round, Spread, Summary};
