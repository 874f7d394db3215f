//! Tests of the metrics endpoint over a real connection.

use purlin::Process;

use crate::prometheus::Scrape;
use crate::support::{Seen, until_some};

#[test]
fn each_scrape_has_current_figures_of_the_node() {
    let seen = Seen::start();
    let lazy = seen.node.spawn(async |_: Process<u8>| std::future::pending::<()>().await);
    (0..7).for_each(|number| lazy.send(number));
    let first = seen.get("/metrics");
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(first.head.contains("content-type: text/plain; version=0.0.4"), "{}", first.head);
    let first = Scrape::read(&first.body);
    assert_eq!(first.value("purlin_mailbox_longest_message_count"), 7.0);
    let up = first.of("purlin_node_uptime_seconds").next().expect("it is there");
    assert_eq!(up.labels["purlin_node_name"], "zanzibar");
    until_some("a newer scrape", || {
        let scrape = Scrape::read(&seen.get("/metrics").body);
        (scrape.value("purlin_node_uptime_seconds") > up.value).then_some(())
    });
}

// utilization is measured between two snapshots, and between two scrapes there is no watcher
#[test]
fn a_single_scrape_of_a_busy_node_has_a_utilization_above_zero() {
    let seen = Seen::start();
    seen.node.spawn(async |_: Process<u8>| {
        loop {
            purlin::consume_budget().await;
        }
    });
    let scrape = Scrape::read(&seen.get("/metrics").body);
    let busy: Vec<_> = scrape.of("purlin_worker_utilization_ratio").collect();
    assert!(busy.len() == 2 && busy.iter().any(|worker| worker.value > 0.0), "{busy:?}");
}
