//! Minimal node for the shuttle models: processes with a mailbox of one type, counters of their
//! fate, and a thread that waits for their end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use purlin_raw::{
    Address, Body, Code, End, InTurn, NodeCore, Owner, Runnable, RuntimeTypes, SendMode,
    SignalOutcome, Slot, poll_again,
};
use purlin_sched::model::{Instant, begin, forward};
use purlin_sched::{Hooks, Scheduler, Stopped, poll_after};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler as Chooser};
use shuttle::sync::{Condvar, Mutex, MutexGuard};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, MaxSteps, Runner};

/// Number of executions per shuttle scheduler, unless `ITERATIONS` is set.
const ITERATIONS: u64 = 2000;
/// PCT depth: maximum number of preemptions at chosen points in an execution.
const DEPTH: usize = 3;
/// Maximum number of steps of one execution. WHY: an execution in a livelock would not end.
const STEPS: usize = 400_000;

/// Runs a model under both shuttle schedulers and many seeds; prints the seed that fails.
pub(crate) fn model(name: &str, f: impl Fn() + Send + Sync + 'static) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let iterations = number("ITERATIONS").unwrap_or(ITERATIONS);
    let first = number("SEED").unwrap_or_else(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(name)
    });
    // WHY before the run: an execution that aborts the program cannot print it.
    eprintln!("{name}: SEED={first} ITERATIONS={iterations}");
    let f = Arc::new(f);
    for seed in (0..iterations).map(|n| first.wrapping_add(n)) {
        let run = || {
            execute(RandomScheduler::new_from_seed(seed, 1), &f);
            // WHY two iterations: PCT takes the number of steps from the first.
            execute(PctScheduler::new_from_seed(seed, DEPTH, 2), &f);
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            eprintln!(
                "it fails again with: SEED={seed} ITERATIONS=1 scripts/test-shuttle.sh {name}"
            );
            resume_unwind(panic);
        }
    }
}

fn execute(chooser: impl Chooser + 'static, f: &Arc<impl Fn() + Send + Sync + 'static>) {
    let mut config = Config::new();
    config.stack_size = 0x40000;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    // WHY: shuttle warns that it treats every ordering as sequentially consistent; the loom models
    // check the weaker ones.
    config.silence_warnings = true;
    config.failure_persistence = shuttle::FailurePersistence::None;
    let f = Arc::clone(f);
    Runner::new(chooser, config).run(move || {
        begin();
        f();
    });
}

/// Message: its sender and its number.
pub(crate) type Mail = (usize, usize);
pub(crate) type Me = Owner<Plain, Mail>;
pub(crate) type Pid = Address<Plain, Mail>;

/// Runtime types of processes without signals.
pub(crate) struct Plain;

impl RuntimeTypes for Plain {
    type Signal = ();
    type Local = ();
    type Shared = Alive;
    type ExitStatus = ();
    type NodeState = Arc<Tally>;

    fn has_state(_: &()) -> bool {
        false
    }

    fn closed(counters: &Arc<Tally>, end: &End<'_, Self>, _: &mut ()) {
        counters.dropped.fetch_add(end.dropped, Ordering::Relaxed);
    }

    fn undelivered(_: &Arc<Tally>, _: &mut (), _: ()) {}
}

