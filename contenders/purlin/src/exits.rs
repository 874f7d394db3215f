//! Process exits observed through monitors and links: `monitor-churn`, `link-churn` and
//! `exit-cascade`.

use std::time::{Duration, Instant};

use purlin::{Down, Exit, ExitReason, Message, Monitored, Node, Pid, Process, ProcessId, spawn};
use purlin_contender::Sample;

pub(crate) async fn monitor_churn(mut me: Process<Down>, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let (child, monitor) = me.spawn_monitor(|_: Process<()>| async {});
        sent += 1;
        let due =
            Down { monitor, process: Monitored::Process(child.id()), reason: ExitReason::Normal };
        received += u64::from(me.receive().await == due);
    }
    Sample::new(start.elapsed(), n, sent, received)
}

pub(crate) async fn link_churn(mut me: Process<Exit>, n: u64) -> Sample {
    me.trap_exit(true);
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..n {
        let child = me.spawn_link(|_: Process<()>| async {});
        sent += 1;
        let due = Exit { from: Some(child.id()), reason: ExitReason::Normal };
        received += u64::from(me.receive().await == due);
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Messages of the root of `exit-cascade`.
#[derive(Message)]
pub(crate) enum Told {
    Stands(ProcessId),
    Last(ProcessId),
    #[from]
    Down(Down),
}

pub(crate) async fn exit_cascade(mut me: Process<Told>, n: u64, reps: u64) -> Sample {
    let mut elapsed = Duration::ZERO;
    let (mut sent, mut received) = (0, 0);
    for _ in 0..reps {
        let root = me.pid();
        let first = spawn(move |me| stand(me, n, root));
        let mut chain = Vec::new();
        for _ in 0..n {
            match me.receive().await {
                Told::Stands(id) => chain.push(id),
                Told::Last(id) => {
                    chain.push(id);
                    me.monitor(id);
                }
                Told::Down(_) => {}
            }
        }
        sent += chain.len() as u64;

        let start = Instant::now();
        first.exit(ExitReason::Shutdown);
        let last = me.receive().await;
        elapsed += start.elapsed();

        if matches!(last, Told::Down(Down { reason: ExitReason::Shutdown, .. })) {
            received += gone(&chain);
        }
    }
    Sample::new(elapsed, n * reps, sent, received)
}

/// Member of the chain. `left` is the number of members from this one to the last.
async fn stand(mut me: Process<()>, left: u64, root: Pid<Told>) {
    if left > 1 {
        link_next(&me, left - 1, root.clone());
        root.send(Told::Stands(me.id()));
    } else {
        root.send(Told::Last(me.id()));
    }
    drop(root);
    me.receive().await;
}

/// WHY not in `stand`: the compiler cannot prove that a future that spawns its own type is `Send`.
fn link_next(me: &Process<()>, left: u64, root: Pid<Told>) {
    me.spawn_link(move |me| stand(me, left, root));
}

/// Returns the number of processes of the chain that have exited.
fn gone(chain: &[ProcessId]) -> u64 {
    let Some(node) = Node::current() else { return 0 };
    chain.iter().filter(|id| node.process_info(**id).is_none()).count() as u64
}
