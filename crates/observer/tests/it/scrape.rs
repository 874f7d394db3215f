//! What Prometheus reads, over a real connection.

use purlin::Process;

use crate::prometheus::Scrape;
use crate::support::{Seen, until_some};

#[test]
fn prometheus_reads_the_figures_of_the_node_and_each_time_new_ones() {
    let seen = Seen::start();
    let lazy = seen.node.spawn(async |_: Process<u8>| std::future::pending::<()>().await);
    (0..7).for_each(|number| lazy.send(number));
    let first = seen.get("/metrics");
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(first.head.contains("content-type: text/plain; version=0.0.4"), "{}", first.head);
    let first = Scrape::read(&first.body);
    assert_eq!(first.value("purlin_mailbox_longest_message_count"), 7.0);
    let up = first.of("purlin_node_uptime_seconds").next().expect("it is told");
    assert_eq!(up.labels["purlin_node_name"], "zanzibar");
    until_some("a newer scrape", || {
        let scrape = Scrape::read(&seen.get("/metrics").body);
        (scrape.value("purlin_node_uptime_seconds") > up.value).then_some(())
    });
}

// utilization is measured from one look to the next, and between two scrapes nobody looks
#[test]
fn a_busy_node_that_is_scraped_once_has_a_utilization_above_nothing() {
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
