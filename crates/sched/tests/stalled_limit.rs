//! Limit on the number of detached threads.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use purlin_polling::{HANG, until};
use purlin_raw::{Body, Code, End, InTurn, NodeCore, Runnable, RuntimeTypes, Slot};
use purlin_sched::{Hooks, Scheduler, Stopped};

/// The limit stated in `SEMANTICS.md` (F2).
const LIMIT: usize = 512;

/// Runtime types of processes without signals or state.
struct Plain;

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

/// Hooks that forward the scheduler's reports of failed hand-offs to the test.
struct Workers(NodeCore<Plain>, Mutex<Sender<String>>);

impl Hooks for Workers {
    fn thread(&self, _: usize, run: &mut dyn FnMut()) {
        self.0.enter(run);
    }

    fn offload(&self, _: Runnable) {}

    fn stalled(&self, _: Slot, _: Instant) {}

    fn stall_ended(&self, _: Slot, _: Duration) {}

    fn threads_exhausted(&self, why: &str) {
        self.1.lock().expect("no holder panics").send(why.to_owned()).expect("the test listens");
    }
}

/// A counting semaphore.
#[derive(Debug, Default)]
struct Gate(Mutex<usize>, Condvar);

impl Gate {
    fn pass(&self) {
        let free = self.0.lock().expect("no holder panics");
        let mut free = self.1.wait_while(free, |free| *free == 0).expect("no holder panics");
        *free -= 1;
    }

    fn open(&self, permits: usize) {
        *self.0.lock().expect("no holder panics") += permits;
        self.1.notify_all();
    }
}

/// Process that reports to the test, blocks its thread at the gate if there is one, and ends.
struct Once(Sender<()>, Option<Arc<Gate>>);

impl Body<Plain, ()> for Once {
    type Bound = ();
    type Future = Infallible;

    fn turn(mut code: Code<'_, Self>, _: InTurn<'_, Plain, ()>, _: &mut Context<'_>) -> Poll<()> {
        let this = code.start().expect("no turn takes it");
        this.0.send(()).expect("the test listens");
        if let Some(gate) = &this.1 {
            gate.pass();
        }
        Poll::Ready(())
    }

    fn name() -> &'static str {
        "once"
    }
}

fn spawn(node_core: &NodeCore<Plain>, started: Sender<()>, gate: Option<Arc<Gate>>) {
    let process =
        node_core.spawn((), (), (), (started, gate), |(started, gate), _| Once(started, gate));
    drop(process.expect("there is room"));
}

fn comes<T>(receiver: &Receiver<T>, what: &str) -> T {
    receiver.recv_timeout(HANG).unwrap_or_else(|error| panic!("{what}: {error}"))
}

// F2: at most 512 such processes at a time; past the limit other processes may wait
#[test]
fn past_512_blocked_threads_the_next_process_waits_until_one_of_them_ends() {
    let scheduler = Scheduler::new(1);
    let node_core = NodeCore::<Plain>::new(scheduler.host(), (), 1024, 1);
    let (complain, complaints) = channel();
    let workers = Workers(node_core.clone(), Mutex::new(complain));
    scheduler.start("limit", Arc::new(workers)).expect("threads start");
    let gate = Arc::<Gate>::default();
    let (began, begins) = channel();
    // The last of these processes stalls the worker and its core is not handed off.
    for number in 0..=LIMIT {
        spawn(&node_core, began.clone(), Some(Arc::clone(&gate)));
        comes(&begins, &format!("process {number} is held up"));
    }
    let (ran, runs) = channel();
    spawn(&node_core, ran, None);
    let complaint = comes(&complaints, "nothing is said of the limit");
    assert_eq!(complaint, "512 threads are held up already");
    let (before, _) = scheduler.sysmon_ticks();
    until("the monitor has looked 20 times", || scheduler.sysmon_ticks().0 >= before + 20);
    assert_eq!(scheduler.stalled().len(), LIMIT);
    assert!(runs.try_recv().is_err(), "no thread is left for it");

    gate.open(1);
    comes(&runs, "it does not run though a thread has ended");
    assert_eq!(scheduler.stalled().len(), LIMIT);
    assert!(complaints.try_recv().is_err(), "it is said once");

    gate.open(LIMIT);
    assert_eq!(scheduler.stop(HANG), Stopped::All);
    assert_eq!(scheduler.threads(), 0);
}
