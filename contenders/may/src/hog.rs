//! Round trips while other coroutines compute without pause: `hog`.

use std::time::Instant;

use may::coroutine::sleep;
use may::go;
use may::sync::mpsc::{Receiver, Sender, channel};
use purlin_contender::{Hog, Participant, Probe, Sample};

use crate::channels::receive;

/// Messages of the coroutine that starts the trips.
enum ToFirst {
    /// The timer of the trip that is due at this time has fired.
    Due(Instant),
    /// A trip that started at this time is back.
    Back(Instant),
}

pub(crate) fn hog(asked: Hog) -> Sample {
    let probe = Probe::new(asked);
    let (to_first, mailbox) = channel();
    let (to_partner, partner_mailbox) = channel();
    let (trips, timer, seat) = (probe.participant(), probe.participant(), probe.participant());
    let (fired, back) = (to_first.clone(), to_first);
    go!(move || first(&mailbox, &to_partner, &trips));
    go!(move || fire(&fired, &timer));
    go!(move || answer(&partner_mailbox, &back, seat));
    for _ in 0..asked.hogs {
        let participant = probe.participant();
        go!(move || participant.compute());
    }
    probe.run()
}

/// Sleeps until each trip is due. WHY a coroutine: may has no timer apart from a wait.
fn fire(first: &Sender<ToFirst>, trips: &Participant) {
    for due in trips.due() {
        sleep(due.saturating_duration_since(Instant::now()));
        if trips.is_over() || first.send(ToFirst::Due(due)).is_err() {
            return;
        }
    }
}

/// Starts the trips. Returns at the end of the run, which closes the partner's channel.
fn first(mailbox: &Receiver<ToFirst>, partner: &Sender<Instant>, trips: &Participant) {
    while !trips.is_over() {
        let start = match receive(mailbox) {
            None => return,
            Some(ToFirst::Due(due)) => Some(trips.start(due)),
            Some(ToFirst::Back(start)) => trips.back(start),
        };
        if let Some(start) = start {
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
