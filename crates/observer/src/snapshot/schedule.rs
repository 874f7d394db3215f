//! Schedule of the sampler thread, which bounds its share of one core.
//!
//! Once per period, by default a second, the thread makes a snapshot with a new overview, and starts a walk over the
//! process table if the previous walk is complete. The thread measures the processor time of each step and then rests
//! 110 times as long, so tables are made less often the more processes there are. The first walk after a pause runs
//! without rests, because a watcher waits for it; its rest follows.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use purlin::Node;
use purlin::observe::{Load, MeasuringSleep};

use super::meter::{resident, time_used};
use super::walk::{Walk, Walked};
use super::{Call, Cost, DropsSeen, HogSeen, Memory, Overview, Snapshot, Table, WorkerLoad};

/// Default sampling period while a watcher is connected.
pub const PERIOD: Duration = Duration::from_secs(1);

/// Clamps `period` to the supported range: one millisecond to one hour.
pub(crate) fn supported(period: Duration) -> Duration {
    period.clamp(Duration::from_millis(1), Duration::from_secs(3600))
}

/// Ratio of rest to work. The thread uses less than a hundredth of one core, unless the period is so short that the
/// overview alone takes more.
const RESTS: u32 = 110;

/// Sampling state of a node, from the first watcher's start until the last watcher leaves.
pub(super) struct Schedule {
    _measuring: MeasuringSleep,
    period: Duration,
    walk: Option<Walk>,
    /// Start of the current walk by the machine's clock, and the processor time it has used.
    walk_began: Instant,
    walk_took: Duration,
    table: Arc<Table>,
    calls: Arc<[Call]>,
    left_out: u64,
    memory: u64,
    /// Approximate number of processes when the table was completed.
    about: usize,
    /// Whether a table has been completed since the first watcher connected.
    fresh: bool,
    /// Earliest time of the next slice, and due time of the next snapshot.
    slice: Instant,
    due: Instant,
    cost: Cost,
    /// Load of the node and processor time of this thread at the last snapshot.
    load: Load,
    used: Duration,
    sampled: Option<Instant>,
}

impl Schedule {
    /// Starts sampling. `before` is the last snapshot.
    pub(super) fn new(node: &Node, before: &Snapshot, period: Duration) -> Self {
        let now = Instant::now();
        Self {
            _measuring: node.measure_sleep(),
            period,
            walk: None,
            walk_began: now,
            walk_took: Duration::ZERO,
            table: Arc::clone(&before.processes),
            calls: Arc::default(),
            left_out: 0,
            memory: 0,
            about: 0,
            fresh: false,
            slice: now,
            due: now,
            cost: Cost::default(),
            load: node.load(),
            used: time_used(),
            sampled: None,
        }
    }

    /// Performs the work that is due. Returns a snapshot if one was due. [`Schedule::next`] returns the time of the
    /// next step.
    pub(super) fn step(&mut self, node: &Node, before: &Snapshot) -> Option<Snapshot> {
        let now = Instant::now();
        let due = now >= self.due;
        if due && self.walk.is_none() && now >= self.slice {
            self.walk_began = now;
            self.walk_took = Duration::ZERO;
            self.walk = Some(Walk::begin(node, Arc::clone(&self.table), self.fresh));
        }
        while self.walk.is_some() && (now >= self.slice || !self.fresh) {
            let whole = self.slice(node);
            if whole || self.fresh {
                break;
            }
        }
        due.then(|| self.snapshot(node, before))
    }

    /// Returns the time of the next step.
    pub(super) fn next(&self) -> Instant {
        if self.walk.is_some() { self.slice.min(self.due) } else { self.due }
    }

    /// Walks one slice. Returns `true` if the walk is complete.
    fn slice(&mut self, node: &Node) -> bool {
        let Some(walk) = &mut self.walk else { return true };
        let before = time_used();
        let whole = walk.slice(node);
        if let Some(walk) = self.walk.take_if(|_| whole) {
            let Walked { table, calls, left_out, memory } = walk.end(node);
            self.table = Arc::new(table);
            self.calls = calls.into();
            (self.left_out, self.memory) = (left_out, memory);
            self.about = node.processes_about();
            self.fresh = true;
        }
        let took = time_used().saturating_sub(before);
        self.walk_took += took;
        self.slice = self.slice.max(Instant::now()) + took * RESTS;
        if whole {
            self.cost.walk = self.walk_took;
            self.cost.walk_lasted = self.walk_began.elapsed();
        }
        whole
    }

