//! Tells the other node that we are there, and notices when it is not.
//!
//! Four times in the tick time it looks what has happened since it last looked. If nothing
//! was written, or nothing came from a node that perhaps only answers ticks, it ticks. If
//! nothing has come four times running, the node is gone. While our own receiver is what
//! holds the reader up, the silence is ours and does not count.
//!
//! A link that is being closed and cannot write what it has is given up after a while.

use std::sync::atomic::Ordering;

use tokio::time::{MissedTickBehavior, interval};

use crate::link::Ended;
use crate::link::shared::Shared;

/// How often in the tick time.
const TIMES: u32 = 4;

pub(super) async fn run(shared: &Shared) -> Ended {
    let mut clock = interval(shared.settings.tick_time / TIMES);
    // WHY: a program that was stopped for a while has not listened, which is no silence of the other node.
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    clock.tick().await;
    let (mut reads, mut writes, mut silent, mut closing) = (0, 0, 0, 0);
    loop {
        clock.tick().await;
        // ORDER: relaxed, both: a read that is not seen now is seen the next time.
        let reads_now = shared.reads.load(Ordering::Relaxed);
        let reading = shared.reading.load(Ordering::Relaxed);
        let has_read = reads_now != reads;
        silent = if has_read || !reading { 0 } else { silent + 1 };
        if silent == TIMES {
            return Ended::Silent;
        }
        let mut state = shared.lock();
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
