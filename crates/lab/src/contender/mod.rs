//! The contenders: programs that the lab finds, starts, asks and ends.
//!
//! [`choose`] turns what the user wrote into [`Contender`]s, [`Contender::command`]
//! says how one is started, [`Client`] is one that runs, [`Fleet`] all of a run, with the one client
//! that sends to those of them that serve, and the pairs of those that are nodes.
//! Nothing here knows what an experiment means.

mod answer;
mod beam;
mod choice;
mod client;
mod elixir;
mod find;
mod fleet;
mod go;
mod lines;
mod paired;
mod resident;
mod served;
mod sources;
mod stopwatch;

pub use answer::{Hello, Reply};
pub use choice::{Choice, Contender, choose};
pub use client::{Client, Failure};
pub use find::{BUILT_IN, CommandLine, ELSEWHERE, LOAD, Surroundings, remedy};
pub use fleet::Fleet;
