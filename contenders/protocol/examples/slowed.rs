//! A contender that can be made slower on purpose, to see whether `purlin lab compare` finds it.
//!
//! ```text
//! slowed [PERCENT]
//! ```
//!
//! It offers `throughput` alone: a thread hands messages to itself through a channel of the standard
//! library, a thousand at a time. That is real work on the real clock with all the noise of the
//! machine. Before the clock stops it computes for so many percent of the time that the work took;
//! without a number, for none.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Instant;

use purlin_contender::{EXPERIMENTS, Hello, Run, Sample, serve_program};

/// Messages that wait at once.
const BATCH: u64 = 1000;

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
        EXPERIMENTS.iter().copied().filter(|experiment| *experiment != "throughput").collect();
    let hello = Hello::new("slowed", format!("slowed by {percent} %"))
        .without(&without)
        .note("one thread and a channel of the standard library; slowed on purpose");
    serve_program(&hello, |asked| match asked {
        Run::Throughput { n } => Ok(throughput(n, percent)),
        other => Err(format!("this contender does not run {}", other.experiment())),
    })
}

fn throughput(n: u64, percent: f64) -> Sample {
    let (mut sent, mut received) = (0, 0);
    let start = Instant::now();
    let (sender, receiver) = channel();
    for first in (0..n).step_by(BATCH as usize) {
        let batch = first..n.min(first + BATCH);
        sent += batch.filter(|message| sender.send(*message).is_ok()).count() as u64;
        received += receiver.try_iter().count() as u64;
    }
    let due = start.elapsed().mul_f64(1.0 + percent / 100.0);
    while start.elapsed() < due {
        std::hint::spin_loop();
    }
    Sample::new(start.elapsed(), n, sent, received)
}
