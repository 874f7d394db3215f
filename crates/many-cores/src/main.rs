//! Experiments on purlin's inbox with many simulated cores, and their measurement on real ones.
//!
//! The program is built twice: with `--cfg purlin_measured` its workloads run on real cores, with
//! `--cfg purlin_cores` on simulated ones. `docs/internals/many-cores.md` has the commands.
//!
//! | module | role |
//! |---|---|
//! | `calibrate` | measures the constants of the coherence model |
//! | `platform` | primitives of the simulator or of `std` |
//! | `queues` | purlin's inbox, a model of OTP's, a lock |
//! | `validation` | workloads for one and two cores, both measured and predicted |
//! | `workloads` | what the threads do |

#[cfg(purlin_measured)]
mod calibrate;
#[cfg(any(purlin_cores, purlin_measured))]
mod platform;
#[cfg(any(purlin_cores, purlin_measured))]
mod queues;
#[cfg(any(purlin_cores, purlin_measured))]
mod validation;
#[cfg(any(purlin_cores, purlin_measured))]
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    if run(&command) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "error: unknown command '{command}'; a build has the commands of its --cfg, purlin_cores or \
         purlin_measured: docs/internals/many-cores.md"
    );
    ExitCode::from(2)
}

/// Runs a command. Returns `false` if this build does not have it.
fn run(command: &str) -> bool {
    let found: Option<fn()> = match command {
        #[cfg(purlin_measured)]
        "calibrate" => Some(calibrate::calibrate),
        #[cfg(any(purlin_cores, purlin_measured))]
        "validate" => Some(validation::print),
        _ => None,
    };
    found.map(|run| run()).is_some()
}
