//! Deterministic tests of processes: virtual time, and scheduling choices that a seed reproduces.
//!
//! | task | API |
//! |---|---|
//! | run processes in virtual time | [`Simulation`] |
//! | run a test once for each of many seeds | [`for_each_seed`] |
//!
//! A [`Simulation`] is a node on one thread. A seed selects which ready process runs next; when no
//! process is ready, the clock jumps to the next timer. So a test with timers of hours takes
//! milliseconds, neither sleeps nor is flaky, and its seed reproduces a run that fails:
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
//!         "sooner" => panic!("no process sends this"),
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

/// Documents whose examples run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/testing.md")]
    struct Testing;
}
