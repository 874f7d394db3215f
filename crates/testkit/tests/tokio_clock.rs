//! Timers and tasks of tokio in a simulation.

use std::time::Duration;

use purlin::{Node, Process};
use purlin_testkit::{Failure, Simulation};

const MS: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_secs(86_400);

fn uptime() -> Duration {
    Node::current().expect("this is a process").uptime()
}

#[test]
fn the_clock_of_tokio_advances_too() {
    let mut simulation = Simulation::new(1);
    simulation.run(async |mut me: Process<&'static str>| {
        // CLOCK: tokio's, which the simulation moves.
        let begun = tokio::time::Instant::now();
        let to = me.pid();
        tokio::spawn(async move {
            let never = tokio::time::timeout(30 * MS, std::future::pending::<()>()).await;
            assert!(never.is_err());
            to.send("tokio's");
        });
        me.pid().send_after(29 * MS, "before");
        me.pid().send_after(31 * MS, "after");
        for (message, time) in [("before", 29 * MS), ("tokio's", 30 * MS), ("after", 31 * MS)] {
            assert_eq!(me.receive().await, message);
            assert!(uptime() >= time && uptime() < time + 2 * MS, "{message}: {:?}", uptime());
        }
        tokio::time::interval_at(begun + 3 * DAY, DAY).tick().await;
        assert!(begun.elapsed() >= 3 * DAY && uptime() >= 3 * DAY);
        let never = tokio::time::timeout(DAY, me.receive()).await;
        assert!(never.is_err() && uptime() < 5 * DAY);
    });
}

// CLOCK: tokio's, which the simulation moves.
#[test]
fn a_sleep_of_tokio_takes_its_time_up_to_tokios_maximum() {
    let longest = 30 * 365 * DAY;
    for time in [364 * DAY, 365 * DAY, 366 * DAY, 900 * DAY, longest - MS, longest] {
        let mut simulation = Simulation::new(1);
        simulation.run(async move |_: Process<()>| tokio::time::sleep(time).await);
        assert_eq!(simulation.now(), time);
        let waits = simulation.try_run(async |mut me: Process<()>| me.receive().await);
        assert!(matches!(waits, Err(Failure::Deadlock { .. })), "{waits:?}");
        assert_eq!(simulation.now(), time, "the time in which nothing happened has not passed");
        // The timeout does not stay behind as a timer.
        simulation.run(async move |_: Process<()>| {
            let timeout = tokio::time::timeout(time, tokio::time::sleep(time - MS)).await;
            assert!(timeout.is_ok(), "{time:?}");
        });
        assert_eq!(simulation.now(), 2 * time - MS);
    }
    let mut simulation = Simulation::new(1);
    simulation.run(async |_: Process<()>| tokio::time::sleep(Duration::MAX).await);
    assert_eq!(simulation.now(), longest, "tokio ends each longer sleep then");
}

// CLOCK: tokio's, which the simulation moves.
#[test]
fn a_sleep_of_tokio_of_years_counts_from_its_start() {
    let mut simulation = Simulation::new(2);
    let late = simulation.node().spawn(async |_: Process<()>| {
        tokio::time::sleep(400 * DAY).await;
    });
    simulation.advance(390 * DAY);
    assert!(late.is_alive());
    simulation.advance(10 * DAY - MS);
    assert!(late.is_alive());
    simulation.advance(MS);
    assert!(!late.is_alive());
    assert_eq!(simulation.now(), 400 * DAY);
}

#[test]
fn an_advance_runs_what_tasks_of_tokio_do_at_its_end() {
    let mut simulation = Simulation::new(3);
    let pid = simulation.node().spawn(async |mut me: Process<u32>| {
        let to = me.pid();
        tokio::spawn(async move {
            // CLOCK: tokio's, which the simulation moves.
            tokio::time::sleep(2 * MS).await;
            // Each task has to be polled after the one that it waits for.
            let mut after = tokio::spawn(async {});
            for _ in 0..100 {
                after = tokio::spawn(async { after.await.expect("it does not panic") });
            }
            after.await.expect("it does not panic");
            to.send(1);
        });
        assert_eq!((me.receive().await, uptime()), (1, 2 * MS));
        tokio::task::yield_now().await;
    });
    simulation.advance(MS);
    assert!(pid.is_alive());
    simulation.advance(MS);
    assert!(!pid.is_alive());
    assert_eq!(simulation.now(), 2 * MS);
}
