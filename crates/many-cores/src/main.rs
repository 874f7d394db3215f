//! Experiments on purlin's inbox with many simulated cores, and their measurement on real ones.
//!
//! The program is built twice: with `--cfg purlin_measured` its workloads run on real cores, with
//! `--cfg purlin_cores` on simulated ones. `docs/internals/many-cores.md` has the commands.
//!
//! | module | role |
//! |---|---|
//! | `calibrate` | measures the constants of the coherence model |
//! | `chart` | chart as SVG |
//! | `node` | minimal node: worker loop and processes |
//! | `platform` | primitives of the simulator or of `std` |
//! | `queues` | purlin's inbox, models of others, a lock |
//! | `report` | stored result, and its tables |
//! | `scheduling` | workloads on the worker loop |
//! | `senders` | many senders and one receiver |
//! | `validation` | workloads for one and two cores, both measured and predicted |
//! | `workloads` | what the threads do |

#[cfg(purlin_measured)]
mod calibrate;
#[cfg(purlin_cores)]
mod chart;
#[cfg(purlin_cores)]
mod node;
#[cfg(any(purlin_cores, purlin_measured))]
mod platform;
#[cfg(any(purlin_cores, purlin_measured))]
mod queues;
#[cfg(purlin_cores)]
mod report;
#[cfg(purlin_cores)]
mod scheduling;
#[cfg(purlin_cores)]
mod senders;
#[cfg(any(purlin_cores, purlin_measured))]
mod validation;
#[cfg(any(purlin_cores, purlin_measured))]
mod workloads;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        #[cfg(purlin_measured)]
        ["calibrate"] => calibrate::calibrate(),
        #[cfg(any(purlin_cores, purlin_measured))]
        ["validate"] => validation::print(),
        #[cfg(purlin_cores)]
        ["report", measured, folder] => report::write(measured, folder)?,
        _ => {
            return Err(format!(
                "unknown command '{}'; a build has the commands of its --cfg, purlin_cores or \
                 purlin_measured: docs/internals/many-cores.md",
                arguments.join(" ")
            ));
        }
    }
    #[cfg_attr(not(any(purlin_cores, purlin_measured)), expect(unreachable_code))]
    Ok(())
}
