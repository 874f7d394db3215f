//! Two processes that compute and exchange messages: `exchange`, `message-size`, `bandwidth`
//! and `message-moved`.

use std::time::{Duration, Instant};

use purlin::{Pid, Process, consume_budget, receive, spawn};
use purlin_contender::{Exchange, Payloads, Sample, Schedule, WORK_START, work};

/// Messages of a side.
enum ToSide<M> {
    Start(Pid<ToSide<M>>),
    Message(M),
}

/// Messages of the root: a side is ready, or has finished with this result.
pub(crate) enum FromSide<G> {
    Ready,
    Finished(Done<G>),
}

/// Result of one side.
pub(crate) struct Done<G> {
    payloads: G,
    sent: u64,
    received: u64,
    x: u64,
}

/// Runs the repetitions. `build` makes the payload of one side before the clock starts. The
/// payload is reused in each repetition, so that building it does not evict the caches.
pub(crate) async fn exchange<G: Payloads>(
    mut me: Process<FromSide<G>>,
    asked: Exchange,
    build: impl Fn() -> G,
) -> Sample {
    let mut elapsed = Duration::ZERO;
    let (mut sent, mut received, mut sink) = (0, 0, 0);
    let mut stores = vec![build(), build()];
    for _ in 0..asked.reps {
        let mut store = || stores.pop().unwrap_or_else(&build);
        let (root, payload_of_one) = (me.pid(), store());
        let one = spawn(move |me| side(me, asked, payload_of_one, root));
        let (root, payload_of_other) = (me.pid(), store());
        let other = spawn(move |me| side(me, asked, payload_of_other, root));
        me.receive().await;
        me.receive().await;

        let start = Instant::now();
        one.send(ToSide::Start(other.clone()));
        other.send(ToSide::Start(one));
        let finished = [me.receive().await, me.receive().await];
        elapsed += start.elapsed();

        for done in finished {
            if let FromSide::Finished(done) = done {
                sent += done.sent;
                received += done.received;
                sink += done.x;
                stores.push(done.payloads);
            }
        }
    }
    Sample::new(elapsed, asked.n * asked.reps, sent, received)
        .with("sink", sink)
        .with("elements", stores.iter().map(G::elements).sum::<u64>())
        .with("allocated", stores.iter().map(G::allocated).sum::<u64>())
}

/// Body of one of the two processes.
async fn side<G: Payloads>(
    mut me: Process<ToSide<G::Message>>,
    asked: Exchange,
    payloads: G,
    root: Pid<FromSide<G>>,
) {
    let mut done = Done { payloads, sent: 0, received: 0, x: WORK_START };
    root.send(FromSide::Ready);
    // The partner may already have started; its messages stay in the save queue.
    let partner = receive!(me, { ToSide::Start(partner) => partner });
    for due in Schedule::new(asked.n, asked.pieces) {
        done.x = work(done.x, asked.work);
        for _ in 0..due {
            partner.send(ToSide::Message(done.payloads.supply()));
            done.sent += 1;
        }
        if let Some(message) = me.try_receive() {
            done.take_in(message);
        }
        consume_budget().await;
    }
    while done.received < asked.n {
        let message = me.receive().await;
        done.take_in(message);
    }
    root.send(FromSide::Finished(done));
}

impl<G: Payloads> Done<G> {
    fn take_in(&mut self, message: ToSide<G::Message>) {
        if let ToSide::Message(message) = message {
            self.received += 1;
            self.payloads.accept(message);
        }
    }
}
