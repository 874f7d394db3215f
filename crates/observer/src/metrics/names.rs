//! Definitions of all metrics: name, type, unit, help text and labels.
//!
//! *The facade* is the `metrics` crate. The exporter to Prometheus appends the unit to the name.

use metrics::{Unit, describe_counter, describe_gauge};

/// Definition of one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Metric {
    /// Name in the facade.
    pub name: &'static str,
    /// Counter or gauge.
    pub kind: Type,
    /// Unit. [`Unit::Percent`] is the facade's unit of a ratio from 0 to 1.
    pub unit: Unit,
    /// Help text, as a sentence.
    pub what: &'static str,
    /// Labels of its series in addition to the node's name, which all series have.
    pub labels: &'static [&'static str],
}

/// Type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A value that only increases.
    Counter,
    /// A value that goes up and down.
    Gauge,
}

/// Label of all metrics: name of the node.
pub(super) const NODE: &str = "purlin.node.name";
/// Index of the worker.
pub(super) const WORKER: &str = "purlin.worker.id";
/// Why a message was dropped, such as `ended` for a recipient that has ended.
pub(super) const REASON: &str = "purlin.drop.reason";
/// Kind of warning: [`Kind::name`](crate::warnings::Kind::name).
pub(super) const KIND: &str = "purlin.warning.kind";
/// Name of the connected node.
pub(super) const PEER: &str = "purlin.peer.node.name";
/// Name of the ack server.
pub(super) const SERVER: &str = "purlin.ack.server.name";
/// Upper bound of a latency bucket in seconds; `+Inf` for all acks. WHY not named like the others:
/// Prometheus identifies a histogram bucket by `le`.
pub(super) const SECONDS: &str = "le";
/// Why the server closed a connection, such as `too_large`.
pub(super) const CLOSED_FOR: &str = "purlin.ack.close.reason";

