//! Idle timers and processes: `timers`, `idle-memory`.

use super::checks::{asked, extra, one_each};
use super::experiment::{Experiment, Figure, Invalid, Point, SamplingMode};
use super::points::{TIME_PER_OPERATION, counted, params, timed};
use crate::profile::Profile;

/// Number of other live timers in `timers`.
const OTHERS: u64 = 10_000;

pub(super) static TIMERS: Experiment = Experiment {
    id: "timers",
    title: "Timers",
    what: "Sets a timer of five seconds and cancels it, n times, while 10 000 others are alive.",
    notes: &[
        "Most timers are never needed: they are set for a case that does not come.",
        "On the BEAM erlang:send_after/3 and erlang:cancel_timer/1, on purlin Pid::send_after and Timer::cancel. On tokio a sleep that is polled once, which sets its timer, and dropped. On ractor and kameo send_after and the abort of its handle, on actix notify_later and cancel_future.",
    ],
    metric: "time per pair of set and cancel",
    points: |_| timed(params([("waiting", OTHERS)]), counted(1000, 1_000_000_000, 1.0)),
    check: |params, reply| {
        one_each(params, reply)?;
        extra(reply, "waiting", asked(params, "waiting"))
    },
    ..TIME_PER_OPERATION
};

pub(super) static IDLE_MEMORY: Experiment = Experiment {
    id: "idle-memory",
    title: "Memory of idle processes",
    what: "Spawns n processes that wait for a message, and reads how much memory that took.",
    notes: &[
        "By resident memory, read from outside: what the operating system gives the program, less what it gave before, over the number of processes.",
        "Half a million processes in the quick profile, a million in the full one.",
        "Each sample has a program of its own, and a hundredth of the processes is spawned before the first reading: memory that was used before could be used again, and what is only needed once would count.",
        "Each process has run, reported that it is there, and waits. Six samples at most: they differ little.",
    ],
    metric: "resident memory per process",
    unit: "bytes",
    figure: Figure::Footprint,
    mode: SamplingMode::FreshProcess,
    points: |profile| {
        let n = if profile == Profile::Quick { 500_000 } else { 1_000_000 };
        vec![Point { x: None, params: params([("n", n)]), scaled: None }]
    },
    check: |params, reply| {
        one_each(params, reply)?;
        match (reply.extra("resident_before"), reply.extra("resident_after")) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(Invalid("its resident memory cannot be read".to_owned())),
        }
    },
    ..TIME_PER_OPERATION
};
