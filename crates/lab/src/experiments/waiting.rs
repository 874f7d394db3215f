//! Timers and idle processes: `timers`, `timer-expiry`, `idle-memory`.

use super::checks::{asked, extra, in_order, one_each};
use super::experiment::{Experiment, Figure, Invalid, Point, SamplingMode};
use super::points::{TIME_PER_OPERATION, counted, params, timed};
use crate::profile::Profile;

/// Number of live timers in `timers`.
const WINDOW: u64 = 10_000;

pub(super) static TIMERS: Experiment = Experiment {
    id: "timers",
    title: "Timers that are cancelled",
    what: "Of 10 000 timers of five seconds, cancels one and sets another, n times, in random order.",
    notes: &[
        "Most timers are never needed: they are set for a case that does not come. Requests are answered in another order than they were made in, so timers are cancelled in another order than they were set in.",
        "All timers of a pass over the 10 000 are cancelled in an order that is drawn before the clock starts, from the same seed on every contender. A timer lives for 1 to 20 000 pairs, for 10 000 on average.",
        "On the BEAM erlang:send_after/3 and erlang:cancel_timer/1, on purlin Pid::send_after and Timer::cancel. On tokio a DelayQueue of tokio-util, which the task owns. On ractor and kameo send_after, which spawns a task, and the abort of its handle; on actix a task that sleeps and sends, and the abort of its handle; in Go time.AfterFunc and Stop, and Reset to set another with a stopped one; on Pekko ActorContext.scheduleOnce, with virtual threads a ScheduledThreadPoolExecutor, and cancel.",
    ],
    metric: "time per pair of cancel and set",
    points: |_| timed(params([("window", WINDOW)]), counted(1000, 1_000_000_000, 1.0)),
    check: |params, reply| {
        one_each(params, reply)?;
        extra(reply, "waiting", asked(params, "window"))
    },
    ..TIME_PER_OPERATION
};

pub(super) static TIMER_EXPIRY: Experiment = Experiment {
    id: "timer-expiry",
    title: "Timers that expire",
    what: "Sets n timers that are due at the same time, and counts their messages.",
    notes: &[
        "The primary metric is the time from when all timers are due until the last message has been received, divided by n. All are set before. The resolution of the timers is in it: a millisecond is 20 ns for each of the 50 000 timers of the quick profile, and 10 ns for each of the 100 000 of the full one.",
        "Lateness is measured on other samples, in which the due times of 10 000 timers are spread over whole milliseconds: from when a timer was due until its message has been received. The resolution of the runtime's timers is part of it.",
        "An expired timer sends a message to the process that set it: erlang:send_after/4 on the BEAM, Pid::send_after on purlin, send_after on ractor and kameo, ActorContext.scheduleOnce on Pekko. On tokio the process owns a DelayQueue and receives from it, on actix a task sleeps and sends, in Go a goroutine sleeps and sends, with virtual threads one of a ScheduledThreadPoolExecutor.",
    ],
    metric: "time per expiry",
    figure: Figure::Expiries,
    mode: SamplingMode::Few,
    points: |profile| {
        let (n, after_ms, spread_ms) = match profile {
            Profile::Quick => (50_000, 300, 100),
            Profile::Full => (100_000, 1000, 1000),
        };
        let point = |n, after_ms, spread_ms| {
            let params = params([("n", n), ("after_ms", after_ms), ("spread_ms", spread_ms)]);
            Point { x: None, params, scaled: None }
        };
        vec![point(n, after_ms, 0), point(10_000, after_ms / 5, spread_ms)]
    },
    check: |params, reply| {
        one_each(params, reply)?;
        extra(reply, "overdue", 0)?;
        if asked(params, "spread_ms") > 0 { in_order(reply) } else { Ok(()) }
    },
    ..TIME_PER_OPERATION
};

pub(super) static IDLE_MEMORY: Experiment = Experiment {
    id: "idle-memory",
    title: "Memory of idle processes",
    what: "Spawns n processes that wait for a message, and reads how much memory that took.",
    notes: &[
        "By resident memory, read from outside: what the operating system gives the program, less what it gave before, over the number of processes.",
        "A hundred thousand processes in the quick profile, a million in the full one.",
        "Each sample has a program of its own, and a hundredth of the processes is spawned before the first reading: memory that was used before could be used again, and what is only needed once would count.",
        "Each process has run, reported that it is there, and waits. Six samples at most: they differ little.",
    ],
    metric: "resident memory per process",
    unit: "bytes",
    figure: Figure::Footprint,
    mode: SamplingMode::FreshProcess,
    points: |profile| {
        let n = if profile == Profile::Quick { 100_000 } else { 1_000_000 };
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
