//! From censuses to the facade.
//!
//! Belongs to whoever scrapes: one thread at a time.

use std::time::Duration;

use metrics::{counter, gauge};
use purlin_ack::server::Counts;

use super::names::{self, ALL, Metric, NODE};
use crate::census::{Census, History};
use crate::warnings::{Kind, Warning};

/// What is told to the facade: to the recorder that is installed, or to a local one
/// (`metrics::with_local_recorder`).
///
/// Counters begin at 0 with this value. What was sampled since the last time is added from the
/// [history](History), which reaches back ten minutes, so scrapes may be that far apart. While nobody
/// looks nothing is sampled, and the first sample afterwards stands for all that time.
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
/// let mut recording = Recording::new("shop");
/// recording.tell(&sampler.latest(), &sampler.history(), &[]);
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
///
/// COST: a look-up for each series, and a pass over the column of mailbox lengths.
#[derive(Debug)]
pub struct Recording {
    node: String,
    /// Up to which overview things have been added up.
    at: Duration,
    sent: f64,
    reductions: f64,
    /// Turns, by worker.
    turns: Vec<f64>,
}

impl Recording {
    /// For a node of that name. Describes all metrics to the recorder that is there.
    #[must_use]
    pub fn new(node: &str) -> Self {
        ALL.iter().for_each(Metric::describe);
        Self {
            node: node.to_owned(),
            at: Duration::ZERO,
            sent: 0.0,
            reductions: 0.0,
            turns: Vec::new(),
        }
    }

    /// Tells what there is.
    pub fn tell(&mut self, census: &Census, history: &History, warnings: &[Warning]) {
        self.add_up(history);
        self.tell_figures(census);
        self.tell_counts(census);
        for kind in Kind::ALL {
            let of_kind = warnings.iter().filter(|warning| warning.kind == kind).count();
            self.set(&names::WARNINGS, &[kind.name()], of_kind as f64);
        }
    }

    /// Tells what a server that acknowledges has done, under that name.
    pub fn tell_server(&self, name: &str, counts: &Counts) {
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

    /// Adds what has happened since the last time.
    fn add_up(&mut self, history: &History) {
        for overview in history.iter().filter(|overview| overview.at > self.at) {
            let span = overview.span.as_secs_f64();
            self.sent += overview.messages_per_second * span;
            self.reductions += overview.reductions_per_second * span;
            if self.turns.len() < overview.workers.len() {
                self.turns.resize(overview.workers.len(), 0.0);
            }
            for (turns, worker) in self.turns.iter_mut().zip(&overview.workers) {
                *turns += worker.turns_per_second * span;
            }
        }
        self.at = history.iter().next_back().map_or(self.at, |newest| newest.at.max(self.at));
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
            self.set(&names::WORKER_BUSY, &[&worker], load.busy);
            self.set(&names::WORKER_QUEUE, &[&worker], load.queue as f64);
        }
    }

    fn tell_counts(&self, census: &Census) {
        // WHY rounded: what was a number of things was divided by a time, and multiplied again.
        self.count(&names::SENT, &[], self.sent.round() as u64);
        self.count(&names::REDUCTIONS, &[], self.reductions.round() as u64);
        for (worker, turns) in self.turns.iter().enumerate() {
            self.count(&names::WORKER_TURNS, &[&worker.to_string()], turns.round() as u64);
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
    use std::time::Duration;

    use super::super::Exporter;
    use crate::census::{Census, History, Overview, WorkerLoad};

    fn overview(at: u64, span: u64, messages_per_second: f64) -> Arc<Overview> {
        let [at, span] = [at, span].map(Duration::from_secs);
        let load = WorkerLoad { turns_per_second: 2.0, ..WorkerLoad::default() };
        Arc::new(Overview {
            at,
            span,
            messages_per_second,
            workers: vec![load],
            ..Overview::default()
        })
    }

    fn value(text: &str, name: &str) -> String {
        let mut lines = text.lines().filter(|line| line.starts_with(&format!("{name}{{")));
        let line = lines.next().expect("it is told");
        line.rsplit_once(' ').expect("it has a value").1.to_owned()
    }

    #[test]
    fn what_was_sampled_between_two_scrapes_is_counted_once() {
        let exporter = Exporter::new("shop");
        let mut history = History::default();
        history.push(overview(1, 0, 0.0));
        history.push(overview(2, 1, 10.0));
        let census = Census::none();
        for _ in 0..2 {
            let text = exporter.scrape(&census, &history, &[], &[]);
            assert_eq!(value(&text, "purlin_sent_messages_total"), "10");
        }
        history.push(overview(4, 2, 5.0));
        history.push(overview(5, 1, 1.0));
        let text = exporter.scrape(&census, &history, &[], &[]);
        assert_eq!(value(&text, "purlin_sent_messages_total"), "21");
        assert_eq!(value(&text, "purlin_worker_turns_total"), "8");
    }

    #[test]
    fn a_name_with_quotes_and_lines_stays_one_label() {
        let text =
            Exporter::new("a\"b\nc\\").scrape(&Census::none(), &History::default(), &[], &[]);
        assert!(text.contains(r#"purlin_timer_count{purlin_node_name="a\"b\nc\\"} 0"#), "{text}");
    }
}