    fn snapshot(&mut self, node: &Node, before: &Snapshot) -> Snapshot {
        let (began, at_first) = (Instant::now(), time_used());
        let overview = self.overview(node, &before.overview);
        let crashes = node.crashes();
        let known = &before.crashes;
        let same = (crashes.all_crashes, crashes.all_reports, crashes.missed)
            == (known.all_crashes, known.all_reports, known.missed)
            && crashes.restarts == known.restarts;
        let used = time_used();
        self.cost.overview = used.saturating_sub(at_first);
        self.cost.left_out = self.left_out;
        let since = self.sampled.map_or(self.period, |sampled| began - sampled);
        let took = used.saturating_sub(self.used);
        self.cost.share = took.as_secs_f64() / since.as_secs_f64().max(f64::MIN_POSITIVE);
        (self.used, self.sampled) = (used, Some(began));
        // WHY at most half: otherwise an overview that takes a hundredth of the period would leave no time for a slice.
        let rest = (self.cost.overview * RESTS).min(self.period / 2);
        self.slice = self.slice.max(began) + rest;
        self.due = (self.due + self.period).max(began + self.period / 2);
        Snapshot {
            number: before.number + 1,
            when: SystemTime::now(),
            overview: Arc::new(overview),
            processes: Arc::clone(&self.table),
            calls: Arc::clone(&self.calls),
            crashes: if same { Arc::clone(known) } else { Arc::new(crashes) },
            cost: self.cost,
        }
    }

    fn overview(&mut self, node: &Node, before: &Overview) -> Overview {
        let at = node.uptime();
        let span = if before.at.is_zero() { Duration::ZERO } else { at.saturating_sub(before.at) };
        let rate = |now: u64, before: u64| match span.as_secs_f64() {
            0.0 => 0.0,
            span => now.saturating_sub(before) as f64 / span,
        };
        let load = node.load();
        let old = std::mem::replace(&mut self.load, load);
        let now = &self.load;
        let nothing = WorkerLoad::default();
        let workers = now.workers.iter().enumerate().map(|(at, now)| {
            let before = before.workers.get(at).unwrap_or(&nothing);
            let slept =
                now.asleep.saturating_sub(old.workers.get(at).map_or(now.asleep, |old| old.asleep));
            WorkerLoad {
                busy: if self.sampled.is_some() { busy(slept, span) } else { 0.0 },
                queue: now.queue,
                turns_per_second: rate(now.turns, before.turns),
                turns: now.turns,
                steals_per_second: rate(now.steals, before.steals),
                steals: now.steals,
            }
        });
        let messages = now.workers.iter().map(|worker| worker.sends).sum();
        let reductions = messages + now.workers.iter().map(|worker| worker.work).sum::<u64>();
        let hogs = node.hogs().into_iter().map(|hog| HogSeen {
            id: hog.id,
            function: hog.function,
            for_so_long: hog.since.elapsed(),
        });
        let drops = node.drops();
        Overview {
            at,
            span,
            measured: self.sampled.is_some(),
            workers: workers.collect(),
            global_queue: now.global_queue,
            processes: processes(
                self.table.len(),
                self.left_out,
                node.processes_about(),
                self.about,
            ),
            max_processes: node.max_processes(),
            messages_per_second: rate(messages, before.messages),
            messages,
            reductions_per_second: rate(reductions, before.reductions),
            reductions,
            memory: Memory { resident: resident(), processes: self.memory },
            timers: node.pending_timers(),
            hogs: hogs.collect(),
            drops: DropsSeen {
                total: drops,
                per_second: rate(drops.all(), before.drops.total.all()),
            },
        }
    }
}

/// Returns the share of `span` that was not slept.
fn busy(slept: Duration, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { 1.0 - (slept.as_secs_f64() / span.as_secs_f64()).min(1.0) }
}

/// Returns the number of processes now: those of the last table and those it left out, and the difference of the
/// approximate numbers now and when it was completed.
fn processes(rows: usize, left_out: u64, about_now: usize, about_then: usize) -> usize {
    let then = rows.saturating_add(usize::try_from(left_out).unwrap_or(usize::MAX));
    then.saturating_add(about_now).saturating_sub(about_then)
}

#[cfg(test)]
mod tests {
    use super::processes;

    #[test]
    fn processes_left_out_of_the_table_count() {
        assert_eq!(processes(100, 0, 130, 98), 132);
        assert_eq!(processes(100, 50, 148, 150), 148);
        assert_eq!(processes(3, 0, 2, 9), 0);
    }
}
