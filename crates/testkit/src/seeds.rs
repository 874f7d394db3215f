//! Runs a test for many seeds, and reproduces the one that failed.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Environment variable that selects a single seed.
pub(crate) const VARIABLE: &str = "PURLIN_SEED";

/// Runs a test for the seeds `0..seeds`, or only for the seed in the environment variable
/// `PURLIN_SEED`. Prints the seed if the test panics.
///
/// ```
/// use purlin::Process;
/// use purlin_testkit::{Simulation, for_each_seed};
///
/// for_each_seed(100, |seed| {
///     let mut simulation = Simulation::new(seed);
///     simulation.run(async |mut me: Process<u32>| {
///         let (one, other) = (me.pid(), me.pid());
///         purlin::spawn(async move |_: Process<()>| one.send(1));
///         purlin::spawn(async move |_: Process<()>| other.send(2));
///         // In either order.
///         assert_eq!(me.receive().await + me.receive().await, 3);
///     });
/// });
/// ```
///
/// # Panics
/// Panics if the test panics, or if `PURLIN_SEED` is not a number.
pub fn for_each_seed(seeds: u64, mut test: impl FnMut(u64)) {
    let range = match env::var(VARIABLE) {
        Ok(text) => match text.parse() {
            Ok(seed) => seed..=seed,
            Err(_) => {
                panic!("{VARIABLE} is {text:?}, but a seed is a number from 0 to {}", u64::MAX)
            }
        },
        Err(_) if seeds == 0 => return,
        Err(_) => 0..=seeds - 1,
    };
    for seed in range {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(seed))) {
            eprintln!("failed with seed {seed}; {VARIABLE}={seed} repeats it");
            resume_unwind(panic);
        }
    }
}
