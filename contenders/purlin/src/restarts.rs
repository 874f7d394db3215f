//! Supervisor that restarts its only child after each of many crashes: `restart`.

use std::time::{Duration, Instant};

use purlin::server::{self, Init, Mail, Next, Server, ServerRef};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{ExitReason, Pid, Process};
use purlin_contender::Sample;

/// Message of a started child to the root.
pub(crate) type Initialised = ServerRef<Crashing>;

/// Server that fails with an error on request.
#[derive(Debug)]
pub(crate) struct Crashing;

impl Server for Crashing {
    type Args = Pid<Initialised>;
    type Call = ();
    type Cast = ();
    type Info = ();
    type Continue = ();

    async fn init(
        root: Pid<Initialised>,
        me: &mut Process<Mail<Self>>,
    ) -> server::Result<Init<Self>> {
        root.send(ServerRef::new(me.pid()));
        Ok(Init::Ready(Self))
    }

    async fn handle_cast(
        &mut self,
        (): (),
        _: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Err("told to end".into())
    }
}

pub(crate) async fn restart(mut me: Process<Initialised>, n: u64, reps: u64) -> Sample {
    let (mut elapsed, mut restarted, mut alive) = (Duration::ZERO, 0, 0);
    for _ in 0..reps {
        let root = me.pid();
        let child =
            ChildSpec::server("child", move |me| server::start_link::<Crashing>(me, root.clone()));
        let supervisor = SupervisorSpec::one_for_one()
            .intensity(n as usize)
            .period(Duration::from_secs(1))
            .child(child)
            .start_link(&me)
            .await
            .expect("its child starts");
        let mut child = me.receive().await;

        let start = Instant::now();
        for _ in 0..n {
            child.cast(());
            let next = me.receive().await;
            restarted += u64::from(next.id() != child.id());
            child = next;
        }
        elapsed += start.elapsed();
        let children = supervisor.count_children().await.expect("it lives");
        alive += children.active as u64;
        supervisor.stop(ExitReason::Normal).await;
    }
    Sample::new(elapsed, n * reps, n * reps, restarted).with("alive", alive)
}
