//! Recording snapshots in the `metrics` facade. A [`Recording`] is immutable; any thread may use it.

use std::ops::RangeInclusive;
use std::time::Duration;

use metrics::{counter, gauge};
use purlin_ack::server::{Counts, Latency};

use super::names::{self, ALL, Metric, NODE};
use crate::snapshot::Snapshot;
use crate::warnings::{Kind, Warning};

/// Bounds of the latency buckets as powers of two nanoseconds: from 4 µs to 34 s.
const POWERS: RangeInclusive<u32> = 12..=35;

/// Records a node's metrics in the facade: in the installed recorder, or in a local one
/// (`metrics::with_local_recorder`).
///
/// ```
/// use purlin::Node;
/// use purlin_observer::snapshot::Sampler;
/// use purlin_observer::metrics::Recording;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder().name("shop").build()?;
/// let sampler = Sampler::start(&node)?;
/// // After a recorder has been installed; `record` is called for each update:
/// let recording = Recording::new("shop");
/// recording.record(&sampler.latest(), &[]);
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
///
/// COST: a look-up per series, and a pass over the column of mailbox lengths.
#[derive(Clone, Debug)]
pub struct Recording {
    node: String,
}

impl Recording {
    /// Creates a recording for the node named `node` and describes all metrics to the current recorder.
    #[must_use]
    pub fn new(node: &str) -> Self {
        ALL.iter().for_each(Metric::describe);
        Self { node: node.to_owned() }
    }

    /// Records a snapshot and the current warnings.
    pub fn record(&self, snapshot: &Snapshot, warnings: &[Warning]) {
        self.record_gauges(snapshot);
        self.record_counters(snapshot);
        for kind in Kind::ALL {
            let of_kind = warnings.iter().filter(|warning| warning.kind == kind).count();
            self.set(&names::WARNINGS, &[kind.name()], of_kind as f64);
        }
    }

    /// Records the counters and the latency histogram of the ack server `name`. Counters must not decrease, so a
    /// different server needs a different name.
    pub fn record_server(&self, name: &str, counts: &Counts, latency: &Latency) {
        for nanoseconds in POWERS.map(|power| 1 << power) {
            let limit = Duration::from_nanos(nanoseconds);
            let seconds = limit.as_secs_f64().to_string();
            self.count(&names::ACK_LATENCY, &[name, &seconds], latency.below(limit));
        }
        self.count(&names::ACK_LATENCY, &[name, "+Inf"], latency.count());
        self.set(&names::ACK_CONNECTIONS, &[name], counts.connections as f64);
        self.count(&names::ACK_MESSAGES, &[name], counts.messages);
        self.count(&names::ACK_ACKS, &[name], counts.acks);
        self.count(&names::ACK_REFUSALS, &[name], counts.refusals);
        self.count(&names::ACK_EVICTED, &[name], counts.sessions_evicted);
        self.count(&names::ACK_NOT_ACCEPTED, &[name], counts.resource_exhausted);
        self.set(&names::ACK_BUFFERS, &[name], counts.buffer_bytes as f64);
        for (reason, closed) in [
            ("too_large", counts.too_large),
            ("idle_timeout", counts.idle_timeout),
            ("slow_reader", counts.slow_reader),
            ("insecure", counts.insecure),
            ("failed", counts.failed),
            ("over_address", counts.over_address),
            ("gave_way", counts.gave_way),
            ("over_budget", counts.over_budget),
            ("session_refused", counts.sessions_refused),
        ] {
            self.count(&names::ACK_CLOSED, &[name, reason], closed);
        }
    }

    /// Records the last round-trip time to a connected node.
    pub fn record_round_trip(&self, peer: &str, took: Duration) {
        self.set(&names::ROUND_TRIP, &[peer], took.as_secs_f64());
    }

    /// Records the number of messages of a connected node that were dropped.
    pub fn record_dropped(&self, peer: &str, dropped: u64) {
        self.set(&names::PEER_DROPPED, &[peer], dropped as f64);
    }

