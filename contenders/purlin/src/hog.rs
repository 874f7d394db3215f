//! Round trips while other processes compute without pause: `hog`.

use std::time::Instant;

use purlin::{Node, Pid, Process, spawn};
use purlin_contender::{Hog, Participant, Probe, Sample};

/// Messages of the process that starts the trips.
enum ToFirst {
    /// A timer has fired that was due at this time.
    Due(Instant),
    Back(Instant),
}

pub(crate) fn hog(node: &Node, asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let participant = probe.participant();
    node.spawn(move |me| first(me, participant));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        node.spawn(move |_: Process<()>| async move { participant.compute() });
    }
    probe.run()
}

/// Sets a timer for each trip, and starts the trips.
async fn first(mut me: Process<ToFirst>, trips: Participant) {
    let (root, of_partner) = (me.pid(), trips.clone());
    let partner = spawn(move |me| answer(me, root, of_partner));
    let own = me.pid();
    for due in trips.due() {
        own.send_after(due.saturating_duration_since(Instant::now()), ToFirst::Due(due));
    }
    while !trips.is_over() {
        let start = match me.receive().await {
            ToFirst::Due(due) => Some(trips.start(due)),
            ToFirst::Back(start) => trips.back(start),
        };
        if let Some(start) = start {
            partner.send(Some(start));
        }
    }
    partner.send(None);
}

/// Sends each message back. Holds its participant until it exits.
async fn answer(mut me: Process<Option<Instant>>, first: Pid<ToFirst>, _seat: Participant) {
    while let Some(start) = me.receive().await {
        first.send(ToFirst::Back(start));
    }
}
