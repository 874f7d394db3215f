//! From censuses to the facade. A value that never changes: any thread may tell.

use std::ops::RangeInclusive;
use std::time::Duration;

use metrics::{counter, gauge};
use purlin_ack::server::{Counts, Latency};

use super::names::{self, ALL, Metric, NODE};
use crate::census::Census;
use crate::warnings::{Kind, Warning};

/// Of which powers of two, in nanoseconds, it is told how many acks took less: from 4 µs to half a minute.
const POWERS: RangeInclusive<u32> = 12..=35;

/// What is told to the facade: to the recorder that is installed, or to a local one
/// (`metrics::with_local_recorder`).
///
/// ```
/// use purlin::Node;
/// use purlin_observer::census::Sampler;
/// use purlin_observer::metrics::Recording;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let node = Node::builder().name("shop").build()?;
/// let sampler = Sampler::start(&node)?;
/// // After a recorder has been installed, and then whenever it is to be told:
/// let recording = Recording::new("shop");
/// recording.tell(&sampler.latest(), &[]);
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
///
/// COST: a look-up for each series, and a pass over the column of mailbox lengths.
#[derive(Clone, Debug)]
pub struct Recording {
    node: String,
}

impl Recording {
    /// For a node of that name. Describes all metrics to the recorder that is there.
    #[must_use]
    pub fn new(node: &str) -> Self {
        ALL.iter().for_each(Metric::describe);
        Self { node: node.to_owned() }
    }

    /// Tells what there is.
    pub fn tell(&self, census: &Census, warnings: &[Warning]) {
        self.tell_figures(census);
        self.tell_counts(census);
        for kind in Kind::ALL {
            let of_kind = warnings.iter().filter(|warning| warning.kind == kind).count();
            self.set(&names::WARNINGS, &[kind.name()], of_kind as f64);
        }
    }

    /// Tells what a server that acknowledges has done, under that name, and how long its acks took. Counters do not
    /// go backwards, so another server wants another name.
    pub fn tell_server(&self, name: &str, counts: &Counts, latency: &Latency) {
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
        for (reason, closed) in [
            ("too_large", counts.too_large),
            ("silent", counts.silent),
            ("deaf", counts.deaf),
            ("insecure", counts.insecure),
            ("failed", counts.failed),
            ("over_address", counts.over_address),
        ] {
            self.count(&names::ACK_CLOSED, &[name, reason], closed);
        }
    }

    /// Tells how long it took lately until a connected node had answered.
    pub fn tell_round_trip(&self, peer: &str, took: Duration) {
        self.set(&names::ROUND_TRIP, &[peer], took.as_secs_f64());
    }

    fn tell_figures(&self, census: &Census) {
        let (overview, table) = (&census.overview, &census.processes);
        let mailboxes = table.mailboxes();
        let waiting: u64 = mailboxes.iter().copied().map(u64::from).sum();
        let age = overview.at.saturating_sub(table.made().1);
        for (metric, value) in [
            (names::UPTIME, overview.at.as_secs_f64()),
            (names::PROCESSES, overview.processes as f64),
            (names::PROCESS_LIMIT, overview.max_processes.into()),
            (names::PROCESS_MEMORY, overview.memory.processes as f64),
            (names::COMMON_QUEUE, overview.queued_outside as f64),
            (names::WAITING, waiting as f64),
            (names::LONGEST, mailboxes.iter().max().copied().unwrap_or_default().into()),
            (names::TIMERS, overview.timers as f64),
            (names::HOGS, overview.hogs.len() as f64),
            (names::OBSERVER_BUSY, census.cost.share),
            (names::OBSERVER_LEFT_OUT, census.cost.left_out as f64),
            (names::TABLE_AGE, age.as_secs_f64()),
        ] {
            self.set(&metric, &[], value);
        }
        // Where the operating system does not tell there is no series, rather than one of zeros.
        if let Some(resident) = overview.memory.resident {
            self.set(&names::RESIDENT, &[], resident as f64);
        }
        for (worker, load) in overview.workers.iter().enumerate() {
            let worker = worker.to_string();
            // What was not measured stays what it was told to be last.
            if overview.measured {
                self.set(&names::WORKER_BUSY, &[&worker], load.busy);
            }
            self.set(&names::WORKER_QUEUE, &[&worker], load.queue as f64);
        }
    }

    fn tell_counts(&self, census: &Census) {
        let overview = &census.overview;
        self.count(&names::SENT, &[], overview.messages);
        self.count(&names::REDUCTIONS, &[], overview.reductions);
        for (worker, load) in overview.workers.iter().enumerate() {
            self.count(&names::WORKER_TURNS, &[&worker.to_string()], load.turns);
        }
        let drops = census.overview.drops.total;
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

    /// The labels of a series, with these values.
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
    use crate::census::{Census, Overview};

    #[test]
    fn a_count_never_goes_backwards() {
        let exporter = Exporter::new("shop");
        let sent = [5, 7, 6].map(|messages| {
            let overview = Arc::new(Overview { messages, ..Overview::default() });
            let census = Census { overview, ..Census::none() };
            let text = exporter.scrape(|recording| recording.tell(&census, &[]));
            let mut lines = text.lines();
            let line = lines.find(|line| line.starts_with("purlin_sent_messages_total{"));
            line.expect("it is told").rsplit(' ').next().map(str::to_owned)
        });
        assert_eq!(sent.map(Option::unwrap_or_default), ["5", "7", "7"]);
    }

    #[test]
    fn a_name_with_quotes_and_lines_stays_one_label() {
        let exporter = Exporter::new("a\"b\nc\\");
        let text = exporter.scrape(|recording| recording.tell(&Census::none(), &[]));
        assert!(text.contains(r#"purlin_timer_count{purlin_node_name="a\"b\nc\\"} 0"#), "{text}");
    }
}
