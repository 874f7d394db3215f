//! A process that computes, sends or blocks without awaiting delays only itself.
//!
//! A hog here spins until its flag is raised. Every wait for it has a limit and the flag is raised when the test ends,
//! so a failing test fails instead of running forever.
//!
//! These tests do not measure how soon a hog is detected: `sched/src/sysmon/policy.rs` does, in virtual time. They check
//! that other processes make progress while the hog is still computing, without a time limit.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use crate::common::{HANG, ends, node, stop, until};
use crate::waiting::MS;
use purlin::{ExitReason, Node, OsPriorities, Pid, Process, Reply, spawn, yield_now};

/// Stop flag of the hogs.
#[derive(Clone, Default)]
struct Leash(Arc<AtomicBool>);

impl Leash {
    fn holds(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }

    fn let_go(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Spins until the flag is raised.
    fn spin(&self) {
        while self.holds() {
            std::hint::spin_loop();
        }
    }
}

/// Raises the flag when a test ends, also on panic.
struct Test(Leash);

impl Test {
    fn begin() -> (Self, Leash) {
        let leash = Leash::default();
        (Self(leash.clone()), leash)
    }
}

impl Drop for Test {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

fn hog(node: &Node, leash: &Leash) -> Pid<()> {
    let leash = leash.clone();
    let (began, begins) = std::sync::mpsc::channel();
    let pid = node.spawn(async move |_: Process<()>| {
        began.send(()).expect("the test waits");
        leash.spin();
    });
    begins.recv().expect("it begins");
    pid
}

// F2: the woken process is in the worker's LIFO slot, which other workers cannot steal from
#[test]
fn a_process_that_was_just_woken_by_a_hog_runs() {
    for workers in [1, 2] {
        let (_test, leash) = Test::begin();
        let node = node(workers);
        let (tx, rx) = std::sync::mpsc::channel();
        let spins = leash.clone();
        let hog = node.spawn(async move |_: Process<()>| {
            let child = spawn(async |_: Process<()>| {});
            tx.send(child).expect("the test waits");
            spins.spin();
        });
        let child = rx.recv().expect("the hog begins");
        assert_eq!(ends(&child), ExitReason::Normal);
        assert!(hog.is_alive());
        leash.let_go();
        assert_eq!(ends(&hog), ExitReason::Normal);
        stop(&node);
    }
}

// F2: messages from outside are handled although every worker is occupied by a hog
#[test]
fn what_comes_from_outside_runs_while_every_worker_is_hogged() {
    let (_test, leash) = Test::begin();
    let node = node(2);
    let hogs: Vec<_> = (0..4).map(|_| hog(&node, &leash)).collect();
    let echo = node.spawn(async |mut me: Process<Reply<u8>>| {
        loop {
            me.receive().await.send(7);
        }
    });
    for _ in 0..100 {
        assert_eq!(echo.call_blocking(|reply| reply, HANG), Ok(7));
    }
    leash.let_go();
    for hog in hogs {
        assert_eq!(ends(&hog), ExitReason::Normal);
    }
    stop(&node);
}

// F1, F2: a process that has yielded runs, although its wake-up notified no other worker
#[test]
fn a_lone_process_that_yields_runs_while_another_computes() {
    for workers in [1, 2] {
        let (_test, leash) = Test::begin();
        let node = node(workers);
        let yields = node.spawn({
            let leash = leash.clone();
            async move |_: Process<()>| {
                // The child runs next; this process is alone in the queue behind it.
                spawn(async move |_: Process<()>| leash.spin());
                for _ in 0..10 {
                    yield_now().await;
                }
            }
        });
        assert_eq!(ends(&yields), ExitReason::Normal);
        leash.let_go();
        stop(&node);
    }
}

// F2, M2: messages of a hog are delivered while it keeps sending
#[test]
fn messages_of_a_hog_arrive_in_order_while_it_keeps_sending() {
    let (_test, leash) = Test::begin();
    let node = node(1);
    let (tx, rx) = std::sync::mpsc::channel();
    let receiver: Pid<u64> = node.spawn(async move |mut me: Process<u64>| {
        for expected in 0..50_000 {
            assert_eq!(me.receive().await, expected);
        }
        tx.send(()).expect("the test waits");
    });
    let (to, spins) = (receiver.clone(), leash.clone());
    let sender = node.spawn(async move |_: Process<()>| {
        let mut n = 0;
        while spins.holds() {
            // WHY a limit: memory must not run out if the receiver makes no progress.
            if to.is_alive() && to.mailbox_len() < 10_000 {
                to.send(n);
                n += 1;
            }
        }
    });
    rx.recv_timeout(HANG).expect("the receiver gets on");
    assert!(sender.is_alive());
    assert_eq!(ends(&receiver), ExitReason::Normal);
    leash.let_go();
    assert_eq!(ends(&sender), ExitReason::Normal);
    stop(&node);
}

/// Returns name, niceness and scheduling policy of every thread of this program: fields 2, 19 and 41 of proc(5).
#[cfg(target_os = "linux")]
fn priorities() -> Vec<(String, i32, i32)> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the threads of this program");
    // A thread may end meanwhile.
    let stats =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let parsed = stats.filter_map(|stat| {
        let (name, fields) = stat.split_once('(')?.1.rsplit_once(')')?;
        let field = |number: usize| fields.split_whitespace().nth(number - 3)?.parse().ok();
        Some((name.to_string(), field(19)?, field(41)?))
    });
    parsed.collect()
}

// F2: by default no thread becomes real-time and a hog's priority is lowered; `Unchanged` leaves it alone
#[cfg(target_os = "linux")]
#[test]
fn priorities_change_only_as_the_builder_allows() {
    // Threads inherit the priority of the one that starts them, and no other thread has changed it so far.
    let (_, niceness, policy) = priorities()[0];
    let usual = |thread: &(String, i32, i32)| (thread.1, thread.2) == (niceness, policy);
    let lowered =
        || priorities().iter().any(|thread| thread.0.starts_with("prio") && !usual(thread));
    for allowed in [OsPriorities::Unchanged, OsPriorities::Lower] {
        let (_test, leash) = Test::begin();
        let node =
            Node::builder().name("prio").workers(1).os_priorities(allowed).build().expect("a node");
        let hog = hog(&node, &leash);
        let other = node.spawn(async |_: Process<()>| {});
        assert_eq!(ends(&other), ExitReason::Normal);
        // WHY real time: the scheduler lowers a thread once it has computed for 0.25 ms; this waits until it must have.
        until("it hogs for long", || node.hogs()[0].since.elapsed() > Duration::from_millis(20));
        match allowed {
            OsPriorities::Unchanged => assert!(!lowered(), "{:?}", priorities()),
            _ => until("the hog's thread is lowered", lowered),
        }
        let sysmon: Vec<_> =
            priorities().into_iter().filter(|(name, ..)| name == "prio-sysmon").collect();
        assert!(sysmon.len() == 1 && usual(&sysmon[0]), "{sysmon:?}");
        leash.let_go();
        assert_eq!(ends(&hog), ExitReason::Normal);
        stop(&node);
    }
}

// F2: a hog is listed until it awaits again
#[test]
fn a_hog_is_listed_until_it_awaits() {
    let (_test, leash) = Test::begin();
    let node = node(1);
    assert!(node.hogs().is_empty());
    // WHY real time: it is only compared with other readings of the same clock.
    let began = Instant::now();
    let hog = hog(&node, &leash);
    let other = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&other), ExitReason::Normal);
    let named = node.hogs();
    assert_eq!(named.iter().map(|hog| hog.id).collect::<Vec<_>>(), [hog.id()]);
    assert!(named[0].function.contains("hogs::hog"), "{}", named[0].function);
    assert!(named[0].since >= began && named[0].since <= Instant::now());
    leash.let_go();
    assert_eq!(ends(&hog), ExitReason::Normal);
    until("no process hogs", || node.hogs().is_empty());
    stop(&node);
}

