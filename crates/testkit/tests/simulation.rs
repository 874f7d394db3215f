//! Virtual time, reproducible choices, and the errors of a simulation.

use std::collections::HashSet;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use purlin::{
    CallError, Down, Exit, ExitReason, Node, Pid, Process, Reply, SpawnOptions, consume_budget,
    receive, spawn, yield_now,
};
use purlin_testkit::{Failure, Simulation, for_each_seed};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

fn uptime() -> Duration {
    Node::current().expect("this is a process").uptime()
}

/// Returns the events of eight processes that send to one, over several turns and at several times.
fn history(seed: u64) -> Vec<(u32, u32)> {
    Simulation::new(seed).run(async |mut me: Process<(u32, u32)>| {
        for sender in 0..8 {
            let to = me.pid();
            spawn(async move |mut me: Process<()>| {
                for n in 0..4 {
                    to.send((sender, n));
                    consume_budget().await;
                    receive!(me, { after MS * (n % 2) => {} });
                }
            });
        }
        let mut came = Vec::new();
        while came.len() < 32 {
            came.push(me.receive().await);
        }
        came
    })
}

#[test]
fn a_seed_reproduces_the_order_of_events_and_other_seeds_change_it() {
    let histories: Vec<_> = (0..20).map(history).collect();
    for (seed, before) in (0..).zip(&histories) {
        assert_eq!(&history(seed), before, "seed {seed}");
    }
    let different: HashSet<_> = histories.into_iter().collect();
    assert!(different.len() > 10, "only {} histories", different.len());
}

/// Returns the order in which two hundred processes learn of an end, by a link or a monitor.
fn ends(seed: u64) -> Vec<usize> {
    Simulation::new(seed).run(async |mut me: Process<usize>| {
        let ends = spawn(async |mut me: Process<()>| me.receive().await);
        for n in 0..200 {
            let (to, ends) = (me.pid(), ends.clone());
            spawn(async move |mut me: Process<Ended>| {
                if n % 2 == 0 {
                    me.monitor(&ends);
                } else {
                    me.trap_exit(true);
                    me.link(&ends);
                }
                me.receive().await;
                to.send(n);
            });
        }
        receive!(me, { after MS => {} });
        ends.send(());
        let mut came = Vec::new();
        while came.len() < 200 {
            came.push(me.receive().await);
        }
        came
    })
}

struct Ended;

impl From<Down> for Ended {
    fn from(_: Down) -> Self {
        Self
    }
}

impl From<Exit> for Ended {
    fn from(_: Exit) -> Self {
        Self
    }
}

#[test]
fn a_seed_reproduces_the_order_of_exit_signals() {
    for seed in 0..5 {
        assert_eq!(ends(seed), ends(seed), "seed {seed}");
    }
    assert_ne!(ends(0), ends(1));
}

// M2, M3: the order of one sender's messages is kept, that of two senders is open. There is no
// third
// order, since no process awaits between two sends.
#[test]
fn both_orders_of_a_race_are_seen() {
    let mut seen = HashSet::new();
    for_each_seed(50, |seed| {
        let came = Simulation::new(seed).run(async |mut me: Process<&'static str>| {
            for letters in [["a1", "a2"], ["b1", "b2"]] {
                let to = me.pid();
                spawn(async move |_: Process<()>| letters.into_iter().for_each(|one| to.send(one)));
            }
            let mut came = Vec::new();
            while came.len() < 4 {
                came.push(me.receive().await);
            }
            came
        });
        seen.insert(came);
    });
    let orders = [["a1", "a2", "b1", "b2"], ["b1", "b2", "a1", "a2"]];
    assert_eq!(seen, orders.map(Vec::from).into());
}

// N3
#[test]
fn timers_of_days_fire_in_order_at_their_exact_virtual_time() {
    let mut simulation = Simulation::new(3);
    let came = simulation.run(async |mut me: Process<Duration>| {
        let times = [9 * DAY, HOUR, 900 * DAY, Duration::from_nanos(1), HOUR - MS / 1000, 40 * MS];
        for time in times {
            me.pid().send_after(time, time);
        }
        let mut came = Vec::new();
        while came.len() < times.len() {
            let time = me.receive().await;
            assert_eq!(uptime(), time);
            came.push(time);
        }
        came
    });
    assert!(came.is_sorted());
    assert_eq!(simulation.now(), 900 * DAY);
}

// N3
#[test]
fn an_interval_keeps_its_times_for_a_year() {
    let mut simulation = Simulation::new(1);
    simulation.run(async |mut me: Process<()>| {
        let ticks = me.pid().send_interval(HOUR, || ());
        for n in 1..=365 * 24 {
            me.receive().await;
            assert_eq!(uptime(), HOUR * n);
        }
        assert_eq!(ticks.cancel(), Some(HOUR));
    });
}

