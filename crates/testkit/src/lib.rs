//! What tests of processes need: virtual time, and choices that a seed repeats.
//!
//! | to | use |
//! |---|---|
//! | run processes in virtual time | [`Simulation`] |
//! | run a test once for each of many seeds | [`for_each_seed`] |
//!
//! A [`Simulation`] is a node on one thread. Who of those that are ready runs next is chosen by a
//! seed; when nobody is ready the clock moves to the next timer at once. So a test of timers of hours
//! takes milliseconds, neither sleeps nor flakes, and a run that fails is repeated by its seed:
//!
//! ```
//! use std::time::Duration;
//! use purlin::{Process, receive};
//! use purlin_testkit::Simulation;
//!
//! let mut simulation = Simulation::new(1);
//! let answer = simulation.run(async |mut me: Process<&str>| {
//!     me.pid().send_after(Duration::from_secs(3600), "an hour has passed");
//!     receive!(me, {
//!         "sooner" => panic!("nobody sends that"),
//!         after Duration::from_secs(60) => {}
//!     });
//!     me.receive().await
//! });
//! assert_eq!(answer, "an hour has passed");
//! assert_eq!(simulation.now(), Duration::from_secs(3600));
//! ```

mod seeds;
mod simulation;

pub use seeds::for_each_seed;
pub use simulation::{Failure, Hold, Simulation};

/// Documents whose examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/testing.md")]
    struct Testing;
}
