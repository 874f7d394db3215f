//! Whether a node answers, and how soon: real BEAM nodes, and our own.


use std::time::{Duration, Instant};

use crate::processes::{LONG, join};
use purlin_dist::cluster::PingError;
use crate::support::{Beam, Epmd};

#[tokio::test]
async fn a_beam_and_a_node_of_ours_answer_within_the_time_that_it_took_and_nobody_is_connected() {
    let epmd = Epmd::start();
    let beam = Beam::start(&epmd, "beam").await;
    let (ours, other) = (join(&epmd, "ours").await, join(&epmd, "other").await);
    for node in [&beam.name, other.name()] {
        assert_eq!(ours.ping(node, LONG).await, Err(PingError::NotConnected));
        assert!(ours.nodes().iter().all(|connected| connected != node));
        ours.connect(node).await.expect("it listens");
        let began = Instant::now();
        let round_trip = ours.ping(node, LONG).await.expect("it answers");
        assert!(round_trip > Duration::ZERO && round_trip <= began.elapsed(), "{round_trip:?}");
    }
    assert_eq!(ours.ping(ours.name(), LONG).await, Err(PingError::NotConnected));
}

#[tokio::test]
async fn who_does_not_answer_is_waited_for_as_long_as_is_said_or_until_the_connection_is_lost() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let ours = join(&epmd, "ours").await;
    ours.connect(&beam.name).await.expect("it listens");
    assert_eq!(beam.eval("sys:suspend(net_kernel)").await, "ok");
    let short = Duration::from_millis(20);
    assert_eq!(ours.ping(&beam.name, short).await, Err(PingError::Timeout(short)));
    assert_eq!(beam.eval("sys:resume(net_kernel)").await, "ok");
    assert!(ours.ping(&beam.name, LONG).await.is_ok());

    assert_eq!(beam.eval("sys:suspend(net_kernel)").await, "ok");
    let name = beam.name.clone();
    let (lost, ()) = tokio::join!(biased; ours.ping(&name, LONG), beam.kill());
    assert_eq!(lost, Err(PingError::Lost));
}
