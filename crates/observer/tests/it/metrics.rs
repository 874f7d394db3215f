//! Tests of scraped metrics on a running node, and of the dashboard that queries them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::prometheus::Scrape;
use crate::support::{PERIOD, until, until_some};
use purlin::{Node, Process};
use purlin_ack::server::{Counts, Latency};
use purlin_observer::metrics::{ALL, Exporter, Type};
use purlin_observer::snapshot::{Sampler, Snapshot};
use purlin_observer::warnings::Linter;

const DASHBOARD: &str = include_str!("../../../../docs/grafana/purlin.json");

/// Waits for a snapshot after number `before`.
fn next(sampler: &Sampler, before: u64) -> Arc<Snapshot> {
    let mut snapshots = sampler.subscribe();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let snapshot = snapshots.wait_for(|snapshot| snapshot.number > before).await;
        Arc::clone(&snapshot.expect("the sampler lives"))
    })
}

/// Returns two scrapes, one snapshot apart, of a node that has a process with five queued messages.
fn scrapes() -> [Scrape; 2] {
    let node = Node::builder().name("shop@127.0.0.1").workers(2).build().unwrap();
    let sampler = Sampler::every(&node, PERIOD).unwrap();
    let exporter = Exporter::new(node.name());
    let lazy = node.spawn(async |_: Process<u8>| std::future::pending::<()>().await);
    (0..5).for_each(|number| lazy.send(number));
    let _watching = sampler.watch();
    let mut before = 0;
    let scrapes = [(); 2].map(|()| {
        let mut snapshot = Snapshot::clone(&next(&sampler, before));
        before = snapshot.number;
        // Not every operating system reports the resident set.
        let memory = &mut Arc::make_mut(&mut snapshot.overview).memory;
        memory.resident = memory.resident.or(Some(1 << 20));
        let warnings = Linter::default().check(&snapshot);
        Scrape::read(&exporter.scrape(|recording| {
            recording.record(&snapshot, &warnings);
            recording.record_round_trip("bank@127.0.0.1", Duration::from_millis(20));
            recording.record_dropped("bank@127.0.0.1", 3);
            recording.record_server("orders", &Counts::default(), &Latency::default());
        }))
    });
    node.stop_blocking();
    scrapes
}

#[test]
fn a_scrape_has_the_nodes_figures_and_every_metric_has_type_and_help() {
    let [first, second] = scrapes();
    assert_eq!(second.value("purlin_process_count"), 1.0);
    assert_eq!(second.value("purlin_process_limit"), 134_216_704.0);
    assert_eq!(second.value("purlin_mailbox_longest_message_count"), 5.0);
    assert_eq!(second.value("purlin_mailbox_message_count"), 5.0);
    assert!(second.value("purlin_node_uptime_seconds") > first.value("purlin_node_uptime_seconds"));
    assert_eq!(second.value("purlin_peer_round_trip_duration_seconds"), 0.02);
    assert_eq!(second.value("purlin_peer_dropped_message_count"), 3.0);
    assert_eq!(second.of("purlin_worker_utilization_ratio").count(), 2);
    let kinds: Vec<_> = second.of("purlin_warning_count").collect();
    assert!(kinds.len() > 4 && kinds.iter().all(|kind| kind.value == 0.0), "{kinds:?}");
    for sample in &second.samples {
        assert_eq!(sample.labels["purlin_node_name"], "shop@127.0.0.1");
        assert!(sample.labels.len() <= 3, "{sample:?}");
    }
    assert_eq!(second.types.len(), ALL.len(), "{:?}", second.types);
    for metric in ALL {
        let begins = metric.name.replace('.', "_");
        let line = second
            .helps
            .iter()
            .find(|(name, help)| name.starts_with(&begins) && help.as_str() == metric.what);
        let (name, _) = line.unwrap_or_else(|| panic!("no {}", metric.name));
        let counter = metric.kind == Type::Counter;
        assert_eq!(second.types[name] == "counter", counter, "{name}");
        assert_eq!(name.ends_with("_total"), counter, "{name}");
        for sample in second.of(name) {
            let mut labels = metric.labels.iter().map(|label| label.replace('.', "_"));
            let all = labels.all(|label| sample.labels.contains_key(&label));
            assert!(all && sample.labels.len() == metric.labels.len() + 1, "{sample:?}");
        }
    }
}

#[test]
fn messages_and_turns_are_counted() {
    let node = Node::builder().name("shop").workers(2).build().unwrap();
    let sampler = Sampler::every(&node, PERIOD).unwrap();
    let exporter = Exporter::new(node.name());
    let _watching = sampler.watch();
    let mut snapshot = next(&sampler, 0);
    for _ in 0..1000 {
        node.block_on(async |mut me: Process<u8>| {
            me.pid().send(1);
            me.receive().await;
        });
    }
    until_some("a thousand messages and turns", || {
        snapshot = next(&sampler, snapshot.number);
        let scrape = Scrape::read(&exporter.scrape(|recording| recording.record(&snapshot, &[])));
        let sent = scrape.value("purlin_sent_messages_total");
        let turns: f64 = scrape.of("purlin_worker_turns_total").map(|one| one.value).sum();
        assert!(sent < 10_000.0 && turns < 100_000.0, "{sent} sent, {turns} turns");
        (sent >= 1000.0 && turns >= 1000.0).then_some(())
    });
    node.stop_blocking();
}

#[test]
fn a_departed_node_is_no_longer_exported() {
    let exporter = Exporter::new("shop");
    let of_bank = |text: String| text.contains(r#"purlin_peer_node_name="bank""#);
    assert!(of_bank(
        exporter.scrape(|recording| recording.record_round_trip("bank", Duration::ZERO))
    ));
    until("it is no longer listed", || !of_bank(exporter.scrape(|_| {})));
}

#[test]
fn the_dashboard_queries_exactly_the_exported_metrics() {
    let [_, scrape] = scrapes();
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("it is JSON");
    let mut asked = BTreeSet::new();
    for panel in dashboard["panels"].as_array().expect("a list") {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let expression = target["expr"].as_str().expect("an expression");
            asked.extend(metrics_of(expression));
            for label in labels_of(target["legendFormat"].as_str().expect("a legend")) {
                let mut named = metrics_of(expression).into_iter();
                let has =
                    |name: String| scrape.of(&name).any(|one| one.labels.contains_key(&label));
                assert!(named.all(has), "{label} of {expression}");
            }
        }
    }
    let exported: BTreeSet<_> = scrape.types.keys().cloned().collect();
    assert_eq!(asked, exported);
}

/// Returns the metrics named in a query: the words with an underscore outside of braces and brackets.
fn metrics_of(expression: &str) -> BTreeSet<String> {
    let mut depth = 0;
    let expression = expression.replace("by (purlin_node_name)", "");
    let outside = expression.replace("histogram_quantile(", "(").chars().fold(
        String::new(),
        |mut text, character| {
            match character {
                '{' | '[' => depth += 1,
                '}' | ']' => depth -= 1,
                other if depth == 0 => text.push(other),
                _ => {}
            }
            text
        },
    );
    let words = outside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.contains('_')).map(str::to_owned).collect()
}

/// Returns the labels named in a legend: `{{label}}`.
fn labels_of(legend: &str) -> Vec<String> {
    let named = legend.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    named.map(|(label, _)| label.to_owned()).collect()
}
