//! Timers: delayed messages, intervals and receive deadlines. In virtual time, except for what only
//! the machine's clock shows.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::common::{DropCounter, HANG, PanicsWhenDropped, Token, here, node, stop};
use crate::waiting::{MS, simulated, uptime};
use purlin::{
    ExitReason, Node, Overflow, Pid, Process, SpawnOptions, Timer, receive, spawn, yield_now,
};
use purlin_testkit::Simulation;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

// N3: on the machine's clock
#[purlin::test]
async fn a_timer_message_is_never_early(mut me: Process<(Duration, Instant)>) {
    // WHY real time: a timer could only be early by the machine's clock. No upper bound is
    // asserted.
    for micros in [1, 300, 1_000, 1_048, 1_049, 2_500, 7_000, 20_000] {
        let time = Duration::from_micros(micros);
        let timer = me.pid().send_after(time, (time, Instant::now()));
        let (time, set) = me.receive().await;
        assert!(set.elapsed() >= time, "{:?} instead of {time:?}", set.elapsed());
        assert_eq!(timer.cancel(), None);
        assert_eq!(timer.read(), None);
    }
}

// N3: `cancel` returns the remaining time once, and the message is not sent
#[test]
fn a_timer_cancelled_in_time_sends_nothing() {
    simulated(async |mut me: Process<&'static str>| {
        let early = me.pid().send_after(MINUTE, "never");
        assert_eq!((early.read(), early.cancel()), (Some(MINUTE), Some(MINUTE)));
        assert_eq!((early.cancel(), early.read()), (None, None));
        // The same for a timer that has already been running.
        let running = me.pid().send_after(MINUTE, "never");
        me.pid().send_after(2 * MS, "meanwhile");
        assert_eq!(me.receive().await, "meanwhile");
        assert_eq!(running.cancel(), Some(MINUTE - 2 * MS));
        me.pid().send_after(2 * MINUTE, "later");
        assert_eq!((me.receive().await, uptime()), ("later", 2 * MINUTE + 2 * MS));
    });
}

// N3: timers of zero and of unlimited duration
#[purlin::test]
async fn a_zero_delay_sends_immediately_and_an_unlimited_one_never(mut me: Process<u8>) {
    let never = me.pid().send_after(Duration::MAX, 1);
    assert_eq!(me.pid().send_after(Duration::ZERO, 2).cancel(), None);
    assert_eq!(me.try_receive(), Some(2));
    yield_now().await;
    assert!(never.cancel().unwrap() > 365 * 24 * 60 * MINUTE);
}

// N3, M4: the message is dropped when the timer fires, and counted
#[test]
fn a_timer_message_to_an_ended_process_is_dropped_and_counted() {
    let mut simulation = Simulation::new(0);
    let node = simulation.node().clone();
    let drop_counter = DropCounter::default();
    let dead = node.spawn(async |_: Process<(Token, PanicsWhenDropped)>| {});
    simulation.advance(Duration::ZERO);
    let before = node.dropped_messages();
    let message = || (drop_counter.token(), PanicsWhenDropped("a destructor of the user's"));
    node.send_after(&dead, MS, message());
    let later = node.send_after(&dead, MINUTE, message());
    simulation.advance(MS);
    assert_eq!((drop_counter.dropped(), node.dropped_messages() - before), (1, 1));
    assert_eq!(later.cancel(), Some(MINUTE - MS));
    assert_eq!((drop_counter.dropped(), node.dropped_messages() - before), (2, 1));
}

// N3, E1: pending messages are dropped once
#[test]
fn pending_timer_messages_are_dropped_when_the_node_stops() {
    let node = node(2);
    let drop_counter = DropCounter::default();
    let tokens: Vec<_> = (0..100).map(|_| drop_counter.token()).collect();
    let waits = node.spawn(async |mut me: Process<_>| drop(me.receive().await));
    let timers: Vec<_> =
        tokens.into_iter().map(|token| node.send_after(&waits, DAY, token)).collect();
    stop(&node);
    assert_eq!(drop_counter.dropped(), 100);
    assert!(timers.iter().all(|timer| timer.cancel().is_none() && timer.read().is_none()));
    drop(node.send_after(&waits, DAY, drop_counter.token()));
    assert_eq!(drop_counter.dropped(), 101);
}

// N3: from a thread that is not a worker, while all workers sleep until a much later deadline
#[test]
fn a_timer_set_from_outside_wakes_a_worker_with_a_later_deadline() {
    let node = node(2);
    let (tx, rx) = std::sync::mpsc::channel();
    let gets = node.spawn(async move |mut me: Process<Instant>| {
        me.pid().send_after(DAY, Instant::now());
        loop {
            tx.send(me.receive().await.elapsed()).unwrap();
        }
    });
    for _ in 0..20 {
        node.send_after(&gets, 2 * MS, Instant::now());
        // WHY real time: worker threads sleep by the machine's clock. A worker that is not woken
        // sleeps for a day.
        let took = rx.recv_timeout(HANG).expect("the worker is woken");
        assert!(took >= 2 * MS, "{took:?}");
    }
    stop(&node);
}

