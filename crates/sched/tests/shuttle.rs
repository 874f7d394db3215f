//! Models of the whole scheduler: workers, queues, sleep, the monitor, the end, with real processes.
//! Each is run under many schedules, chosen at random and by PCT, which favours a few bad moments.
//!
//! Shuttle runs every thread of a model on one of the machine's and switches at each atomic, lock
//! and wait. What it shows: no wake-up is lost, nothing is lost or doubled, everything ends. What it
//! cannot show: orders of memory (loom's models do), and what is within the stand-ins of `sync`.
//!
//! Run with `scripts/test-shuttle.sh`.
#![cfg(shuttle)]

mod model;

use std::sync::Arc;
use std::time::Duration;

use model::{Me, Node, Pid, model, waker, yields};
use purlin_sched::Alarm;
use purlin_sched::model::{Instant, forward};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::{hint, thread};

const TICK: Duration = Duration::from_micros(500);
const MS: Duration = Duration::from_millis(1);

/// Receives so many, and demands the order of each of `senders`.
async fn receives(node: Node, me: Me, senders: usize, most: usize) {
    let mut next = vec![0; senders];
    for _ in 0..most {
        let (sender, number) = node.receive(&me).await;
        node.tally.demand(number == next[sender], "M2: in the order sent");
        next[sender] += 1;
    }
}

/// Sends so many.
async fn sends(node: Node, to: Pid, sender: usize, most: usize, yielding: bool) {
    for number in 0..most {
        node.send(&to, (sender, number));
        if yielding {
            yields().await;
        }
    }
}

// P2, M4: who is spawned on a worker or from outside runs and ends, and no worker sleeps meanwhile
#[test]
fn processes_that_spawn_processes_all_end() {
    model("processes_that_spawn_processes_all_end", || {
        let node = Node::start(2);
        let parent = node.clone();
        node.spawn(|_| async move {
            for _ in 0..3 {
                parent.spawn(|_| yields());
                yields().await;
            }
        });
        node.spawn(|_| async {});
        node.all_end();
        node.stop();
    });
}

// M2, M4: two processes that answer each other, and one from outside that interferes
#[test]
fn a_sleeper_is_woken_by_whoever_sends() {
    model("a_sleeper_is_woken_by_whoever_sends", || {
        let node = Node::start(2);
        let at_home = node.clone();
        let pong = node.spawn(|me| receives(at_home, me, 2, 4));
        let (at_home, to) = (node.clone(), pong.clone());
        node.spawn(|_| sends(at_home, to, 0, 2, true));
        let (outside, to) = (node.clone(), pong);
        let outside = thread::spawn(move || {
            outside.send(&to, (1, 0));
            outside.send(&to, (1, 1));
        });
        node.all_end();
        outside.join().expect("it only sends");
        node.stop();
    });
}

// M2, M4: the inbox changes its mode while senders send, some of them after the receiver's end
#[test]
fn a_crowd_is_received_in_the_order_of_each_or_dropped() {
    model("a_crowd_is_received_in_the_order_of_each_or_dropped", || {
        let node = Node::start(2);
        let at_home = node.clone();
        let to = node.spawn(|me| receives(at_home, me, 4, 9));
        for sender in 0..2 {
            let (at_home, to) = (node.clone(), to.clone());
            node.spawn(|_| sends(at_home, to, sender, 3, sender == 0));
        }
        let outside: Vec<_> = (2..4)
            .map(|sender| {
                let (node, to) = (node.clone(), to.clone());
                thread::spawn(move || {
                    for number in 0..3 {
                        node.send(&to, (sender, number));
                    }
                })
            })
            .collect();
        drop(to);
        node.all_end();
        outside.into_iter().for_each(|thread| thread.join().expect("it only sends"));
        node.stop();
    });
}

