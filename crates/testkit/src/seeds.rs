//! Running a test for many seeds, and again for the one that failed.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The variable that names the one seed to run.
pub(crate) const VARIABLE: &str = "PURLIN_SEED";

/// Runs a test for the seeds from 0 on, so many; or only for the one that the environment's
/// `PURLIN_SEED` names. When it panics, the seed is printed.
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
///         // Whichever comes first.
///         assert_eq!(me.receive().await + me.receive().await, 3);
///     });
/// });
/// ```
///
/// # Panics
/// When the test does, and if `PURLIN_SEED` is no number.
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
