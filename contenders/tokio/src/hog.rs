//! Round trips while other tasks compute without pause: `hog`.

use std::time::Instant;

use purlin_contender::{Hog, Participant, Probe, Sample, TRIP_INTERVAL};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::interval_at;

pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let (to_first, mailbox) = unbounded_channel();
    let (to_partner, partner_mailbox) = unbounded_channel();
    runtime.spawn(first(mailbox, to_partner, probe.participant()));
    runtime.spawn(answer(partner_mailbox, to_first, probe.participant()));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        runtime.spawn(async move { participant.compute() });
    }
    probe.run()
}

/// Starts the trips at the ticks of an interval. Returns at the end of the run, which closes the partner's channel.
async fn first(
    mut mailbox: UnboundedReceiver<Instant>,
    partner: UnboundedSender<Instant>,
    trips: Participant,
) {
    let (begin, mut left) = trips.starts();
    // A missed tick fires as soon as possible: the default of `Interval`.
    let mut ticks = interval_at(begin.into(), TRIP_INTERVAL);
    while !trips.is_over() {
        let start = tokio::select! {
            due = ticks.tick(), if left > 0 => {
                left -= 1;
                Some(trips.start(due.into_std()))
            }
            Some(start) = mailbox.recv() => trips.back(start),
        };
        if let Some(start) = start {
            let _ = partner.send(start);
        }
    }
}

/// Sends each message back. Holds its participant until it ends.
async fn answer(
    mut mailbox: UnboundedReceiver<Instant>,
    first: UnboundedSender<Instant>,
    _seat: Participant,
) {
    while let Some(start) = mailbox.recv().await {
        let _ = first.send(start);
    }
}