#[test]
#[should_panic(
    expected = "a timer was set outside a node: this thread runs no process; use Node::send_after"
)]
fn setting_a_timer_on_a_thread_without_a_node_panics() {
    let node = node(1);
    let pid = node.spawn(async |mut me: Process<()>| me.receive().await);
    stop(&node);
    pid.send_after(MS, ());
}

// N3: every timer is either sent or cancelled, from whichever process it is cancelled
#[test]
fn every_timer_is_either_sent_or_cancelled() {
    // WHY real time: timers fire on threads while other threads cancel them. Every timer is counted
    // as sent or as cancelled, at any speed.
    const EACH: u64 = 5_000;
    let node = node(2);
    let (sent, cancelled) = node.block_on(|mut me: Process<Option<u64>>| async move {
        let mut setters = Vec::new();
        for seed in 0..4_u64 {
            let to = me.pid();
            // One process sets timers, another cancels them, on any worker.
            let canceller = spawn(async move |mut me: Process<Option<Timer>>| {
                let mut cancelled = 0;
                while let Some(timer) = me.receive().await {
                    cancelled += u64::from(timer.cancel().is_some());
                }
                to.send(Some(cancelled));
            });
            let to = me.pid();
            setters.push(spawn(async move |_: Process<()>| {
                for n in 0..EACH {
                    let time = Duration::from_micros((n * 7919 + seed * 104_729) % 4_000);
                    canceller.send(Some(to.send_after(time, None)));
                    if n % 16 == 0 {
                        yield_now().await;
                    }
                }
                canceller.send(None);
            }));
        }
        let (mut sent, mut cancelled, mut answers) = (0, 0, 0);
        while answers < 4 {
            match me.receive().await {
                None => sent += 1,
                Some(count) => (cancelled, answers) = (cancelled + count, answers + 1),
            }
        }
        // Timers that fired before they were cancelled may still have messages in flight.
        while sent + cancelled < 4 * EACH {
            assert_eq!(me.receive().await, None);
            sent += 1;
        }
        me.pid().send_after(20 * MS, Some(0));
        assert_eq!(me.receive().await, Some(0), "more came than was set");
        (sent, cancelled)
    });
    assert_eq!(sent + cancelled, 4 * EACH);
    stop(&node);
}

// N3: the n-th message is sent at n periods, regardless of how long the receiver took
#[test]
fn an_interval_does_not_drift_and_stops_when_it_is_cancelled() {
    simulated(async |mut me: Process<u32>| {
        let mut count = 0;
        let ticks = me.pid().send_interval(3 * MS, move || {
            count += 1;
            count
        });
        for n in 1..=20 {
            assert_eq!((me.receive().await, uptime()), (n, n * 3 * MS));
        }
        receive!(me, { 0 => {}, after 8 * MS => {} });
        assert_eq!(ticks.read(), Some(MS));
        assert_eq!(ticks.cancel(), Some(MS));
        assert_eq!((ticks.cancel(), ticks.read()), (None, None));
        assert_eq!(me.flush(), [21, 22]);
        receive!(me, { _ => panic!("it was cancelled"), after MINUTE => {} });
    });
}

// N3: on the machine's clock
#[purlin::test]
async fn an_interval_is_never_early(mut me: Process<()>) {
    // WHY real time: a message could only be early by the machine's clock. No upper bound is
    // asserted.
    let begun = Instant::now();
    let ticks = me.pid().send_interval(3 * MS, || ());
    for n in 1..=10 {
        me.receive().await;
        assert!(begun.elapsed() >= n * 3 * MS);
    }
    assert!(ticks.cancel().is_some());
}

// N3: an interval ends when its receiver has ended, and when its function panics
#[test]
fn an_interval_ends_with_its_receiver_and_with_its_function() {
    simulated(async |mut me: Process<u8>| {
        let short = spawn(async |mut me: Process<u8>| {
            me.receive().await;
        });
        let processes = || here().processes().len();
        let to_short = short.send_interval(MS, || 1);
        let panics = me.pid().send_interval(2 * MS, || panic!("no more"));
        assert_eq!(processes(), 4);
        assert_eq!((short.ended().await, uptime()), (ExitReason::Normal, MS));
        receive!(me, { _ => panic!("nothing was sent"), after 2 * MS => {} });
        assert_eq!((to_short.read(), panics.read()), (None, None));
        assert_eq!((to_short.cancel(), panics.cancel()), (None, None));
        assert_eq!(processes(), 1);
    });
}

/// A message whose destructor reads and cancels the timer that sends it.
struct Cancels {
    timer: Arc<OnceLock<Timer>>,
    was_left: Sender<[bool; 2]>,
}