    fn record_gauges(&self, snapshot: &Snapshot) {
        let (overview, table) = (&snapshot.overview, &snapshot.processes);
        let mailboxes = table.mailboxes();
        let waiting: u64 = mailboxes.iter().copied().map(u64::from).sum();
        let age = overview.at.saturating_sub(table.made().1);
        for (metric, value) in [
            (names::UPTIME, overview.at.as_secs_f64()),
            (names::PROCESSES, overview.processes as f64),
            (names::PROCESS_LIMIT, overview.max_processes.into()),
            (names::PROCESS_MEMORY, overview.memory.processes as f64),
            (names::GLOBAL_QUEUE, overview.global_queue as f64),
            (names::WAITING, waiting as f64),
            (names::LONGEST, mailboxes.iter().max().copied().unwrap_or_default().into()),
            (names::TIMERS, overview.timers as f64),
            (names::HOGS, overview.hogs.len() as f64),
            (names::OBSERVER_BUSY, snapshot.cost.share),
            (names::OBSERVER_LEFT_OUT, snapshot.cost.left_out as f64),
            (names::TABLE_AGE, age.as_secs_f64()),
        ] {
            self.set(&metric, &[], value);
        }
        // If the operating system does not report the figure, the series is absent rather than zero.
        if let Some(resident) = overview.memory.resident {
            self.set(&names::RESIDENT, &[], resident as f64);
        }
        for (worker, load) in overview.workers.iter().enumerate() {
            let worker = worker.to_string();
            // If the utilization was not measured, the gauge keeps its last value.
            if overview.measured {
                self.set(&names::WORKER_BUSY, &[&worker], load.busy);
            }
            self.set(&names::WORKER_QUEUE, &[&worker], load.queue as f64);
        }
    }

    fn record_counters(&self, snapshot: &Snapshot) {
        let overview = &snapshot.overview;
        self.count(&names::SENT, &[], overview.messages);
        self.count(&names::REDUCTIONS, &[], overview.reductions);
        for (worker, load) in overview.workers.iter().enumerate() {
            self.count(&names::WORKER_TURNS, &[&worker.to_string()], load.turns);
        }
        let drops = snapshot.overview.drops.total;
        for (reason, dropped) in [
            ("ended", drops.ended),
            ("alias", drops.alias),
            ("rejected", drops.rejected),
            ("newest", drops.newest),
            ("oldest", drops.oldest),
        ] {
            self.count(&names::DROPPED, &[reason], dropped);
        }
    }

    /// Returns the labels of a series with the given values.
    fn labels(&self, metric: &Metric, values: &[&str]) -> Vec<(&'static str, String)> {
        let values = values.iter().map(|value| (*value).to_owned());
        let own = metric.labels.iter().copied().zip(values);
        [(NODE, self.node.clone())].into_iter().chain(own).collect()
    }

    fn set(&self, metric: &Metric, values: &[&str], value: f64) {
        gauge!(metric.name, &self.labels(metric, values)).set(value);
    }

    fn count(&self, metric: &Metric, values: &[&str], value: u64) {
        counter!(metric.name, &self.labels(metric, values)).absolute(value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Exporter;
    use crate::snapshot::{Overview, Snapshot};

    #[test]
    fn a_counter_never_decreases() {
        let exporter = Exporter::new("shop");
        let sent = [5, 7, 6].map(|messages| {
            let overview = Arc::new(Overview { messages, ..Overview::default() });
            let snapshot = Snapshot { overview, ..Snapshot::none() };
            let text = exporter.scrape(|recording| recording.record(&snapshot, &[]));
            let mut lines = text.lines();
            let line = lines.find(|line| line.starts_with("purlin_sent_messages_total{"));
            line.expect("it is reported").rsplit(' ').next().map(str::to_owned)
        });
        assert_eq!(sent.map(Option::unwrap_or_default), ["5", "7", "7"]);
    }

    #[test]
    fn a_node_name_with_quotes_and_newlines_is_escaped_in_the_label() {
        let exporter = Exporter::new("a\"b\nc\\");
        let text = exporter.scrape(|recording| recording.record(&Snapshot::none(), &[]));
        assert!(text.contains(r#"purlin_timer_count{purlin_node_name="a\"b\nc\\"} 0"#), "{text}");
    }
}
