//! Processes of `purlin demo` that show a growing mailbox: `archive` receives with long pauses, and
//! `press` keeps sending to it.

use std::time::{Duration, Instant};

use purlin::{Process, whereis};
use tokio::time::{interval, sleep};

use super::Fallible;

/// Time in which `archive` receives, followed by the time in which it does not.
const RECEIVES: Duration = Duration::from_secs(20);
const PAUSES: Duration = Duration::from_secs(12);
/// Interval of `press`, and messages per interval: a hundred messages per second.
const TICK: Duration = Duration::from_millis(100);
const PAGES: u32 = 10;

/// Message from `press` to `archive`.
pub(super) struct Page;

/// Receives pages, with pauses in which they wait in its mailbox.
pub(super) async fn archive(mut me: Process<Page>) -> Fallible {
    me.register("archive")?;
    loop {
        let began = Instant::now();
        while began.elapsed() < RECEIVES {
            me.receive().await;
        }
        sleep(PAUSES).await;
    }
}

/// Sends pages at a constant rate. Fails if `archive` is not registered; their supervisor restarts
/// it.
pub(super) async fn press(me: Process<()>) -> Fallible {
    me.register("press")?;
    let mut ticks = interval(TICK);
    loop {
        ticks.tick().await;
        let archive = whereis("archive")?;
        (0..PAGES).for_each(|_| archive.send(Page));
    }
}
