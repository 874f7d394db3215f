//! Forwarding of `tracing` events to the `logger` of subscribed BEAM nodes.
//!
//! [`Logs`] is a layer of the program's subscriber. A BEAM process subscribes with `purlin:log_to/2`. From then on the
//! `logger` of its node receives each event, like events of other BEAM nodes, until that process ends.
//!
//! Any thread may log. Logging never waits: events for which a connection has no capacity are dropped and counted.

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use purlin::Pid;
use purlin_term::{Atom, Map, Term};
use tokio::sync::oneshot::{Sender, channel};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::cluster::core::Core;
use crate::cluster::proxy::gone::gone;
use crate::cluster::rpc::export::Outcome;
use crate::cluster::rpc::offer::Offer;

/// The BEAM process that receives events of other nodes.
const TAKES: &str = "logger_proxy";
/// Maximum length in bytes of a forwarded text.
const MAX_TEXT: usize = 8 * 1024;

/// Log of this node, for BEAM nodes that subscribe to it. Clones share their subscriptions.
///
/// ```no_run
/// use purlin_dist::cluster::{Cluster, Logs};
/// use tracing_subscriber::prelude::*;
///
/// # async fn example(node: purlin::Node) -> Result<(), Box<dyn std::error::Error>> {
/// let logs = Logs::new();
/// tracing_subscriber::registry().with(tracing_subscriber::fmt::layer()).with(logs.clone()).init();
/// let cluster = Cluster::builder("shop@127.0.0.1".parse()?).cookie("secret").logs(&logs);
/// let cluster = cluster.start(&node).await?;
/// // On a BEAM: rpc:call('shop@127.0.0.1', purlin, log_to, [group_leader(), warning]).
/// # Ok(())
/// # }
/// ```
///
/// An event is sent as a report, a map of its fields; text is sent as binaries. Of the events of this crate itself,
/// only warnings and errors are sent.
///
/// COST: one atomic load without subscribers; otherwise one term for each event, and one message for each subscriber.
#[derive(Clone, Default)]
pub struct Logs {
    shared: Arc<Shared>,
}

/// Subscribers of log events, and the number of events dropped.
#[derive(Default)]
struct Shared {
    subscribers: RwLock<Vec<Arc<LogSubscriber>>>,
    /// Length of `subscribers`, readable without the lock.
    count: AtomicUsize,
    dropped: AtomicU64,
}

/// A subscription.
struct LogSubscriber {
    least: Level,
    /// The group leader under which events are logged there.
    leader: purlin_term::Pid,
    /// The pid that denotes our node.
    own: purlin_term::Pid,
    to: Pid<Term>,
    /// Closes when this subscription is removed.
    _listed: Sender<Infallible>,
}

impl Logs {
    /// Creates a log without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of events dropped because a connection had no capacity.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Exports the function to subscribe.
    pub(super) fn export(&self, core: &Arc<Core>) {
        let logs = self.clone();
        let log_to = move |core: &Arc<Core>, arguments: &[Term]| logs.subscribe(core, arguments);
        Offer(core).at_once("purlin", "log_to", 2, log_to);
    }