// E1: what is ready when a node is told to stop still runs
#[test]
fn a_node_that_is_stopped_runs_what_is_ready_and_ends_its_threads() {
    model("a_node_that_is_stopped_runs_what_is_ready_and_ends_its_threads", || {
        let node = Node::start(2);
        let parent = node.clone();
        node.spawn(|_| async move {
            yields().await;
            parent.spawn(|_| yields());
        });
        node.spawn_blocking(|_| yields());
        node.stop();
    });
}

// N3: a timer that a process sets wakes it, whether its worker is awake, asleep or stuck, and never
// before its time
#[test]
fn a_timer_wakes_its_process_in_time_and_never_before() {
    model("a_timer_wakes_its_process_in_time_and_never_before", || {
        let node = Node::start(2);
        for n in 0..3u32 {
            let at_home = node.clone();
            node.spawn(|_| async move {
                // CLOCK: the model's.
                let (time, set) = (MS * (1 + n), Instant::now());
                let wheel = at_home.scheduler.timers().wheel(n as usize % 2);
                let timer = wheel.set(time, Alarm::Wake(waker().await));
                std::future::poll_fn(|cx| timer.poll(cx.waker())).await;
                at_home.tally.demand(set.elapsed() >= time, "N3: a timer fired early");
            });
        }
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// N3: a timer that is set from outside wakes a worker, though all sleep and the monitor rests
#[test]
fn a_timer_set_on_a_node_at_rest_is_fired() {
    model("a_timer_set_on_a_node_at_rest_is_fired", || {
        let node = Node::start(2);
        let at_home = node.clone();
        let to = node.spawn(|me| receives(at_home, me, 1, 1));
        for _ in 0..6 {
            forward(TICK);
            thread::yield_now();
        }
        node.tally.accepted.fetch_add(1, Ordering::Relaxed);
        node.scheduler.timers().wheel(1).set(MS, Alarm::Send(to.parcel((0, 0))));
        drop(to);
        node.all_end_in_time(TICK);
        node.stop();
    });
}

/// One process waits in one turn for those it has begun.
async fn hogs(node: Node) {
    const BEHIND: usize = 8;
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..BEHIND {
        let ran = Arc::clone(&ran);
        node.spawn(|_| async move {
            yields().await;
            ran.fetch_add(1, Ordering::Release);
        });
    }
    while ran.load(Ordering::Acquire) < BEHIND {
        hint::spin_loop();
    }
    node.spawn(|_| yields());
    yields().await;
}

// F2: a process that does not await keeps its thread, and the others get its post; what it wakes
// while the post changes hands is not lost
#[test]
fn a_fresh_thread_runs_those_behind_a_hog() {
    model("a_fresh_thread_runs_those_behind_a_hog", || {
        let node = Node::start(1);
        node.spawn(|_| hogs(node.clone()));
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// F2: two hogs, and two workers to take their posts from
#[test]
fn those_behind_hogs_run_whoever_takes_them() {
    model("those_behind_hogs_run_whoever_takes_them", || {
        let node = Node::start(2);
        node.spawn(|_| hogs(node.clone()));
        node.spawn(|_| hogs(node.clone()));
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// F2: more hogs than workers, and one who is sent to from outside
#[test]
fn what_comes_from_outside_runs_while_every_worker_is_hogged() {
    model("what_comes_from_outside_runs_while_every_worker_is_hogged", || {
        let node = Node::start(2);
        let free = Arc::new(AtomicBool::new(false));
        for _ in 0..3 {
            let free = Arc::clone(&free);
            node.spawn(|_| async move {
                while !free.load(Ordering::Acquire) {
                    hint::spin_loop();
                }
            });
        }
        let at_home = node.clone();
        let to = node.spawn(|me| receives(at_home, me, 1, 3));
        for number in 0..3 {
            node.send(&to, (0, number));
            while node.tally.received.load(Ordering::Relaxed) <= number {
                forward(TICK);
                thread::yield_now();
            }
        }
        free.store(true, Ordering::Release);
        drop(to);
        node.all_end_in_time(TICK);
        node.stop();
    });
}
