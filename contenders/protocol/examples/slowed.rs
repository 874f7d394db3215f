//! A contender with a configurable slowdown, for checking whether `purlin lab compare` detects it.
//!
//! ```text
//! slowed [PERCENT]
//! ```
//!
//! It offers only `serial-spawn`, whose number of processes is not calibrated: on a busy machine a
//! longer sample is interrupted more often, so samples of different lengths would differ. A process
//! is a function that is allocated, sent through a channel of the standard library, called and
//! dropped: real work on the real clock, with all the noise of the machine. Before the clock stops,
//! it computes for PERCENT of the time the work took; the default is 0.

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Instant;

use purlin_contender::{EXPERIMENTS, Hello, Run, Sample, serve_program};

/// A process of this contender.
type Process = Box<dyn FnOnce() -> u64>;

fn main() -> ExitCode {
    let percent = match std::env::args().nth(1).map(|word| word.parse::<f64>()) {
        None => 0.0,
        Some(Ok(percent)) if (0.0..=1000.0).contains(&percent) => percent,
        Some(_) => {
            eprintln!("slowed: give a percentage from 0 to 1000, such as: slowed 5");
            return ExitCode::from(2);
        }
    };
    let without: Vec<&str> =
        EXPERIMENTS.iter().copied().filter(|experiment| *experiment != "serial-spawn").collect();
    let hello = Hello::new("slowed", format!("slowed by {percent} %"))
        .without(&without)
        .note("one thread and a channel of the standard library; slowed on purpose");
    serve_program(&hello, |asked| match asked {
        Run::SerialSpawn { total, .. } => Ok(serial_spawn(total, percent)),
        other => Err(format!("this contender does not run {}", other.experiment())),
    })
}

fn serial_spawn(total: u64, percent: f64) -> Sample {
    let (mut sent, mut received) = (0, 0);
    let start = Instant::now();
    let (spawn, spawned) = channel::<Process>();
    for number in 0..total {
        sent += u64::from(spawn.send(Box::new(move || u64::from(number < total))).is_ok());
        received += spawned.try_recv().map_or(0, |process| process());
    }
    let due = start.elapsed().mul_f64(1.0 + percent / 100.0);
    while start.elapsed() < due {
        std::hint::spin_loop();
    }
    Sample::new(start.elapsed(), total, sent, received)
}
