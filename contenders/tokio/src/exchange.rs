//! Two tasks that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::time::{Duration, Instant};

use purlin_contender::{Exchange, Payloads, Sample, Schedule, WORK_START, work};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::consume_budget;

/// Runs the repetitions. `payloads` builds the payload of one side before the clock starts. The
/// payload is reused in each repetition, so that building it does not evict the caches.
pub(crate) async fn exchange<G: Payloads>(asked: Exchange, payloads: impl Fn() -> G) -> Sample {
    let mut elapsed = Duration::ZERO;
    let (mut sent, mut received, mut sink) = (0, 0, 0);
    let mut stores = vec![payloads(), payloads()];
    for _ in 0..asked.reps {
        let (one, one_mailbox) = unbounded_channel();
        let (other, other_mailbox) = unbounded_channel();
        let (tell_one, told_one) = oneshot::channel();
        let (tell_other, told_other) = oneshot::channel();
        let (ready, mut both_ready) = unbounded_channel();
        let mut store = || stores.pop().unwrap_or_else(&payloads);
        let one = Side::new(store(), other_mailbox, one);
        let other = Side::new(store(), one_mailbox, other);
        let one = tokio::spawn(one.run(asked, ready.clone(), told_one));
        let other = tokio::spawn(other.run(asked, ready, told_other));
        both_ready.recv().await;
        both_ready.recv().await;

        let start = Instant::now();
        let _ = tell_one.send(());
        let _ = tell_other.send(());
        let finished = [one.await, other.await];
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

/// State of one of the two tasks.
struct Side<G: Payloads> {
    payloads: G,
    mailbox: UnboundedReceiver<G::Message>,
    partner: UnboundedSender<G::Message>,
}

/// Result of one of the two tasks.
struct Done<G> {
    payloads: G,
    sent: u64,
    received: u64,
    x: u64,
}

impl<G: Payloads> Side<G> {
    fn new(
        payloads: G,
        mailbox: UnboundedReceiver<G::Message>,
        partner: UnboundedSender<G::Message>,
    ) -> Self {
        Side { payloads, mailbox, partner }
    }

    async fn run(
        self,
        asked: Exchange,
        ready: UnboundedSender<()>,
        start: oneshot::Receiver<()>,
    ) -> Done<G> {
        let Side { payloads, mut mailbox, partner } = self;
        let mut done = Done { payloads, sent: 0, received: 0, x: WORK_START };
        let _ = ready.send(());
        let _ = start.await;
        for due in Schedule::new(asked.n, asked.pieces) {
            done.x = work(done.x, asked.work);
            for _ in 0..due {
                done.sent += u64::from(partner.send(done.payloads.supply()).is_ok());
            }
            if let Ok(message) = mailbox.try_recv() {
                done.received += 1;
                done.payloads.accept(message);
            }
            consume_budget().await;
        }
        // Closes the partner's channel, which ends its drain loop.
        drop(partner);
        while let Some(message) = mailbox.recv().await {
            done.received += 1;
            done.payloads.accept(message);
        }
        done
    }
}
