//! Pings of BEAM nodes and of our nodes.

use std::time::{Duration, Instant};

use crate::processes::join;
use crate::support::{Beam, Epmd, HANG};
use purlin_dist::cluster::PingError;

#[tokio::test]
async fn a_ping_returns_at_most_the_elapsed_time_and_makes_no_connection() {
    let epmd = Epmd::start();
    let beam = Beam::start(&epmd, "beam").await;
    let (ours, other) = (join(&epmd, "ours").await, join(&epmd, "other").await);
    for node in [&beam.name, other.name()] {
        assert_eq!(ours.ping(node, HANG).await, Err(PingError::NotConnected));
        assert!(ours.nodes().iter().all(|connected| connected != node));
        ours.connect(node).await.expect("it listens");
        // WHY real time: the returned value is one, and is at most the time of the whole call.
        let began = Instant::now();
        let round_trip = ours.ping(node, HANG).await.expect("it answers");
        assert!(round_trip > Duration::ZERO && round_trip <= began.elapsed(), "{round_trip:?}");
    }
    assert_eq!(ours.ping(ours.name(), HANG).await, Err(PingError::NotConnected));
}

#[tokio::test]
async fn a_ping_without_an_answer_ends_by_timeout_or_with_the_connection() {
    let epmd = Epmd::start();
    let mut beam = Beam::start(&epmd, "beam").await;
    let ours = join(&epmd, "ours").await;
    ours.connect(&beam.name).await.expect("it listens");
    assert_eq!(beam.eval("sys:suspend(net_kernel)").await, "ok");
    // WHY real time: the other node does not answer at all, so the timeout expires whatever its length.
    let short = Duration::from_millis(20);
    assert_eq!(ours.ping(&beam.name, short).await, Err(PingError::Timeout(short)));
    assert_eq!(beam.eval("sys:resume(net_kernel)").await, "ok");
    assert!(ours.ping(&beam.name, HANG).await.is_ok());

    assert_eq!(beam.eval("sys:suspend(net_kernel)").await, "ok");
    let name = beam.name.clone();
    let (lost, ()) = tokio::join!(biased; ours.ping(&name, HANG), beam.kill());
    assert_eq!(lost, Err(PingError::Lost));
}