// F2, P2: after its next await a hog receives messages and exit signals, like any other process
#[test]
fn a_hog_that_awaits_again_receives_messages_and_exit_signals() {
    let (_test, leash) = Test::begin();
    let node = node(1);
    let spins = leash.clone();
    let (began, begins) = std::sync::mpsc::channel();
    let hog = node.spawn(async move |mut me: Process<Reply<u8>>| {
        began.send(()).expect("the test waits");
        spins.spin();
        yield_now().await;
        loop {
            me.receive().await.send(9);
        }
    });
    begins.recv().expect("it begins");
    let other = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&other), ExitReason::Normal);
    leash.let_go();
    assert_eq!(hog.call_blocking(|reply| reply, HANG), Ok(9));
    stop(&node);
    assert_eq!(hog.exit_reason(), Some(ExitReason::Shutdown));
}

// F2, L4: a killed hog delays no other process, and ends at its next await
#[test]
fn a_hog_that_is_killed_ends_at_its_next_await() {
    let (_test, leash) = Test::begin();
    let node = node(1);
    let (spins, went_on) = (leash.clone(), Arc::new(AtomicBool::new(false)));
    let goes_on = Arc::clone(&went_on);
    let (began, begins) = std::sync::mpsc::channel();
    let hog = node.spawn(async move |_: Process<()>| {
        began.send(()).expect("the test waits");
        spins.spin();
        yield_now().await;
        goes_on.store(true, Ordering::Release);
    });
    begins.recv().expect("it begins");
    hog.exit(ExitReason::Kill);
    let other = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&other), ExitReason::Normal);
    assert_eq!(hog.exit_reason(), None, "nothing can interrupt it");
    leash.let_go();
    assert_eq!(ends(&hog), ExitReason::Killed);
    assert!(!went_on.load(Ordering::Acquire));
    stop(&node);
}

