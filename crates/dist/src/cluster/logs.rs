//! Events of `tracing` as events of Erlang's `logger`, on the nodes that have asked for them.
//!
//! A layer of the program's subscriber. A process of a BEAM asks with `purlin:log_to/2`; from then on its node's
//! `logger` is told of each event, as of those of other nodes of the BEAM, until that process is gone.
//!
//! Any thread may log. Nothing here waits: what a connection has no room for is dropped, and counted.

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

use super::builtin::gone;
use super::core::Core;
use super::export::Outcome;

/// The process of a BEAM that takes events of other nodes.
const TAKES: &str = "logger_proxy";
/// This much of a text is told.
const LONGEST: usize = 8 * 1024;

/// What is logged here, for nodes of the BEAM that ask for it. A clone is the same.
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
/// An event is told as a report, a map of its fields; text is in binaries. What this crate says of its own work is
/// told from warnings on.
///
/// COST: nothing but a look while nobody has asked; else a term for each event, and a message for each who has.
#[derive(Clone, Default)]
pub struct Logs {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    told: RwLock<Vec<Arc<Told>>>,
    /// How many of them there are, so that nobody need look.
    count: AtomicUsize,
    dropped: AtomicU64,
}

/// Whoever has asked.
struct Told {
    least: Level,
    /// In whose name it is logged there.
    leader: purlin_term::Pid,
    /// Our node, as a process of its own.
    own: purlin_term::Pid,
    to: Pid<Term>,
    /// Closed when it is told no more.
    _listed: Sender<Infallible>,
}

impl Logs {
    /// Nobody has asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many events were not told because a connection had no room for them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Lets processes elsewhere ask.
    pub(super) fn export(&self, core: &Arc<Core>) {
        let (own, logs) = (Arc::downgrade(core), self.clone());
        let (module, name) = (Atom::from_static("purlin"), Atom::from_static("log_to"));
        core.exports.insert(module, name, 2, move |_, arguments| {
            let (core, logs) = (own.upgrade(), logs.clone());
            async move {
                let core = core.ok_or_else(|| Term::atom("noconnection"))?;
                logs.tell(&core, &arguments)
            }
        });
    }

    /// `purlin:log_to(GroupLeader, Level)`: tells the node of that process of what is at least as bad.
    fn tell(&self, core: &Arc<Core>, arguments: &[Term]) -> Outcome {
        let badarg = || Term::atom("badarg");
        let [leader, least] = arguments else { return Err(badarg()) };
        let leader = leader.as_pid().ok_or_else(badarg)?;
        let least = least.as_atom().and_then(|least| level(least.as_str())).ok_or_else(badarg)?;
        let node = leader.node.as_str().parse().map_err(|_| badarg())?;
        let takes = core.named(Atom::from_static(TAKES), &node);
        let to = takes.ok_or_else(|| Term::atom("system_limit"))?;
        let own = core.ids.pid_of_node();
        let (listed, replaced) = channel();
        let told = Arc::new(Told { least, leader: leader.clone(), own, to, _listed: listed });
        self.change(|all| {
            all.retain(|one| one.leader != told.leader);
            all.push(Arc::clone(&told));
        });
        let (gone, logs, told) = (gone(core, leader), self.clone(), Arc::downgrade(&told));
        drop(core.runtime.spawn(async move {
            tokio::select! {
                _ = gone => logs.change(|all| all.retain(|one| Arc::as_ptr(one) != told.as_ptr())),
                // It has asked again, and is watched for that.
                _ = replaced => {}
            }
        }));
        Ok(Term::atom("ok"))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Told>>)) {
        let mut all = self.shared.told.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut all);
        // ORDER: relaxed: it says whether to look.
        self.shared.count.store(all.len(), Ordering::Relaxed);
    }
}

impl<S: Subscriber> Layer<S> for Logs {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if self.shared.count.load(Ordering::Relaxed) == 0 || is_ours(event.metadata()) {
            return;
        }
        let level = *event.metadata().level();
        let all = self.shared.told.read().unwrap_or_else(PoisonError::into_inner);
        // WHY cloned: making the report runs code of users, and no lock is held meanwhile.
        let told: Vec<_> = all.iter().filter(|one| level <= one.least).cloned().collect();
        drop(all);
        if told.is_empty() {
            return;
        }
        let mut report = Report(Map::new());
        report.add("target", Term::from(event.metadata().target()));
        event.record(&mut report);
        let report = Term::Map(report.0);
        for one in told {
            let message = one.message(event.metadata(), report.clone());
            if one.to.try_send(message).is_err() {
                self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// What would be told of the telling itself.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    *metadata.level() > Level::WARN && metadata.target().starts_with("purlin_dist")
}

impl Told {
    /// What `logger` of one node tells that of another.
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
        Term::tuple([Term::atom("log"), Term::atom(level), report, meta])
    }
}

/// The fields of an event. WHY atoms for their names: a program has so many of them and no more.
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
        let whole = (0..=value.len().min(LONGEST)).rev().find(|end| value.is_char_boundary(*end));
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

/// A level of `logger`.
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
        let told = self.shared.count.load(Ordering::Relaxed);
        f.debug_struct("Logs").field("told", &told).finish_non_exhaustive()
    }
}
