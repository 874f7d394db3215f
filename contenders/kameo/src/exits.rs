//! Actor exits observed through join handles, links and supervision: `monitor-churn`, `link-churn`
//! and `restart`.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kameo::error::ActorStopReason;
use kameo::prelude::*;
use kameo::supervision::RestartPolicy;
use purlin_contender::{Sample, Tally};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// Does nothing, and stops when the last reference to it is dropped.
#[derive(Actor)]
struct Mayfly;

pub(crate) async fn monitor_churn(n: u64) -> Outcome {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let end = Mayfly::prepare().spawn(Mayfly);
        sent += 1;
        received += u64::from(matches!(end.await, Ok(Ok((_, ActorStopReason::Normal)))));
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// Spawns a linked child, waits for `on_link_died`, and spawns the next one.
struct Linker {
    n: u64,
    tally: Tally,
    child: Option<ActorId>,
    root: UnboundedSender<Tally>,
}

impl Linker {
    async fn next(&mut self, myself: &ActorRef<Self>) {
        if self.tally.sent == self.n {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(self.tally);
            return;
        }
        let child = Mayfly::spawn_link(myself, Mayfly).await;
        self.tally.sent += 1;
        self.child = Some(child.id());
    }
}

impl Actor for Linker {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut linker: Self, myself: ActorRef<Self>) -> Result<Self, Infallible> {
        linker.next(&myself).await;
        Ok(linker)
    }

    async fn on_link_died(
        &mut self,
        myself: WeakActorRef<Self>,
        id: ActorId,
        reason: ActorStopReason,
    ) -> Result<ControlFlow<ActorStopReason>, Infallible> {
        let due = reason.is_normal() && self.child == Some(id);
        self.tally.received += u64::from(due);
        if let Some(myself) = myself.upgrade() {
            self.next(&myself).await;
        }
        Ok(ControlFlow::Continue(()))
    }
}

pub(crate) async fn link_churn(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let linker = Linker::spawn(Linker { n, tally: Tally::default(), child: None, root });
    let tally = reports.recv().await.unwrap_or_default();
    let elapsed = start.elapsed();

    drop(linker);
    Ok(Sample::new(elapsed, n, tally.sent, tally.received))
}

/// Supervises its child and handles no messages.
#[derive(Actor)]
struct Supervisor;

/// Reports that it has started, and fails with an error on request.
struct Crashing;

struct Crash;

impl Actor for Crashing {
    type Args = UnboundedSender<()>;
    type Error = Infallible;

    async fn on_start(root: Self::Args, _: ActorRef<Self>) -> Result<Self, Infallible> {
        // The root counts the reports: a failed send is missing in the result.
        let _ = root.send(());
        Ok(Crashing)
    }
}

impl Message<Crash> for Crashing {
    type Reply = Result<(), &'static str>;

    async fn handle(&mut self, _: Crash, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        Err("told to end")
    }
}

pub(crate) async fn restart(n: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut restarted, mut alive) = (Duration::ZERO, 0, 0);
    for _ in 0..reps {
        let (root, mut initialised) = unbounded_channel();
        let supervisor = Supervisor::spawn(Supervisor);
        let child = Crashing::supervise_with(&supervisor, move || root.clone())
            .restart_policy(RestartPolicy::Permanent)
            .restart_limit(u32::try_from(n)?, Duration::from_secs(1))
            .spawn()
            .await;
        initialised.recv().await;

        let start = Instant::now();
        for _ in 0..n {
            child.tell(Crash).send().await?;
            restarted += u64::from(initialised.recv().await.is_some());
        }
        elapsed += start.elapsed();

        alive += u64::from(child.is_alive());
        supervisor.stop_gracefully().await?;
        supervisor.wait_for_shutdown().await;
    }
    Ok(Sample::new(elapsed, n * reps, n * reps, restarted).with("alive", alive))
}