/// Part of a process cell that counts when the cell is freed.
pub(crate) struct Alive(Arc<Tally>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.freed.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counters of processes and messages. WHY std's atomics: a model need not switch threads there.
#[derive(Default)]
pub(crate) struct Tally {
    spawned: AtomicUsize,
    freed: AtomicUsize,
    pub(crate) accepted: AtomicUsize,
    pub(crate) received: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
    ended: Mutex<usize>,
    changed: Condvar,
    /// Faults found in a process. WHY not a panic: a panic must not unwind out of a turn.
    faults: Mutex<Vec<String>>,
}

impl Tally {
    fn ended(&self) -> usize {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn one_ended(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    pub(crate) fn demand(&self, holds: bool, what: impl Into<String>) {
        if !holds {
            self.faults.lock().unwrap_or_else(PoisonError::into_inner).push(what.into());
        }
    }
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Future of a process and the counters of its node; `None` once it has ended.
struct Modelled<const BLOCKING: bool>(Option<(Running, Arc<Tally>)>);

impl<const BLOCKING: bool> Body<Plain, Mail> for Modelled<BLOCKING> {
    const BLOCKING: bool = BLOCKING;
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        _: InTurn<'_, Plain, Mail>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let this = code.start().expect("no turn takes it");
        let Some((future, _)) = &mut this.0 else { return Poll::Pending };
        let polled = future.as_mut().poll(cx);
        if polled.is_ready()
            && let Some((_, counters)) = this.0.take()
        {
            counters.one_ended();
        }
        polled
    }

    fn name() -> &'static str {
        "code of a model"
    }
}

/// Scheduler, its processes and their counters.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) scheduler: Scheduler,
    node_core: NodeCore<Plain>,
    pub(crate) counters: Arc<Tally>,
    /// Threads that run turns of blocking processes.
    elsewhere: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Hooks for Node {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        self.node_core.enter(run);
    }

    fn offload(&self, runnable: Runnable) {
        let scheduler = self.scheduler.clone();
        let thread = thread::spawn(move || scheduler.run_detached_turn(runnable));
        self.elsewhere().push(thread);
    }

    fn stalled(&self, _: Slot, _: Instant) {}

    fn stall_ended(&self, _: Slot, _: Duration) {}

    fn threads_exhausted(&self, why: &str) {
        self.counters.demand(false, why);
    }
}

impl Node {
    pub(crate) fn start(workers: usize) -> Self {
        let scheduler = Scheduler::new(workers);
        let counters = Arc::<Tally>::default();
        let node_core = NodeCore::new(scheduler.host(), Arc::clone(&counters), 64, workers);
        let node = Self { scheduler, node_core, counters, elsewhere: Arc::default() };
        node.scheduler.start("model", Arc::new(node.clone())).expect("threads begin");
        node
    }

    fn elsewhere(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn spawn<F>(&self, code: impl FnOnce(Me) -> F) -> Pid
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_code::<false, F>(code)
    }

    /// Spawns a process whose turns may block.
    pub(crate) fn spawn_blocking<F>(&self, code: impl FnOnce(Me) -> F) -> Pid
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawn_code::<true, F>(code)
    }

    fn spawn_code<const BLOCKING: bool, F>(&self, code: impl FnOnce(Me) -> F) -> Pid
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.counters.spawned.fetch_add(1, Ordering::Relaxed);
        let alive = Alive(Arc::clone(&self.counters));
        let counters = Arc::clone(&self.counters);
        let make = |(), me| Modelled::<BLOCKING>(Some((Box::pin(code(me)), counters)));
        self.node_core
            .spawn(alive, (), (), (), make)
            .unwrap_or_else(|_| panic!("the table is full"))
    }

    /// Sends a message. Returns `false` if it was rejected.
    pub(crate) fn send(&self, to: &Pid, mail: Mail) -> bool {
        let accepted = to.send(mail, SendMode::Send).is_ok();
        self.counters.accepted.fetch_add(usize::from(accepted), Ordering::Relaxed);
        accepted
    }

    /// Waits for the next message.
    pub(crate) async fn receive(&self, me: &Me) -> Mail {
        let receive = |me: InTurn<'_, Plain, Mail>| {
            let mail = me.mailbox().receive(|()| SignalOutcome::Nothing);
            if mail.is_none() {
                me.mailbox().listen();
            }
            mail
        };
        let mail = poll_fn(|_| {
            let outside = || {
                self.counters.demand(false, "a process received outside of its turn");
                None
            };
            me.in_turn(receive, outside).map_or(Poll::Pending, Poll::Ready)
        });
        let mail = mail.await;
        self.counters.received.fetch_add(1, Ordering::Relaxed);
        mail
    }

    /// Waits until all processes have ended, without advancing the clock: progress depends on
    /// wake-ups alone. A lost wake-up is a deadlock, which shuttle reports.
    pub(crate) fn all_end(&self) {
        let mut ended = self.counters.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while *ended < self.counters.spawned.load(Ordering::Relaxed) {
            ended = self.counters.changed.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Like `all_end`, but advances the clock, so that sysmon ticks now and then.
    pub(crate) fn all_end_in_time(&self, step: Duration) {
        while self.counters.ended() < self.counters.spawned.load(Ordering::Relaxed) {
            forward(step);
            thread::yield_now();
        }
    }

    /// Stops the node and asserts the invariants: every process has ended once and its cell was
    /// freed once; every message was received or dropped; every thread ends. The model must have
    /// dropped all pids.
    pub(crate) fn stop(self) {
        let stopped = self.scheduler.stop(Duration::from_secs(1));
        assert_eq!(stopped, Stopped::All);
        assert_eq!(self.scheduler.threads(), 0);
        // No thread adds to the list any more.
        let elsewhere = std::mem::take(&mut *self.elsewhere());
        elsewhere.into_iter().for_each(|thread| thread.join().expect("it runs a turn"));
        let counters = &*self.counters;
        let faults = counters.faults.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(faults.is_empty(), "{faults:?}");
        let [spawned, freed] =
            [&counters.spawned, &counters.freed].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counters.ended(), spawned, "processes ended");
        assert_eq!(freed, spawned, "cells freed");
        assert!(self.node_core.is_empty(), "an ended process is in the table");
        let [accepted, received, dropped] =
            [&counters.accepted, &counters.received, &counters.dropped]
                .map(|count| count.load(Ordering::Relaxed));
        assert_eq!(accepted, received + dropped, "messages were lost or doubled");
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

/// Lets the process `called` run if this one has just woken it on its worker.
pub(crate) async fn runs_after(called: &Pid) {
    let mut deferred = false;
    poll_fn(|cx| {
        deferred = !deferred && poll_after(called, cx.waker());
        if deferred { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

/// Returns the waker of the current process.
pub(crate) async fn waker() -> Waker {
    poll_fn(|cx| Poll::Ready(cx.waker().clone())).await
}