// C1, R3
#[test]
fn call_and_receive_timeouts_are_exact() {
    let mut simulation = Simulation::new(1);
    simulation.run(async |mut me: Process<()>| {
        let silent = spawn(async |mut me: Process<Reply<()>>| {
            let _kept = me.receive().await;
            me.receive().await;
        });
        let answer = silent.call_timeout(|reply| reply, HOUR).await;
        assert_eq!((answer, uptime()), (Err(CallError::Timeout(HOUR)), HOUR));
        receive!(me, { after 500 * DAY => {} });
        assert_eq!(uptime(), HOUR + 500 * DAY);
    });
}

// R3: an infinite timeout is not waited for
#[test]
fn a_process_that_waits_forever_is_reported_as_a_deadlock() {
    async fn forgotten(mut me: Process<()>) {
        receive!(me, { after Duration::MAX => {} });
    }
    let mut simulation = Simulation::new(5);
    let failed = simulation.try_run(async |mut me: Process<()>| {
        let other: Pid<()> = spawn(forgotten);
        receive!(me, { after HOUR => {} });
        other.ended().await;
    });
    let failure = failed.expect_err("no process ends it");
    let Failure::Deadlock { waiting, seed: 5 } = &failure else { panic!("{failure:?}") };
    assert!(waiting.iter().any(|one| one.function.contains("forgotten")), "{failure}");
    let text = failure.to_string();
    assert!(
        text.starts_with("deadlock: no process is ready and no timer is set; waiting:"),
        "{text}"
    );
    assert!(text.ends_with("with seed 5; PURLIN_SEED=5 repeats it"), "{text}");
    // The time in which nothing happened has not passed, and the simulation can continue.
    assert_eq!(simulation.now(), HOUR);
    let last = waiting.last().expect("two wait").id;
    simulation.run(async move |_: Process<()>| {
        let other: Pid<()> = Node::current().unwrap().pid(last).unwrap();
        other.send(());
    });
    assert_eq!(simulation.now(), HOUR);
}

// P2
#[test]
fn a_panic_ends_only_its_process_and_fails_the_run_if_it_is_the_main_one() {
    let mut simulation = Simulation::new(8);
    let reason = simulation.run(async |_: Process<()>| {
        let panics = spawn(async |_: Process<()>| panic!("a child's"));
        panics.ended().await
    });
    assert!(matches!(reason, ExitReason::Panic(panic) if panic.message == "a child's"));
    let failed = simulation.try_run(async |_: Process<()>| panic!("its own"));
    let Err(Failure::Ended { reason: ExitReason::Panic(panic), seed: 8 }) = failed else {
        panic!("{failed:?}")
    };
    assert_eq!(panic.message, "its own");
}

#[test]
fn nothing_happens_between_runs_and_advance_is_exact() {
    let mut simulation = Simulation::new(2);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let pid = simulation.node().spawn(async move |mut me: Process<u32>| {
        loop {
            let message = me.receive().await;
            sees.lock().unwrap().push((message, uptime()));
        }
    });
    let times = || seen.lock().unwrap().clone();
    simulation.node().send_interval(&pid, HOUR, || 1);
    simulation.run(async |_: Process<()>| ());
    pid.send(0);
    assert!(times().is_empty());
    simulation.advance(Duration::ZERO);
    assert_eq!(times(), [(0, Duration::ZERO)]);
    simulation.advance(HOUR + HOUR / 2);
    assert_eq!((times().len(), simulation.now()), (2, HOUR + HOUR / 2));
    simulation.run(async |_: Process<()>| ());
    simulation.advance(HOUR / 2 - Duration::from_nanos(1));
    assert_eq!(times().len(), 2);
    simulation.advance(Duration::from_nanos(1));
    assert_eq!(times(), [(0, Duration::ZERO), (1, HOUR), (1, 2 * HOUR)]);
}

// M1: a send from any thread wakes the simulation
#[test]
fn messages_and_timers_of_other_threads_arrive_while_the_clock_is_held() {
    let mut simulation = Simulation::new(4);
    let (node, hold) = (simulation.node().clone(), simulation.hold());
    let (give, given) = mpsc::channel::<Pid<u32>>();
    let outside = std::thread::spawn(move || {
        let pid = given.recv().unwrap();
        pid.send(1);
        assert_eq!(node.uptime(), Duration::ZERO, "it is held");
        node.send_after(&pid, DAY, 2);
        drop(hold);
    });
    simulation.run(async move |mut me: Process<u32>| {
        give.send(me.pid()).unwrap();
        assert_eq!(me.receive().await, 1);
        assert_eq!((me.receive().await, uptime()), (2, DAY));
    });
    outside.join().unwrap();
}

// F2
#[test]
fn the_clock_stands_still_while_a_process_blocks() {
    let mut simulation = Simulation::new(4);
    simulation.run(async |mut me: Process<&'static str>| {
        let (release, released) = mpsc::channel::<()>();
        let to = me.pid();
        let blocks = async move |_: Process<()>| {
            released.recv().unwrap();
            to.send("blocked");
        };
        SpawnOptions::new().blocking().spawn(blocks).unwrap();
        me.pid().send_after(DAY, "a day");
        tokio::task::spawn_blocking(move || release.send(()).unwrap());
        assert_eq!((me.receive().await, uptime()), ("blocked", Duration::ZERO));
        assert_eq!((me.receive().await, uptime()), ("a day", DAY));
    });
}

