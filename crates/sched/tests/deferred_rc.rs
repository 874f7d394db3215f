//! A sleeping worker holds no deferred references: before it sleeps, cells that nothing else refers
//! to are freed, and messages sent by their destructors arrive.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use purlin_polling::HANG;
use purlin_raw::{
    Address, Body, Code, End, InTurn, NodeCore, Runnable, RuntimeTypes, SendMode, SignalOutcome,
    Slot,
};
use purlin_sched::{Hooks, Scheduler, Stopped};

/// Runtime types of processes that end with a [`Will`].
struct Wills;

impl RuntimeTypes for Wills {
    type Signal = ();
    type Local = ();
    type Shared = ();
    type ExitStatus = Option<Will>;
    type NodeState = ();

    fn has_state((): &()) -> bool {
        false
    }

    fn closed((): &(), _: &End<'_, Self>, (): &mut ()) {}

    fn undelivered((): &(), (): &mut (), (): ()) {}
}

/// Sends a message to its heir when the cell that contains it is freed.
struct Will(Address<Wills, ()>);

impl Drop for Will {
    fn drop(&mut self) {
        self.0.send((), SendMode::Send).expect("the heir lives");
    }
}

struct Workers(NodeCore<Wills>);

impl Hooks for Workers {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        self.0.enter(run);
    }

    fn offload(&self, _: Runnable) {}

    fn stalled(&self, _: Slot, _: Instant) {}

    fn stall_ended(&self, _: Slot, _: Duration) {}

    fn threads_exhausted(&self, _: &str) {}
}

/// Process that reports to the test and ends when it receives a message.
struct Heir(Sender<()>);

impl Body<Wills, ()> for Heir {
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, Wills, ()>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Will>> {
        if me.mailbox().receive(|()| SignalOutcome::Nothing).is_none() {
            me.mailbox().listen();
            return Poll::Pending;
        }
        code.start().expect("no turn takes it").0.send(()).expect("the test waits");
        Poll::Ready(None)
    }

    fn name() -> &'static str {
        "heir"
    }
}

/// Process that ends in its first turn with a will as its exit status.
struct Testator(Option<Will>);

impl Body<Wills, ()> for Testator {
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        _: InTurn<'_, Wills, ()>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Will>> {
        Poll::Ready(code.start().expect("no turn takes it").0.take())
    }

    fn name() -> &'static str {
        "testator"
    }
}

/// Process that drops an address, reports to the test, and ends when the test allows it.
struct Holder(Option<Address<Wills, ()>>, Sender<()>, Receiver<()>);

impl Body<Wills, ()> for Holder {
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        _: InTurn<'_, Wills, ()>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Will>> {
        let this = code.start().expect("no turn takes it");
        drop(this.0.take());
        this.1.send(()).expect("the test waits");
        this.2.recv().expect("the test lets it go");
        Poll::Ready(None)
    }

    fn name() -> &'static str {
        "owner"
    }
}

/// Process that ends, and leaves the last reference to a [`Testator`] deferred at its worker.
struct Owner {
    scheduler: Scheduler,
    address: Address<Wills, ()>,
    may_end: Sender<()>,
    will_is_done: Receiver<()>,
}

fn owner() -> Owner {
    let scheduler = Scheduler::new(1);
    let node_core = NodeCore::<Wills>::new(scheduler.host(), (), 10, 1);
    scheduler.start("credit", Arc::new(Workers(node_core.clone()))).expect("threads start");
    let (done, will_is_done) = channel();
    let heir = node_core.spawn((), (), (), done, |done, _| Heir(done)).expect("there is room");
    let testator = node_core.spawn((), (), (), Will(heir), |will, _| Testator(Some(will)));
    let testator = testator.unwrap_or_else(|_| panic!("the table is full"));
    let (dropped, is_dropped) = channel();
    let (may_end, ends) = channel();
    let stuff = (testator.clone(), dropped, ends);
    let address = node_core.spawn((), (), (), stuff, |(testator, dropped, ends), _| {
        Holder(Some(testator), dropped, ends)
    });
    is_dropped.recv().expect("the owner runs");
    drop(testator);
    let address = address.unwrap_or_else(|_| panic!("the table is full"));
    Owner { scheduler, address, may_end, will_is_done }
}

#[test]
fn a_worker_frees_deferred_cells_before_it_sleeps() {
    let Owner { scheduler, address, may_end, will_is_done } = owner();
    may_end.send(()).expect("the owner waits");
    will_is_done.recv_timeout(HANG).expect("the will is done");
    drop(address);
    assert_eq!(scheduler.stop(HANG), Stopped::All);
}

#[test]
fn a_worker_frees_deferred_cells_before_it_stops() {
    let Owner { scheduler, address, may_end, will_is_done } = owner();
    // WHY no number: sysmon may have handed the core off, or may not have ended yet.
    assert!(matches!(scheduler.stop(Duration::ZERO), Stopped::Except(_)));
    may_end.send(()).expect("the owner waits");
    will_is_done.recv_timeout(HANG).expect("the will is done");
    drop(address);
    assert_eq!(scheduler.stop(HANG), Stopped::All);
}
