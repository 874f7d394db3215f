//! Ticker: sends ticks on an idle link and detects a silent peer.
//!
//! Four times per tick time it compares the counters with those of its last check. If nothing was
//! written, or nothing was read (the peer may only answer ticks), it sends a tick. If nothing was
//! read in four checks in a row, the peer counts as disconnected. While the reader waits for our own
//! receiver, the silence is not the peer's and is not counted.
//!
//! If the writer has had bytes to write in four checks in a row and no write has taken any, the peer does
//! not read, and the link ends: what is owed to the peer would grow without bound.
//!
//! A closing link whose frames cannot be written is ended at the second check.

use std::sync::atomic::Ordering;

use tokio::time::{MissedTickBehavior, interval};

use crate::link::ended::Ended;
use crate::link::shared::Shared;

/// Number of checks per tick time.
const TIMES: u32 = 4;

pub(super) async fn run(shared: &Shared) -> Ended {
    let mut clock = interval(shared.settings.tick_time / TIMES);
    // WHY: after a suspension of this program, missed checks must not count as silence of the peer.
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    clock.tick().await;
    let (mut reads, mut writes, mut silent, mut closing) = (0, 0, 0, 0);
    let (mut taken, mut stuck) = (0, 0);
    loop {
        clock.tick().await;
        // ORDER: relaxed, all: a read missed by this check is seen by the next one.
        let reads_now = shared.reads.load(Ordering::Relaxed);
        let reading = shared.reading.load(Ordering::Relaxed);
        let has_read = reads_now != reads;
        silent = if has_read || !reading { 0 } else { silent + 1 };
        if silent == TIMES {
            return Ended::IdleTimeout;
        }
        let taken_now = shared.taken.load(Ordering::Relaxed);
        let mut state = shared.lock();
        stuck = if state.in_flight > 0 && taken_now == taken { stuck + 1 } else { 0 };
        taken = taken_now;
        if stuck == TIMES {
            return Ended::SlowReader;
        }
        closing += u32::from(state.closing);
        if closing == 2 {
            return Ended::ByUs;
        }
        let has_written = state.writes != writes;
        if state.waiting() == 0 && !(has_read && has_written) {
            state.out.tick();
        }
        (reads, writes) = (reads_now, state.writes);
        drop(state);
        shared.to_write.notify_one();
    }
}