impl Drop for Cancels {
    fn drop(&mut self) {
        let timer = self.timer.wait();
        // The receiver is gone after the first report.
        let _ = self.was_left.send([timer.read().is_some(), timer.cancel().is_some()]);
    }
}

// N3, B1: a full mailbox drops a message, and runs its destructor, while it is sent
#[test]
fn an_interval_can_be_cancelled_by_the_destructor_of_its_message() {
    let node = node(1);
    let full = SpawnOptions::new().bound(1, Overflow::DropNewest);
    let full = full.spawn_on(&node, async |_: Process<Cancels>| std::future::pending::<()>().await);
    let timer = Arc::new(OnceLock::new());
    let (was_left, reports) = channel();
    let sent_by = Arc::clone(&timer);
    let message = move || Cancels { timer: Arc::clone(&sent_by), was_left: was_left.clone() };
    let interval = node.send_interval(&full.expect("there is room"), MS, message);
    assert!(timer.set(interval).is_ok());
    assert_eq!(reports.recv_timeout(HANG), Ok([true, true]));
    drop(reports);
    stop(&node);
}

/// A message whose destructor cancels another timer while that timer's message is dropped, too.
struct CancelsOther {
    other: Arc<OnceLock<Timer>>,
    both: Arc<Barrier>,
    /// Receives the report of the first destructor.
    was_left: Arc<Mutex<Option<Sender<bool>>>>,
}

impl Drop for CancelsOther {
    fn drop(&mut self) {
        let report = self.was_left.lock().expect("no destructor panics").take();
        if let Some(report) = report {
            let other = self.other.wait();
            self.both.wait();
            let _ = report.send(other.cancel().is_some());
        }
    }
}

// N3, B1: two sends that run destructors do not wait for each other
#[test]
fn intervals_can_be_cancelled_by_the_destructors_of_each_others_messages() {
    let node = node(2);
    let both = Arc::new(Barrier::new(2));
    let timers: [Arc<OnceLock<Timer>>; 2] = Default::default();
    let (was_left, reports) = channel();
    for (own, other) in [(0, 1), (1, 0)] {
        let full = SpawnOptions::new().bound(1, Overflow::DropNewest);
        let full = full
            .spawn_on(&node, async |_: Process<CancelsOther>| std::future::pending::<()>().await);
        let (other, both) = (Arc::clone(&timers[other]), Arc::clone(&both));
        let was_left = Arc::new(Mutex::new(Some(was_left.clone())));
        let message = move || CancelsOther {
            other: Arc::clone(&other),
            both: Arc::clone(&both),
            was_left: Arc::clone(&was_left),
        };
        let interval = node.send_interval(&full.expect("there is room"), MS, message);
        assert!(timers[own].set(interval).is_ok());
    }
    assert_eq!(reports.recv_timeout(HANG), Ok(true));
    assert_eq!(reports.recv_timeout(HANG), Ok(true));
    stop(&node);
}

// N3: an interval needs a process; on a full node it ends immediately
#[test]
fn an_interval_on_a_full_node_ends_immediately() {
    let node = Node::builder().workers(1).max_processes(1).build().unwrap();
    let pid: Pid<u8> = node.spawn(async |mut me: Process<u8>| assert_eq!(me.receive().await, 0));
    assert_eq!(node.send_interval(&pid, MS, || 1).cancel(), None);
    stop(&node);
}

// R3: repeated wake-ups neither extend nor shorten the deadline of a receive
#[test]
fn messages_that_do_not_match_do_not_extend_a_deadline() {
    simulated(async |mut me: Process<u8>| {
        let noise = me.pid().send_interval(MS, || 0);
        receive!(me, {
            1 => panic!("it was not sent"),
            after 12 * MS => {}
        });
        assert_eq!(uptime(), 12 * MS);
        assert!(noise.cancel().is_some());
    });
}

// R3, R7: a deadline wakes the waker it was polled with, and is removed with its receive
#[test]
fn a_deadline_wakes_its_combinator_and_is_removed_with_its_receive() {
    use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
    simulated(async |mut me: Process<u8>| {
        for n in 1..=3 {
            let mut waiting = FuturesUnordered::new();
            waiting.push(
                async {
                    receive!(me, {
                        1 => panic!("it was not sent"),
                        after 3 * MS => {}
                    })
                }
                .boxed(),
            );
            waiting.push(std::future::pending().boxed());
            assert_eq!(waiting.next().await, Some(()));
            assert_eq!(uptime(), n * 3 * MS);
        }
        tokio::select! {
            biased;
            () = async { receive!(me, { 1 => {}, after MINUTE => {} }) } => panic!("a minute passed"),
            () = async { tokio::task::yield_now().await } => {}
        }
        me.pid().send(7);
        assert_eq!((me.receive().await, uptime()), (7, 9 * MS));
    });
}
