//! Actor exits observed through join handles and supervision events: `monitor-churn`, `link-churn`
//! and `restart`.

use std::time::{Duration, Instant};

use purlin_contender::{Sample, Tally};
use ractor::{
    ACTIVE_STATES, Actor, ActorId, ActorProcessingErr, ActorRef, ActorStatus, RpcReplyPort,
    SupervisionEvent, call_t,
};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;
use crate::asking::CALL_TIMEOUT_MS;

/// Stops as soon as it has started.
struct Mayfly;

impl Actor for Mayfly {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn monitor_churn(n: u64) -> Outcome {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let (actor, handle) = Actor::spawn(None, Mayfly, ()).await?;
        sent += 1;
        let joined = handle.await.is_ok();
        received += u64::from(joined && actor.get_status() == ActorStatus::Stopped);
    }
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// Spawns a linked child, waits for its supervision event, and spawns the next one.
struct Linker;

struct Linking {
    n: u64,
    tally: Tally,
    child: Option<ActorId>,
    root: UnboundedSender<Tally>,
}

impl Linking {
    async fn next(&mut self, myself: &ActorRef<()>) -> Result<(), ActorProcessingErr> {
        if self.tally.sent == self.n {
            self.root.send(self.tally)?;
            myself.stop(None);
            return Ok(());
        }
        let (child, _) = Actor::spawn_linked(None, Mayfly, (), myself.get_cell()).await?;
        self.tally.sent += 1;
        self.child = Some(child.get_id());
        Ok(())
    }
}

impl Actor for Linker {
    type Msg = ();
    type State = Linking;
    type Arguments = (u64, UnboundedSender<Tally>);

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        (n, root): Self::Arguments,
    ) -> Result<Linking, ActorProcessingErr> {
        Ok(Linking { n, tally: Tally::default(), child: None, root })
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        linking: &mut Linking,
    ) -> Result<(), ActorProcessingErr> {
        linking.next(&myself).await
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<()>,
        event: SupervisionEvent,
        linking: &mut Linking,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            // No reason means that the child requested the stop.
            SupervisionEvent::ActorTerminated(child, _, None) => {
                linking.tally.received += u64::from(linking.child == Some(child.get_id()));
                linking.next(&myself).await
            }
            SupervisionEvent::ActorTerminated(..) | SupervisionEvent::ActorFailed(..) => {
                linking.next(&myself).await
            }
            _ => Ok(()),
        }
    }
}

pub(crate) async fn link_churn(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    Actor::spawn(None, Linker, (n, root)).await?;
    let tally = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), n, tally.sent, tally.received))
}

/// Fails with an error on request.
struct Crashing;

struct Crash;

type Initialised = UnboundedSender<ActorRef<Crash>>;

impl Actor for Crashing {
    type Msg = Crash;
    type State = ();
    type Arguments = Initialised;

    async fn pre_start(
        &self,
        myself: ActorRef<Crash>,
        root: Initialised,
    ) -> Result<(), ActorProcessingErr> {
        root.send(myself)?;
        Ok(())
    }

    async fn handle(
        &self,
        _: ActorRef<Crash>,
        _: Crash,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        Err("told to end".into())
    }
}

/// Spawns a new child when its child has failed.
struct Supervisor;

/// Request for the number of active children.
struct CountChildren(RpcReplyPort<u64>);

impl Actor for Supervisor {
    type Msg = CountChildren;
    type State = Initialised;
    type Arguments = Initialised;

    async fn pre_start(
        &self,
        _: ActorRef<CountChildren>,
        root: Initialised,
    ) -> Result<Initialised, ActorProcessingErr> {
        Ok(root)
    }

    async fn post_start(
        &self,
        myself: ActorRef<CountChildren>,
        root: &mut Initialised,
    ) -> Result<(), ActorProcessingErr> {
        Actor::spawn_linked(None, Crashing, root.clone(), myself.get_cell()).await?;
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<CountChildren>,
        CountChildren(reply): CountChildren,
        _: &mut Initialised,
    ) -> Result<(), ActorProcessingErr> {
        // A failed child stays in the list for a short time after its `ActorFailed` event.
        let children = myself.get_children();
        let alive = children.iter().filter(|child| ACTIVE_STATES.contains(&child.get_status()));
        reply.send(alive.count() as u64)?;
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<CountChildren>,
        event: SupervisionEvent,
        root: &mut Initialised,
    ) -> Result<(), ActorProcessingErr> {
        if let SupervisionEvent::ActorFailed(..) = event {
            Actor::spawn_linked(None, Crashing, root.clone(), myself.get_cell()).await?;
        }
        Ok(())
    }
}

pub(crate) async fn restart(n: u64, reps: u64) -> Outcome {
    let (root, mut initialised) = unbounded_channel();
    let (mut elapsed, mut restarted, mut alive) = (Duration::ZERO, 0, 0);
    for _ in 0..reps {
        let (supervisor, _) = Actor::spawn(None, Supervisor, root.clone()).await?;
        let mut child = initialised.recv().await.ok_or("there is no child")?;

        let start = Instant::now();
        for _ in 0..n {
            // A child that is still starting handles the message once it has started.
            child.cast(Crash)?;
            let next = initialised.recv().await.ok_or("there is no successor")?;
            restarted += u64::from(next.get_id() != child.get_id());
            child = next;
        }
        elapsed += start.elapsed();

        alive += call_t!(supervisor, CountChildren, CALL_TIMEOUT_MS)
            .map_err(|error| error.to_string())?;
        supervisor.stop_and_wait(None, None).await?;
    }
    Ok(Sample::new(elapsed, n * reps, n * reps, restarted).with("alive", alive))
}
