//! Round trips while other tasks compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not a thread of the
//! runtime.

use std::time::Instant;

use purlin_contender::{Hog, Participant, Probe, Sample, Tell};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Messages of the task that starts the trips.
enum ToFirst {
    Told(Tell),
    Back(Instant),
}

pub(crate) fn hog(runtime: &Runtime, asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let (to_first, mailbox) = unbounded_channel();
    let (to_partner, partner_mailbox) = unbounded_channel();
    runtime.spawn(first(mailbox, to_partner, probe.participant()));
    runtime.spawn(answer(partner_mailbox, to_first.clone(), probe.participant()));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        runtime.spawn(async move { participant.compute() });
    }
    probe.run(move |what| {
        let _ = to_first.send(ToFirst::Told(what));
    })
}

/// Starts the trips. Returns on `Tell::End`, which closes the partner's channel.
async fn first(
    mut mailbox: UnboundedReceiver<ToFirst>,
    partner: UnboundedSender<Instant>,
    participant: Participant,
) {
    while let Some(message) = mailbox.recv().await {
        let next = match message {
            ToFirst::Told(Tell::Start(due)) => Some(due),
            ToFirst::Told(Tell::End) => return,
            ToFirst::Back(start) => participant.back(start),
        };
        if let Some(start) = next {
            let _ = partner.send(start);
        }
    }
}

/// Sends each message back. Holds its participant until it ends.
async fn answer(
    mut mailbox: UnboundedReceiver<Instant>,
    first: UnboundedSender<ToFirst>,
    _seat: Participant,
) {
    while let Some(start) = mailbox.recv().await {
        let _ = first.send(ToFirst::Back(start));
    }
}