// F2: a process in a blocking call counts as a hog
#[test]
fn a_blocking_call_delays_only_its_own_process() {
    let node = node(1);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (began, begins) = std::sync::mpsc::channel();
    let blocked = node.spawn(async move |_: Process<()>| {
        began.send(()).expect("the test waits");
        released.recv().expect("it is released");
    });
    begins.recv().expect("it begins");
    let other = node.spawn(async |_: Process<()>| {});
    assert_eq!(ends(&other), ExitReason::Normal);
    assert!(blocked.is_alive());
    release.send(()).expect("it waits");
    assert_eq!(ends(&blocked), ExitReason::Normal);
    stop(&node);
}

// F2: a tokio task that an event woke polls on the thread that received the event
#[test]
fn a_tokio_task_that_computes_stalls_no_socket_and_no_timer() {
    let (_test, leash) = Test::begin();
    let node = Node::builder().workers(1).io_threads(2).build().expect("a node starts");
    let (spins, holds) = (leash.clone(), leash.clone());
    let (done, is_done) = std::sync::mpsc::channel();
    node.spawn(async move |_: Process<()>| {
        let (began, begins) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            // WHY real time, here and below: tokio's timers use the machine's clock. No bound is asserted.
            tokio::time::sleep(MS).await;
            began.send(()).expect("the test waits");
            spins.spin();
        });
        begins.await.expect("the task begins");
        for _ in 0..3 {
            tokio::time::sleep(MS).await;
        }
        let listener =
            tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
        let at = listener.local_addr().expect("it listens");
        let client = tokio::spawn(tokio::net::TcpStream::connect(at));
        listener.accept().await.expect("the client connects");
        client.await.expect("no panic").expect("it listens");
        done.send(holds.holds()).expect("the test waits");
        task.await.expect("no panic");
    });
    let computes = is_done.recv_timeout(HANG).expect("sockets and timers proceed");
    assert!(computes, "the task has ended already");
    leash.let_go();
    stop(&node);
}

