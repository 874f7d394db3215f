//! Tests of warnings on running nodes.

use std::future::pending;
use std::time::Duration;

use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Node, Overflow, Pid, Process, Reply, SpawnOptions};
use purlin_observer::snapshot::Sampler;
use purlin_observer::warnings::{Kind, Linter, Warning};

use crate::support::PERIOD;

/// A sampled node.
struct Seen {
    node: Node,
    sampler: Sampler,
    linter: Linter,
}

impl Seen {
    fn start() -> Self {
        let node = Node::builder().workers(2).build().expect("the node starts");
        let sampler = Sampler::every(&node, PERIOD).expect("there is a thread");
        Self { node, sampler, linter: Linter::every(PERIOD) }
    }

    /// Returns the first warning of that kind. `meanwhile` is called before each snapshot.
    fn until(&mut self, kind: Kind, mut meanwhile: impl FnMut()) -> Warning {
        let _watching = self.sampler.watch();
        let mut snapshots = self.sampler.subscribe();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        loop {
            meanwhile();
            runtime.block_on(snapshots.changed()).expect("the sampler lives");
            let snapshot = snapshots.borrow_and_update().clone();
            let mut warnings = self.linter.check(&snapshot).into_iter();
            if let Some(found) = warnings.find(|warning| warning.kind == kind) {
                return found;
            }
        }
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.node.stop_blocking();
    }
}

enum Ask {
    Price(Reply<u32>),
    /// Call the other process.
    Other(Pid<Ask>),
}

async fn department(mut me: Process<Ask>) {
    loop {
        match me.receive().await {
            Ask::Price(reply) => reply.send(42),
            Ask::Other(other) => {
                // The other process may still answer if its message arrives later; then this one calls again until both
                // are calling.
                while other.call_timeout(Ask::Price, Duration::MAX).await.is_ok() {}
            }
        }
    }
}

#[test]
fn two_processes_that_call_each_other_are_named() {
    let mut seen = Seen::start();
    let [billing, stock] = ["billing", "stock"].map(|name| {
        let pid = seen.node.spawn(department);
        seen.node.register(name, &pid).expect("the name is free");
        pid
    });
    billing.send(Ask::Other(stock.clone()));
    stock.send(Ask::Other(billing.clone()));
    let found = seen.until(Kind::CallCycle, || {});
    let [mut pids, mut due] = [found.subject.processes().to_vec(), vec![billing.id(), stock.id()]];
    pids.sort();
    due.sort();
    assert_eq!(pids, due);
    let who = |name: &str, pid: &Pid<Ask>| found.line.contains(&format!("{name} ({})", pid.id()));
    assert!(who("billing", &billing) && who("stock", &stock), "{}", found.line);
}

async fn hopeless(_me: Process<()>) -> Result<(), &'static str> {
    Err("no paper")
}

#[test]
fn a_restart_storm_is_reported_with_the_childs_exit_reason() {
    let mut seen = Seen::start();
    let spec = SupervisorSpec::one_for_one().intensity(3).period(Duration::from_secs(60));
    let spec = spec.child(ChildSpec::worker("printer", hopeless));
    let on = seen.node.clone();
    let supervisor = seen.node.block_on(async move |_: Process<()>| {
        let supervisor = spec.start(&on).await.expect("its child is started, and then ends");
        // With fewer restarts the warning has another text.
        supervisor.pid().ended().await;
        supervisor.id()
    });
    let found = seen.until(Kind::RestartStorm, || {});
    assert_eq!(found.subject.processes(), [supervisor]);
    let due = "has given up: 4 restarts in 60 s, of 3 that there may be; last printer: no paper";
    assert!(found.line.ends_with(due), "{}", found.line);
}

#[test]
fn a_child_that_exceeds_its_own_intensity_is_reported_and_not_its_supervisor() {
    let mut seen = Seen::start();
    let child = ChildSpec::worker("printer", hopeless).intensity(3, Duration::from_secs(60));
    let spec = SupervisorSpec::one_for_one().child(child);
    let on = seen.node.clone();
    let supervisor = seen.node.block_on(async move |_: Process<()>| {
        spec.start(&on).await.expect("its child is started, and then ends")
    });
    // With fewer restarts the warning has another text.
    purlin_polling::until("the child is given up", || {
        seen.node.crashes().restarts.iter().any(|restarts| restarts.counted == 4)
    });
    let found = seen.until(Kind::RestartStorm, || {});
    assert_eq!(found.subject.processes(), [supervisor.id()]);
    let [line, id] = [found.line, supervisor.id().to_string()];
    let due =
        "has been given up: 4 restarts in 60 s, of 3 that there may be; last printer: no paper";
    assert!(line.starts_with("child printer of supervisor ") && line.contains(&id), "{line}");
    assert!(line.ends_with(due), "{line}");
    assert!(supervisor.pid().is_alive());
}

#[test]
fn drops_of_a_full_mailbox_are_reported() {
    let mut seen = Seen::start();
    let options = SpawnOptions::new().bound(2, Overflow::DropNewest);
    let full = options.spawn_on(&seen.node, async |_: Process<u8>| pending::<()>().await);
    let full = full.expect("there is room");
    let found = seen.until(Kind::Drops, || (0..5).for_each(|number| full.send(number)));
    // The number depends on the times of the snapshots.
    assert!(found.line.starts_with("full mailboxes dropped "), "{}", found.line);
}
