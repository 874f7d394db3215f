//! Timers: `timers` and `timer-expiry`.

use std::time::{Duration, Instant};

use purlin::{Process, consume_budget};
use purlin_contender::{Expiries, Expiry, Sample, Timers, Window};

/// Duration of the timers that are cancelled.
const SOON: Duration = Duration::from_secs(5);

pub(crate) async fn timers(me: Process<u64>, asked: Timers) -> Sample {
    let own = me.pid();
    let mut window = Window::new(asked);
    for message in 0..asked.window {
        window.add(own.send_after(SOON, message));
        consume_budget().await;
    }
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for message in 0..asked.n {
        received += u64::from(window.take().is_some_and(|timer| timer.cancel().is_some()));
        window.add(own.send_after(SOON, message));
        sent += 1;
        consume_budget().await;
    }
    let elapsed = start.elapsed();

    let waiting = window.rest().filter(|timer| timer.cancel().is_some()).count();
    Sample::new(elapsed, asked.n, sent, received).with("waiting", waiting as u64)
}

pub(crate) async fn timer_expiry(mut me: Process<Instant>, asked: Expiry) -> Sample {
    let own = me.pid();
    let mut expiries = Expiries::new(asked);
    for due in expiries.due() {
        own.send_after(due.saturating_duration_since(Instant::now()), due);
        consume_budget().await;
    }
    expiries.all_set();
    while expiries.expired(me.receive().await) {}
    expiries.sample()
}