    /// `purlin:log_to(GroupLeader, Level)`: sends events of at least this severity to the node of that process.
    fn subscribe(&self, core: &Arc<Core>, arguments: &[Term]) -> Outcome {
        let badarg = || Term::atom("badarg");
        let [leader, least] = arguments else { return Err(badarg()) };
        let leader = leader.as_pid().ok_or_else(badarg)?;
        let least = least.as_atom().and_then(|least| level(least.as_str())).ok_or_else(badarg)?;
        let node = leader.node.as_str().parse().map_err(|_| badarg())?;
        let takes = core.named(Atom::from_static(TAKES), &node);
        let to = takes.ok_or_else(|| Term::atom("system_limit"))?;
        let own = core.ids.pid_of_node();
        let (listed, replaced) = channel();
        let subscriber =
            Arc::new(LogSubscriber { least, leader: leader.clone(), own, to, _listed: listed });
        self.change(|all| {
            all.retain(|one| one.leader != subscriber.leader);
            all.push(Arc::clone(&subscriber));
        });
        let (gone, logs, subscriber) =
            (gone(core, leader), self.clone(), Arc::downgrade(&subscriber));
        drop(core.runtime.spawn(async move {
            tokio::select! {
                _ = gone => logs.change(|all| all.retain(|one| Arc::as_ptr(one) != subscriber.as_ptr())),
                // A newer subscription of the same process has replaced this one, and has its own monitor.
                _ = replaced => {}
            }
        }));
        Ok(Term::atom("ok"))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<LogSubscriber>>)) {
        let mut all = self.shared.subscribers.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut all);
        // ORDER: relaxed: a hint whether to take the lock.
        self.shared.count.store(all.len(), Ordering::Relaxed);
    }
}

impl<S: Subscriber> Layer<S> for Logs {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if self.shared.count.load(Ordering::Relaxed) == 0 || is_ours(event.metadata()) {
            return;
        }
        let level = *event.metadata().level();
        let all = self.shared.subscribers.read().unwrap_or_else(PoisonError::into_inner);
        // WHY cloned: building the report runs user code, and no lock is held meanwhile.
        let receivers: Vec<_> = all.iter().filter(|one| level <= one.least).cloned().collect();
        drop(all);
        if receivers.is_empty() {
            return;
        }
        let mut report = Report(Map::new());
        report.add("target", Term::from(event.metadata().target()));
        event.record(&mut report);
        let report = Term::Map(report.0);
        for one in receivers {
            let message = one.message(event.metadata(), report.clone());
            if one.to.try_send(message).is_err() {
                self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Whether this is an event of our own crate below a warning, which would be caused by forwarding itself.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    *metadata.level() > Level::WARN && metadata.target().starts_with("purlin_dist")
}

impl LogSubscriber {
    /// The message that `logger` of one node sends to that of another.
    fn message(&self, metadata: &Metadata<'_>, mut report: Term) -> Term {
        let level = match *metadata.level() {
            Level::ERROR => "error",
            Level::WARN => "warning",
            Level::INFO => "info",
            _ => "debug",
        };
        if let Term::Map(report) = &mut report {
            report.insert(Term::atom("node"), Term::Atom(self.own.node.clone()));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let meta = Term::map([
            (Term::atom("pid"), Term::from(self.own.clone())),
            (Term::atom("gl"), Term::from(self.leader.clone())),
            (Term::atom("time"), Term::from(now.as_micros() as u64)),
        ]);
        tagged!("log", Term::atom(level), report, meta)
    }
}

/// The fields of an event. WHY atoms for their names: a program has a fixed set of them.
struct Report(Map);

impl Report {
    fn add(&mut self, name: &str, value: Term) {
        if let Ok(name) = Atom::new(name) {
            self.0.insert(Term::Atom(name), value);
        }
    }
}

impl Visit for Report {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let whole = (0..=value.len().min(MAX_TEXT)).rev().find(|end| value.is_char_boundary(*end));
        self.add(field.name(), Term::from(&value[..whole.unwrap_or(0)]));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), Term::from(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), Term::from(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), Term::from(value));
    }
}

/// The `tracing` level for a level of `logger`.
fn level(name: &str) -> Option<Level> {
    Some(match name {
        "emergency" | "alert" | "critical" | "error" => Level::ERROR,
        "warning" => Level::WARN,
        "notice" | "info" => Level::INFO,
        "debug" => Level::DEBUG,
        "all" => Level::TRACE,
        _ => return None,
    })
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subscribers = self.shared.count.load(Ordering::Relaxed);
        f.debug_struct("Logs").field("subscribers", &subscribers).finish_non_exhaustive()
    }
}