// F2: each hog runs on a separate thread, which ends with the hog's turn
#[cfg(target_os = "linux")]
#[test]
fn each_hog_runs_on_a_separate_thread_that_ends_with_its_turn() {
    const HOGS: usize = 6;
    let name = "hog-threads";
    let node = Node::builder().name(name).workers(1).io_threads(1).build().expect("a node starts");
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").expect("the kernel lists them");
        // A thread that has just exited no longer has a name.
        let names = tasks.flatten().flat_map(|task| std::fs::read(task.path().join("comm")));
        names.filter(|comm| comm.starts_with(name.as_bytes())).count()
    };
    // The worker, the `sysmon` thread, the I/O thread and the thread that watches it. A spare thread exits when `sysmon` comes to rest, which it
    // does while hogs block.
    const USUAL: usize = 4;
    until("the node has its threads", || threads() == USUAL);
    for _ in 0..2 {
        let (began, begins) = std::sync::mpsc::channel();
        let release = Arc::new(Barrier::new(HOGS + 1));
        let hogs: Vec<_> = (0..HOGS)
            .map(|_| {
                let (began, released) = (began.clone(), Arc::clone(&release));
                node.spawn(async move |_: Process<()>| {
                    began.send(std::thread::current().id()).expect("the test waits");
                    released.wait();
                })
            })
            .collect();
        let ran_on: HashSet<_> = (0..HOGS)
            .map(|_| begins.recv_timeout(HANG).expect("no hog holds up the next one"))
            .collect();
        assert_eq!(ran_on.len(), HOGS, "two hogs ran on one thread");
        let other = node.spawn(async |_: Process<()>| {});
        assert_eq!(ends(&other), ExitReason::Normal);
        assert_eq!(node.hogs().len(), HOGS);
        until("there is a thread for each hog, and no other", || threads() == USUAL + HOGS);
        release.wait();
        for hog in hogs {
            assert_eq!(ends(&hog), ExitReason::Normal);
        }
        until("the threads of the hogs have ended", || threads() == USUAL);
    }
    stop(&node);
}

// F2: many hogs, in sequence and concurrently; other processes make progress
#[test]
fn repeated_hogs_do_not_delay_other_processes() {
    let node = node(2);
    let turns = Arc::new(AtomicU64::new(0));
    let counted = turns.clone();
    let counter = node.spawn(async move |_: Process<()>| {
        loop {
            counted.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    });
    for _ in 0..10 {
        let (_test, leash) = Test::begin();
        let hogs: Vec<_> = (0..3).map(|_| hog(&node, &leash)).collect();
        let before = turns.load(Ordering::Relaxed);
        until("others go on", || turns.load(Ordering::Relaxed) > before + 10);
        leash.let_go();
        for hog in hogs {
            assert_eq!(ends(&hog), ExitReason::Normal);
        }
    }
    assert!(counter.is_alive());
    stop(&node);
}

// F2, M4: regardless of hand-offs and their timing, every message is received exactly once and in the order of its
// sender
#[test]
fn no_message_is_lost_during_hand_offs() {
    const SENDERS: u64 = 8;
    const MESSAGES: u64 = 400;
    for workers in [1, 2, 3] {
        let node = node(workers);
        let receiver = node.spawn(async move |mut me: Process<(usize, u64)>| {
            let mut next = [0; SENDERS as usize];
            for _ in 0..SENDERS * MESSAGES {
                let (from, n) = me.receive().await;
                assert_eq!(n, next[from], "out of order, lost or doubled");
                next[from] += 1;
            }
            assert_eq!(next, [MESSAGES; SENDERS as usize]);
        });
        let senders: Vec<_> = (0..SENDERS as usize)
            .map(|from| {
                let to = receiver.clone();
                node.spawn(async move |_: Process<()>| {
                    for n in 0..MESSAGES {
                        to.send((from, n));
                        // Sometimes a turn long enough for `sysmon` to react, around a send.
                        if (n * 7 + from as u64).is_multiple_of(61) {
                            // WHY real time: `sysmon` uses it. The number of turns that it finds too long depends on
                            // the machine; the assertions do not.
                            let began = Instant::now();
                            while began.elapsed() < Duration::from_micros(1200 + 100 * n % 900) {
                                std::hint::spin_loop();
                            }
                        }
                        if n.is_multiple_of(3) {
                            yield_now().await;
                        }
                        spawn(async |_: Process<()>| {});
                    }
                })
            })
            .collect();
        for sender in senders {
            assert_eq!(ends(&sender), ExitReason::Normal);
        }
        assert_eq!(ends(&receiver), ExitReason::Normal);
        stop(&node);
        assert_eq!(node.dropped_messages(), 0);
        assert!(node.processes().is_empty());
    }
}
