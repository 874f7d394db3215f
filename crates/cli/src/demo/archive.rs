//! A process whose mailbox grows periodically, because it stops receiving.

use std::time::{Duration, Instant};

use purlin::{Process, whereis};
use tokio::time::{interval, sleep};

use super::Fallible;

/// Time in which it receives, followed by the time in which it does not.
const DILIGENT: Duration = Duration::from_secs(20);
const ABSENT: Duration = Duration::from_secs(12);
/// Send interval, and pages per interval: a hundred pages per second.
const TICK: Duration = Duration::from_millis(100);
const PAGES: u32 = 10;

/// A page to archive.
pub(super) struct Page(u32);

pub(super) async fn archive(mut me: Process<Page>) -> Fallible {
    me.register("archive")?;
    let mut kept = 0_u64;
    loop {
        let began = Instant::now();
        while began.elapsed() < DILIGENT {
            let Page(number) = me.receive().await;
            kept = kept.wrapping_add(number.into());
        }
        sleep(ABSENT).await;
    }
}

pub(super) async fn press(me: Process<()>) -> Fallible {
    me.register("press")?;
    let mut ticks = interval(TICK);
    loop {
        ticks.tick().await;
        let archive = whereis("archive")?;
        (0..PAGES).for_each(|number| archive.send(Page(number)));
    }
}
