//! Minimal node on simulated cores: the worker loop of `purlin-sched` and the processes of
//! `purlin-raw`.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_raw::{
    Address, Body, Code, End, InTurn, NodeCore, Owner, Runnable, RuntimeTypes, SendMode,
    SignalOutcome, Slot, poll_again, spend_budget, spend_budget_on_receive,
};
use purlin_sched::{Hooks, Scheduler};
use purlin_simulator::sync::{Condvar, Mutex};
use purlin_simulator::{Instant, work};

/// Computing of the runtime, in nanoseconds, apart from the accesses that the model charges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuntimeWork {
    /// A turn: taking the process from the queue, polling it, putting it to sleep.
    pub(crate) turn: f64,
    /// A spawn and the end of a process.
    pub(crate) spawn: f64,
    /// A send.
    pub(crate) send: f64,
    /// A receive.
    pub(crate) receive: f64,
}

pub(crate) type Me = Owner<Plain, u64>;
pub(crate) type Pid = Address<Plain, u64>;

/// Runtime types of processes without signals.
pub(crate) struct Plain;

impl RuntimeTypes for Plain {
    type Signal = ();
    type Local = ();
    type Shared = ();
    type ExitStatus = ();
    type NodeState = ();

    fn has_state((): &()) -> bool {
        false
    }

    fn closed((): &(), _: &End<'_, Self>, (): &mut ()) {}

    fn undelivered((): &(), (): &mut (), (): ()) {}
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Future of a process, and the work of one turn.
struct Experiment(Running, f64);

impl Body<Plain, u64> for Experiment {
    const BLOCKING: bool = false;
    type Bound = ();
    type Future = Infallible;

    fn turn(mut code: Code<'_, Self>, _: InTurn<'_, Plain, u64>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(Self(future, time)) = code.start() else { return Poll::Pending };
        work(*time);
        future.as_mut().poll(cx)
    }

    fn name() -> &'static str {
        "process of an experiment"
    }
}

/// Number of processes of an experiment that have not ended, for the thread that waits for them.
#[derive(Default)]
struct Rest {
    count: Mutex<usize>,
    changed: Condvar,
}

/// Scheduler and its processes.
#[derive(Clone)]
pub(crate) struct Node {
    scheduler: Scheduler,
    core: NodeCore<Plain>,
    cost: RuntimeWork,
    rest: Arc<Rest>,
}

impl Hooks for Node {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        self.core.enter(run);
    }

    fn offload(&self, _: Runnable) {
        unreachable!("no process blocks");
    }

    fn stalled(&self, _: Slot, _: Instant) {}

    fn stall_ended(&self, _: Slot, _: Duration) {}

    fn threads_exhausted(&self, why: &str) {
        panic!("{why}");
    }
}

impl Node {
    /// Starts a node. Its workers and sysmon take a core each.
    pub(crate) fn start(workers: usize, cost: RuntimeWork) -> Self {
        let scheduler = Scheduler::new(workers);
        let core = NodeCore::new(scheduler.host(), (), 1 << 16, workers);
        let node = Self { scheduler, core, cost, rest: Arc::default() };
        node.scheduler.start("node", Arc::new(node.clone())).expect("threads start");
        node
    }

    pub(crate) fn spawn<F>(&self, code: impl FnOnce(Me) -> F) -> Pid
    where
        F: Future<Output = ()> + Send + 'static,
    {
        work(self.cost.spawn);
        let turn = self.cost.turn;
        let make = |(), me| Experiment(Box::pin(code(me)), turn);
        self.core.spawn((), (), (), (), make).unwrap_or_else(|_| panic!("the table is full"))
    }

    pub(crate) fn send(&self, to: &Pid, message: u64) {
        work(self.cost.send);
        assert!(to.send(message, SendMode::Send).is_ok(), "the receiver has ended");
    }

    /// Spends a unit of the turn's budget, and waits for the next message.
    pub(crate) async fn receive(&self, me: &Me) -> u64 {
        let receive = |me: InTurn<'_, Plain, u64>| {
            let message = me.mailbox().receive(|()| SignalOutcome::Nothing);
            if message.is_none() {
                me.mailbox().listen();
            }
            message
        };
        while !spend_budget_on_receive() {
            let fetch =
                |me: InTurn<'_, Plain, u64>| me.mailbox().fetch(false, |()| SignalOutcome::Nothing);
            me.in_turn(fetch, || 0);
            yields().await;
        }
        let message = poll_fn(|_| me.in_turn(receive, || None).map_or(Poll::Pending, Poll::Ready));
        let message = message.await;
        work(self.cost.receive);
        message
    }

    /// Expects `count` calls of [`Node::done`].
    pub(crate) fn expect(&self, count: usize) {
        *self.rest.count.lock().unwrap_or_else(PoisonError::into_inner) += count;
    }

    /// Called by a process that the experiment waits for.
    pub(crate) fn done(&self) {
        let mut count = self.rest.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            self.rest.changed.notify_all();
        }
    }

    /// Waits for all expected calls of [`Node::done`].
    pub(crate) fn wait(&self) {
        let mut count = self.rest.count.lock().unwrap_or_else(PoisonError::into_inner);
        while *count > 0 {
            count = self.rest.changed.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn stop(self) {
        let _ = self.scheduler.stop(Duration::from_secs(1));
    }
}

/// Yields to the other processes.
pub(crate) async fn yields() {
    let mut before = true;
    poll_fn(|cx| {
        if std::mem::take(&mut before) {
            poll_again(cx.waker());
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// Spends two units of the turn's budget, and yields if it is used up.
pub(crate) async fn consume_budget() {
    if !(spend_budget() && spend_budget()) {
        yields().await;
    }
}
