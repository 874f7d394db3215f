//! The contenders: programs that the lab locates, starts, queries and ends.
//!
//! [`select`] resolves the user's texts to [`Contender`]s, [`Contender::command`] returns a command
//! line, [`Client`] is one running contender. [`Runtimes`] holds all contenders of a run, the load
//! client for those that are servers, and the program pairs for those that are distribution nodes.
//! This module does not interpret experiments.

mod answer;
mod beam;
mod built_in;
mod client;
mod elixir;
mod find;
mod go;
mod jvm;
mod lines;
mod paired;
mod programs;
mod resident;
mod runtimes;
mod selection;
mod served;
mod settings;
mod sources;
mod stopwatch;

pub use answer::{Failure, Hello, Reply};
pub use client::Client;
pub use find::{BUILT_IN, CommandLine, ELSEWHERE, LOAD, Surroundings};
pub(crate) use programs::{runs_control, sources};
pub use runtimes::Runtimes;
pub use selection::{Contender, Selection, select};
