//! Tests in virtual time: an hour takes milliseconds.

use std::time::Duration;

use purlin::server::ServerRef;
use purlin::{CallError, Process, receive};
use purlin_testkit::{Simulation, for_each_seed};

use crate::counter::{Counter, CounterClient as _};
use crate::tree;

/// Half a second after a tick of the clock.
const HALF: Duration = Duration::from_millis(500);

fn counter() -> ServerRef<Counter> {
    ServerRef::whereis("counter").expect("it has started")
}

#[test]
fn counter_is_advanced_every_second() {
    let mut simulation = Simulation::new(1);
    simulation.run(async |mut me: Process<()>| {
        let _supervisor = tree().start_link(&me).await.expect("its children start");
        receive!(me, { after Duration::from_secs(3600) + HALF => {} });
        assert_eq!(counter().add(0).await, Ok(3600));
    });
}

/// With each seed the processes run in another order.
#[test]
fn counter_and_clock_are_restarted_after_a_crash() {
    for_each_seed(20, |seed| {
        let mut simulation = Simulation::new(seed);
        simulation.run(async |mut me: Process<()>| {
            let _supervisor = tree().start_link(&me).await.expect("its children start");
            receive!(me, { after Duration::from_secs(5) + HALF => {} });
            let crashed = counter();
            assert!(matches!(crashed.add(u64::MAX).await, Err(CallError::Ended(_))));
            receive!(me, { after Duration::from_secs(3) + HALF => {} });
            assert_ne!(counter().id(), crashed.id());
            assert_eq!(counter().add(0).await, Ok(3));
        });
    });
}