/// Defines a constant for each metric, and `ALL` with all of them.
macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident = $metric:expr;)+) => {
        $($(#[$doc])* pub(super) const $name: Metric = $metric;)+

        /// All metrics.
        pub const ALL: &[Metric] = &[$($name),+];
    };
}

metrics! {
    UPTIME = gauge("purlin.node.uptime", Unit::Seconds, "Uptime of the node.");
    PROCESSES = gauge("purlin.process.count", Unit::Count, "Live processes.");
    PROCESS_LIMIT = gauge("purlin.process.limit", Unit::Count, "Limit of live processes.");
    PROCESS_MEMORY = gauge(
        "purlin.process.memory.usage",
        Unit::Bytes,
        "Memory of processes and queued messages, without heap data that they point to.",
    );
    /// Resident set size of the operating system's process, not of a purlin process. Absent if the
    /// system does not report it.
    RESIDENT = gauge("process.memory.usage", Unit::Bytes, "Resident set of the program.");
    WORKER_BUSY = gauge(
        "purlin.worker.utilization",
        Unit::Percent,
        "Share of time in which a worker was not asleep.",
    )
    .of(&[WORKER]);
    WORKER_QUEUE = gauge(
        "purlin.worker.queue.process.count",
        Unit::Count,
        "Runnable processes in the queue of a worker.",
    )
    .of(&[WORKER]);
    WORKER_TURNS = counter("purlin.worker.turns", "Process turns of a worker.").of(&[WORKER]);
    GLOBAL_QUEUE =
        gauge("purlin.queue.process.count", Unit::Count, "Runnable processes in the global queue.");
    SENT = counter(
        "purlin.sent.messages",
        "Messages and signals sent by processes, except by blocking ones.",
    );
    REDUCTIONS = counter(
        "purlin.reductions",
        "Reductions, except of blocking processes: one per poll and per send, plus the budget spent.",
    );
    DROPPED = counter("purlin.dropped.messages", "Dropped messages by reason.").of(&[REASON]);
    WAITING =
        gauge("purlin.mailbox.message.count", Unit::Count, "Queued messages in all mailboxes.");
    LONGEST = gauge(
        "purlin.mailbox.longest.message.count",
        Unit::Count,
        "Queued messages in the longest mailbox.",
    );
    TIMERS = gauge("purlin.timer.count", Unit::Count, "Pending timers.");
    HOGS = gauge("purlin.hog.count", Unit::Count, "Processes that block a worker thread.");
    WARNINGS =
        gauge("purlin.warning.count", Unit::Count, "Current warnings of the observer by kind.")
            .of(&[KIND]);
    OBSERVER_BUSY = gauge(
        "purlin.observer.utilization",
        Unit::Percent,
        "Share of one core that the observer's sampling takes.",
    );
    /// Normally 0; the number of rows of the table is limited.
    OBSERVER_LEFT_OUT = gauge(
        "purlin.observer.left_out.process.count",
        Unit::Count,
        "Processes missing in the observer's process table.",
    );
    TABLE_AGE = gauge(
        "purlin.observer.table.age",
        Unit::Seconds,
        "Age of the observer's process table, the source of mailbox metrics.",
    );
    ROUND_TRIP = gauge(
        "purlin.peer.round_trip.duration",
        Unit::Seconds,
        "Last round-trip time to a connected node.",
    )
    .of(&[PEER]);
    /// [`Traffic::dropped`](purlin_dist::link::Traffic::dropped). A gauge: it begins again with the next connection.
    PEER_DROPPED = gauge(
        "purlin.peer.dropped.message.count",
        Unit::Count,
        "Messages of a connected node that were dropped because they were invalid or exceeded a limit.",
    )
    .of(&[PEER]);
    // Metrics of ack servers (`purlin_ack`).
    ACK_CONNECTIONS =
        gauge("purlin.ack.connection.count", Unit::Count, "Open connections of a server.")
            .of(&[SERVER]);
    ACK_MESSAGES =
        counter("purlin.ack.messages", "Messages acknowledged by a server.").of(&[SERVER]);
    ACK_ACKS = counter("purlin.ack.acks", "Acks sent by a server.").of(&[SERVER]);
    /// Latency histogram as cumulative counters, one for each value of the label [`SECONDS`].
    ACK_LATENCY = counter(
        "purlin.ack.latency.acks",
        "Acks by upper bound of the latency from reading a message to its ack.",
    )
    .of(&[SERVER, SECONDS]);
    ACK_REFUSALS = counter("purlin.ack.refusals", "Messages refused by a server.").of(&[SERVER]);
    ACK_CLOSED = counter(
        "purlin.ack.closed.connections",
        "Connections closed by a server because of an error, by reason.",
    )
    .of(&[SERVER, CLOSED_FOR]);
    ACK_EVICTED = counter(
        "purlin.ack.evicted.sessions",
        "Positions of disconnected clients evicted from the full session table of a server.",
    )
    .of(&[SERVER]);
    ACK_NOT_ACCEPTED = counter(
        "purlin.ack.failed.accepts",
        "Accepts of a server that failed for lack of descriptors or memory.",
    )
    .of(&[SERVER]);
    ACK_BUFFERS = gauge(
        "purlin.ack.buffer.usage",
        Unit::Bytes,
        "Bytes in use of a server's budget for read buffers.",
    )
    .of(&[SERVER]);
}

const fn gauge(name: &'static str, unit: Unit, what: &'static str) -> Metric {
    Metric { name, kind: Type::Gauge, unit, what, labels: &[] }
}

const fn counter(name: &'static str, what: &'static str) -> Metric {
    Metric { name, kind: Type::Counter, unit: Unit::Count, what, labels: &[] }
}

impl Metric {
    /// Sets the labels.
    const fn of(self, labels: &'static [&'static str]) -> Self {
        Self { labels, ..self }
    }

    /// Registers the unit and help text with the current recorder of the facade.
    pub(super) fn describe(&self) {
        match self.kind {
            Type::Counter => describe_counter!(self.name, self.unit, self.what),
            Type::Gauge => describe_gauge!(self.name, self.unit, self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Type};

    #[test]
    fn metric_names_are_dotted_words_whose_last_word_gives_the_type() {
        for (at, metric) in ALL.iter().enumerate() {
            let name = metric.name;
            let plain = |c: char| c.is_ascii_lowercase() || "._".contains(c);
            assert!(name.chars().all(plain) && !name.contains(".."), "{name}");
            let last = name.rsplit('.').next().unwrap_or_default();
            let gauges = ["count", "limit", "usage", "utilization", "uptime", "age", "duration"];
            assert_eq!(gauges.contains(&last), metric.kind == Type::Gauge, "{name}");
            assert_eq!(last.ends_with('s'), metric.kind == Type::Counter, "{name}");
            assert!(metric.what.ends_with('.'), "{name}");
            assert!(ALL[..at].iter().all(|other| other.name != name), "{name} twice");
        }
    }
}
