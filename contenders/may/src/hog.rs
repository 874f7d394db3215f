//! Round trips while other coroutines compute without pause: `hog`.
//!
//! The thread that serves the lab starts the trips and ends the run. It is not a worker of the
//! scheduler.

use std::time::Instant;

use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use purlin_contender::{Hog, Participant, Probe, Sample, Tell};

use crate::channels::receive;

/// Messages of the coroutine that starts the trips.
enum ToFirst {
    Told(Tell),
    Back(Instant),
}

pub(crate) fn hog(asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let (to_first, mailbox) = channel();
    let (to_partner, partner_mailbox) = channel();
    let (participant, seat) = (probe.participant(), probe.participant());
    let back = to_first.clone();
    go!(move || first(&mailbox, &to_partner, &participant));
    go!(move || answer(&partner_mailbox, &back, seat));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        go!(move || participant.compute());
    }
    probe.run(move |what| {
        let _ = to_first.send(ToFirst::Told(what));
    })
}

/// Starts the trips. Returns on `Tell::End`, which closes the partner's channel.
fn first(mailbox: &Receiver<ToFirst>, partner: &Sender<Instant>, participant: &Participant) {
    while let Some(message) = receive(mailbox) {
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
fn answer(mailbox: &Receiver<Instant>, first: &Sender<ToFirst>, _seat: Participant) {
    while let Some(start) = receive(mailbox) {
        let _ = first.send(ToFirst::Back(start));
    }
}
