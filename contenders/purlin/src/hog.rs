//! Round trips while other processes compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not a worker.

use std::time::Instant;

use purlin::{Node, Pid, Process, spawn};
use purlin_contender::{Hog, Participant, Probe, Sample, Tell};

/// Messages of the process that starts the trips.
enum ToFirst {
    Told(Tell),
    Back(Instant),
}

/// Messages of its partner.
enum ToPartner {
    Trip(Instant),
    End,
}

pub(crate) fn hog(node: &Node, asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let participant = probe.participant();
    let first = node.spawn(move |me| first(me, participant));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        node.spawn(move |_: Process<()>| async move { participant.compute() });
    }
    probe.run(move |what| first.send(ToFirst::Told(what)))
}

async fn first(mut me: Process<ToFirst>, participant: Participant) {
    let (root, of_partner) = (me.pid(), participant.clone());
    let partner = spawn(move |me| answer(me, root, of_partner));
    loop {
        match me.receive().await {
            ToFirst::Told(Tell::Start(due)) => partner.send(ToPartner::Trip(due)),
            ToFirst::Told(Tell::End) => return partner.send(ToPartner::End),
            ToFirst::Back(start) => {
                if let Some(next) = participant.back(start) {
                    partner.send(ToPartner::Trip(next));
                }
            }
        }
    }
}

/// Sends each message back. Holds its participant until it exits.
async fn answer(mut me: Process<ToPartner>, first: Pid<ToFirst>, _seat: Participant) {
    while let ToPartner::Trip(start) = me.receive().await {
        first.send(ToFirst::Back(start));
    }
}
