//! Shuttle models of the whole scheduler with real processes: workers, queues, sleep, sysmon,
//! shutdown. Each runs under many schedules, chosen at random and by PCT, which preempts at a few
//! chosen points.
//!
//! Shuttle runs every thread of a model on one OS thread and switches at each atomic, lock and
//! wait. The models show that no wake-up is lost, no process or message is lost or duplicated, and
//! everything ends. They cannot show memory ordering bugs (the loom models do) or bugs inside the
//! parts replaced by the fakes of `sync`.
//!
//! Run with `scripts/test-shuttle.sh`.
#![cfg(shuttle)]

mod model;

use std::sync::Arc;
use std::time::Duration;

use model::{Me, Node, Pid, model, runs_after, waker, yields};
use purlin_sched::TimerAction;
use purlin_sched::model::{Instant, forward};
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use shuttle::{hint, thread};

const TICK: Duration = Duration::from_micros(500);
const MS: Duration = Duration::from_millis(1);

/// Receives `most` messages, and checks the order of each of `senders`.
async fn receives(node: Node, me: Me, senders: usize, most: usize) {
    let mut next = vec![0; senders];
    for _ in 0..most {
        let (sender, number) = node.receive(&me).await;
        node.counters.demand(number == next[sender], "M2: in the order sent");
        next[sender] += 1;
    }
}

/// Sends `most` messages.
async fn sends(node: Node, to: Pid, sender: usize, most: usize, yielding: bool) {
    for number in 0..most {
        node.send(&to, (sender, number));
        if yielding {
            yields().await;
        }
    }
}

// P2, M4: a process spawned on a worker or from outside runs and ends; no worker sleeps meanwhile
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

// M2, M4: two processes that answer each other, and an external thread that interferes
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

// P2: a process that runs right after the one it has woken is neither lost nor run twice, also while
// sysmon exposes processes
#[test]
fn callers_run_after_the_process_they_have_woken() {
    model("callers_run_after_the_process_they_have_woken", || {
        let node = Node::start(2);
        let at_home = node.clone();
        let called = node.spawn(|me| receives(at_home, me, 2, 4));
        for sender in 0..2 {
            let (at_home, to) = (node.clone(), called.clone());
            node.spawn(move |_| async move {
                for number in 0..2 {
                    at_home.send(&to, (sender, number));
                    runs_after(&to).await;
                }
            });
        }
        drop(called);
        node.all_end_in_time(TICK);
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

// E1: processes that are ready when the node stops still run
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

// N3: a timer set by a process wakes it, whether its worker is awake, asleep or stalled, and never
// early
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
                let timer = wheel.set(time, TimerAction::Wake(waker().await));
                std::future::poll_fn(|cx| timer.poll(cx.waker())).await;
                at_home.counters.demand(set.elapsed() >= time, "N3: a timer fired early");
            });
        }
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// N3: a timer set by an external thread wakes a worker although all sleep and sysmon rests
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
        node.counters.accepted.fetch_add(1, Ordering::Relaxed);
        node.scheduler.timers().wheel(1).set(MS, TimerAction::Send(to.seal((0, 0))));
        drop(to);
        node.all_end_in_time(TICK);
        node.stop();
    });
}

/// A process that spins in one turn until the processes it has spawned have run.
async fn stalled(node: Node) {
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

// F2: a process that does not await keeps its thread, and the others continue on another one; a
// process that it wakes during the hand-off is not lost
#[test]
fn a_fresh_thread_runs_those_behind_a_hog() {
    model("a_fresh_thread_runs_those_behind_a_hog", || {
        let node = Node::start(1);
        node.spawn(|_| stalled(node.clone()));
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// F2: two stalled workers, whose cores are handed off
#[test]
fn those_behind_hogs_run_whoever_takes_them() {
    model("those_behind_hogs_run_whoever_takes_them", || {
        let node = Node::start(2);
        node.spawn(|_| stalled(node.clone()));
        node.spawn(|_| stalled(node.clone()));
        node.all_end_in_time(TICK);
        node.stop();
    });
}

// F2: more blocking processes than workers, and a process that receives messages from outside
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
            while node.counters.received.load(Ordering::Relaxed) <= number {
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