// E1
#[test]
fn a_stop_gives_its_grace_period_in_virtual_time() {
    let mut simulation = Simulation::new(6);
    let node = simulation.node().clone();
    let spoken = Arc::new(Mutex::new(Vec::new()));
    let spawned = |grace| {
        let speaks = Arc::clone(&spoken);
        node.spawn(async move |mut me: Process<Exit>| {
            me.trap_exit(true);
            let exit = me.receive().await;
            assert_eq!(exit.reason, ExitReason::Shutdown);
            let more = tokio::time::timeout(grace, me.receive()).await;
            assert!(more.is_err(), "it gets one exit signal");
            speaks.lock().unwrap().push(grace);
        });
    };
    spawned(3 * SECOND);
    spawned(HOUR);
    simulation.advance(Duration::ZERO);
    let report = simulation.stop();
    assert!(report.hogs.is_empty() && report.stranded.is_empty());
    assert_eq!(*spoken.lock().unwrap(), [3 * SECOND]);
    assert!(node.uptime() >= 5 * SECOND && node.uptime() < 6 * SECOND, "{:?}", node.uptime());
    assert!(node.processes().is_empty(), "the long one was killed");
}

// E1: as on a real node
#[test]
fn a_process_may_stop_its_own_node() {
    let mut simulation = Simulation::new(6);
    let node = simulation.node().clone();
    let stopped = simulation.try_run(async |_: Process<()>| {
        spawn(async |mut me: Process<()>| me.receive().await);
        Node::current().unwrap().stop().await
    });
    assert!(matches!(stopped, Err(Failure::Ended { reason: ExitReason::Shutdown, .. })));
    assert!(node.processes().is_empty());
    let late = node.spawn(async |_: Process<()>| {});
    assert!(late.try_send(()).is_err());
}

// E1
#[test]
fn dropping_a_simulation_stops_its_node() {
    let (rx, _hold) = {
        let mut simulation = Simulation::new(0);
        let (tx, rx) = mpsc::channel::<()>();
        simulation.node().spawn(async move |mut me: Process<()>| {
            me.receive().await;
            drop(tx);
        });
        // A guard that outlives the simulation does not keep it alive.
        (rx, simulation.hold())
    };
    assert!(rx.recv().is_err());
}

#[test]
#[should_panic(expected = "blocked on a process inside a process")]
fn block_on_inside_of_a_process_is_rejected() {
    Simulation::new(0).run(async |_: Process<()>| {
        Node::current().unwrap().block_on(async |_: Process<()>| {});
    });
}

#[test]
#[should_panic(expected = "use Simulation::run")]
fn block_on_of_a_simulated_node_is_rejected() {
    Simulation::new(0).node().block_on(async |_: Process<()>| {});
}

#[test]
#[should_panic(expected = "use Simulation::stop")]
fn stop_blocking_of_a_simulated_node_is_rejected() {
    Simulation::new(0).node().stop_blocking();
}

#[test]
#[should_panic(expected = "at most 146 years")]
fn an_advance_beyond_the_clock_is_rejected() {
    Simulation::new(0).advance(Duration::MAX);
}

#[test]
#[should_panic(expected = "spawned outside a node")]
fn spawning_from_a_tokio_task_is_rejected() {
    Simulation::new(0).run(async |_: Process<()>| {
        let task = tokio::spawn(async { drop(spawn(async |_: Process<()>| {})) });
        std::panic::resume_unwind(task.await.unwrap_err().into_panic());
    });
}

// N3: processes that are due at the same moment are ready together, in an order chosen by the seed
#[test]
fn the_seed_orders_processes_that_wake_at_the_same_moment() {
    let mut first = HashSet::new();
    for_each_seed(30, |seed| {
        first.insert(Simulation::new(seed).run(async |mut me: Process<u32>| {
            for n in 0..3 {
                let to = me.pid();
                spawn(async move |mut me: Process<()>| {
                    receive!(me, { after HOUR => {} });
                    to.send(n);
                });
            }
            me.receive().await
        }));
    });
    assert_eq!(first, [0, 1, 2].into());
}

// D1, D2: whichever is first, there is exactly one answer, and it is correct
#[test]
fn a_monitor_races_with_an_end_and_both_outcomes_are_seen() {
    let mut seen = Vec::new();
    for_each_seed(50, |seed| {
        let reason = Simulation::new(seed).run(async |mut me: Process<Down>| {
            let ends = spawn(async |_: Process<()>| ExitReason::Timeout);
            // Another process may or may not run before this one continues.
            yield_now().await;
            me.monitor(&ends);
            let down = me.receive().await;
            receive!(me, { _ => panic!("a second answer"), after HOUR => {} });
            down.reason
        });
        if !seen.contains(&reason) {
            seen.push(reason);
        }
    });
    assert!(seen.len() == 2 && seen.contains(&ExitReason::Timeout), "{seen:?}");
    assert!(seen.contains(&ExitReason::NoProcess), "{seen:?}");
}
