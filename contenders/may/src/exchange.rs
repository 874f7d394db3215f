//! Two coroutines that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::time::{Duration, Instant};

use may::coroutine::yield_now;
use may::go;
use may::sync::mpsc;
use may::sync::spsc::{Receiver, Sender, channel};
use purlin_contender::{Exchange, Payloads, Sample, Schedule, WORK_START, work};

use crate::channels::receive;

/// Pieces of `bandwidth` between two yields. Copied lists that wait must fit into the caches: with
/// [`YIELD_EVERY`](crate::messages::YIELD_EVERY) lists of 10 000 elements take longer.
pub(crate) const YIELD_COPIES: u64 = 4;

/// Runs the repetitions. `payloads` builds the payload of one side before the clock starts. The
/// payload is reused in each repetition, so that building it does not evict the caches. A side
/// yields after `yield_every` pieces.
pub(crate) fn exchange<G>(asked: Exchange, yield_every: u64, payloads: impl Fn() -> G) -> Sample
where
    G: Payloads,
    G::Message: Send + 'static,
{
    let mut elapsed = Duration::ZERO;
    let (mut sent, mut received, mut sink) = (0, 0, 0);
    let mut stores = vec![payloads(), payloads()];
    for _ in 0..asked.reps {
        let (one, one_mailbox) = channel();
        let (other, other_mailbox) = channel();
        let (ready, both_ready) = mpsc::channel();
        let mut start_side = |mailbox, partner| {
            let payloads = stores.pop().unwrap_or_else(&payloads);
            let (tell, told) = channel();
            let (side, ready) = (Side { payloads, mailbox, partner }, ready.clone());
            (tell, go!(move || side.run(asked, yield_every, &ready, &told)))
        };
        let (tell_one, one) = start_side(other_mailbox, one);
        let (tell_other, other) = start_side(one_mailbox, other);
        receive(&both_ready);
        receive(&both_ready);

        let start = Instant::now();
        let _ = tell_one.send(());
        let _ = tell_other.send(());
        let finished = [one.join(), other.join()];
        elapsed += start.elapsed();

        for done in finished.into_iter().flatten() {
            sent += done.sent;
            received += done.received;
            sink += done.x;
            stores.push(done.payloads);
        }
    }
    Sample::new(elapsed, asked.n * asked.reps, sent, received)
        .with("sink", sink)
        .with("elements", stores.iter().map(G::elements).sum::<u64>())
        .with("allocated", stores.iter().map(G::allocated).sum::<u64>())
}

/// State of one of the two coroutines.
struct Side<G: Payloads> {
    payloads: G,
    mailbox: Receiver<G::Message>,
    partner: Sender<G::Message>,
}

/// Result of one of the two coroutines.
struct Done<G> {
    payloads: G,
    sent: u64,
    received: u64,
    x: u64,
}

impl<G: Payloads> Side<G> {
    fn run(
        self,
        asked: Exchange,
        yield_every: u64,
        ready: &mpsc::Sender<()>,
        start: &Receiver<()>,
    ) -> Done<G> {
        let Side { payloads, mailbox, partner } = self;
        let mut done = Done { payloads, sent: 0, received: 0, x: WORK_START };
        let _ = ready.send(());
        let _ = start.recv();
        for (piece, due) in (1..).zip(Schedule::new(asked.n, asked.pieces)) {
            done.x = work(done.x, asked.work);
            for _ in 0..due {
                done.sent += u64::from(partner.send(done.payloads.supply()).is_ok());
            }
            if let Ok(message) = mailbox.try_recv() {
                done.received += 1;
                done.payloads.accept(message);
            }
            if piece % yield_every == 0 {
                yield_now();
            }
        }
        while done.received < asked.n {
            let Ok(message) = mailbox.recv() else { break };
            done.received += 1;
            done.payloads.accept(message);
        }
        done
    }
}
