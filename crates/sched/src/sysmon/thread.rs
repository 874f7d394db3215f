//! Sysmon: the thread that detects stalled workers and hands off their cores.
//!
//! It takes a sample of all workers every 500 µs while a worker is awake, and every 100 µs while a
//! process waits and a worker may be stalled. While all workers compute, make progress and do not
//! sleep the period grows to 4 ms (`period`). Sysmon passes the sample to the policy (`policy`) and
//! carries out the decision:
//!
//! - *wake* a sleeper, because a process waits that no worker has seen;
//! - *expose* the processes that only a stalled worker can reach, so that others can steal them;
//! - *fire* overdue timers of a worker that has not fired them;
//! - *hand off* the core of a stalled worker: sysmon takes it from the thread and gives it to a
//!   fresh thread, which continues with the same queue under the same worker number. The detached
//!   thread notices when it next schedules a process or ends its turn: it puts what it schedules
//!   into the global queue, and exits after the turn.
//!
//! If computing threads occupy all processors, sysmon sets timers that make them yield (`crowd`), but
//! none while its period is long. The timers expire if the next tick does not begin in time or takes
//! long, or immediately if a worker that should run does not.
//!
//! At each tick sysmon also reads the processor time of the detached threads, which makes the
//! kernel reconsider their processors (`stalled`). With [`OsPriorities::Realtime`] it is a real-time
//! thread, if the program may have one, so that it does not have to wait for a processor: while it
//! rests, while all workers are busy, while detached threads compute or are in their grace period,
//! while a worker may be stalled, and for twenty ticks after that. It is never real-time while it
//! runs code of the program.
//!
//! Sysmon takes a core only from a thread that is in a turn (`WorkerStatus::running`). Such a
//! thread is neither asleep nor counted as searching, and before it could become either it must use
//! its core and finds it gone. So `idle` does not have to track hand-offs.
//!
//! COST: a tick without findings, with two workers, takes 0.2 µs (the lowest tenth of 2,000 on a
//! busy machine), and the wake-up for it 15 to 25 µs of processor time (an AMD EPYC, virtual),
//! which is 3 to 5 % of a processor while a worker is busy, and 0.3 % while all compute. A stalled
//! worker costs one `membarrier` per tick, a detached thread one system call per tick, and each
//! computing thread two if they occupy all processors (`crowd`). A hand-off costs one thread, for
//! which sysmon needs 15 to 80 µs on that machine. At rest sysmon costs nothing.

use std::sync::Arc;
use std::time::Duration;

use purlin_raw::{Slot, ThreadId};

use crate::balance::{Balancer, Placement, TickStats};
use crate::hooks::OsPriorities;
use crate::sync::mpsc::{Sender, channel};
use crate::sync::{Instant, Ordering, Parker, core_count};
use crate::sysmon::computing::Computing;
use crate::sysmon::crowd::{Crowd, LATE};
use crate::sysmon::period::{TICK, period};
use crate::sysmon::policy::{
    Action, Decision, Policy, Sample, Snapshot, check_interval_for, threshold_for, turns_per_tick,
};
use crate::sysmon::stalled::StalledThreads;
use crate::trim;
use crate::worker::init::WorkerInit;
use crate::worker::launcher::Launcher;
use crate::worker::shared_queue::INITIAL_THRESHOLD;
use crate::worker::status::{CHECK_INTERVAL, WorkerStatus};

/// Shorter period after a worker was seen twice in the same turn while a process waits, and how
/// long it applies.
const RECHECK: Duration = Duration::from_micros(100);
const RECHECK_FOR: Duration = Duration::from_millis(2);
/// Duration of a turn from which its thread is detached although no process waits, if detached
/// threads compete with it. WHY long: processes with shorter turns that compute all the time would
/// each get a thread per turn.
const LONG_TURN: Duration = Duration::from_millis(10);
/// Time slice of sysmon: the shortest that the kernel grants.
const SLICE: Duration = Duration::from_micros(100);
/// Turns per [`TICK`] from which sysmon does not read the thread's processor time.
const PREEMPTION_TURNS: u64 = 64;
/// Number of ticks for which all workers must sleep before sysmon rests.
const IDLE_TICKS: u32 = if cfg!(shuttle) { 2 } else { 20 };
/// Factor by which the steal thresholds grow while overload is tolerated
/// ([`Balancer::tolerates_overload`]).
const TOLERANCE: usize = 16;
/// Duration of a tick after which computing threads must yield. WHY longer than a usual tick: a
/// hand-off takes up to 80 µs, and a yield that nothing needs costs the thread its turn.
const TICK_TIME: Duration = Duration::from_micros(200);
/// Maximum number of detached threads. WHY a limit: each has a stack.
const MAX_STALLED: usize = 512;

/// State of the sysmon thread.
pub(crate) struct Sysmon {
    launcher: Launcher,
    parker: Parker,
    /// Status of the thread that holds each core.
    statuses: Box<[Arc<WorkerStatus>]>,
    policy: Policy,
    stalled: StalledThreads,
    samples: Vec<Sample>,
    /// Spare buffer for the next sample.
    scratch: Vec<Sample>,
    sampled_at: Instant,
    /// Steal threshold by each worker's pace, before load balancing.
    thresholds: Box<[usize]>,
    computing: Computing,
    balancer: Balancer,
    /// When each worker was first seen in its present turn.
    since: Box<[Instant]>,
    /// Processor time of each worker's thread when it was first seen in a turn that may be long.
    used: Box<[Option<Duration>]>,
    /// Spare thread that waits for a core.
    spare: Option<Sender<WorkerInit>>,
    /// Whether the failure to hand off has been reported.
    exhausted: bool,
    /// Whether a worker may be stalled.
    recheck: bool,
    crowd: Crowd,
    /// Whether a worker was late at the last tick.
    late: bool,
    /// Number of ticks for which all workers have computed, made progress and not slept.
    steady: u32,
    priorities: OsPriorities,
    /// Whether sysmon is a real-time thread.
    realtime: bool,
}

impl Sysmon {
    pub(crate) fn new(
        launcher: Launcher,
        parker: Parker,
        statuses: Box<[Arc<WorkerStatus>]>,
    ) -> Self {
        let workers = statuses.len();
        Self {
            priorities: launcher.hooks.os_priorities(),
            launcher,
            parker,
            statuses,
            policy: Policy::new(workers),
            stalled: StalledThreads::default(),
            samples: Vec::with_capacity(workers),
            scratch: Vec::with_capacity(workers),
            sampled_at: Instant::now(),
            thresholds: vec![INITIAL_THRESHOLD; workers].into(),
            computing: Computing::new(workers),
            balancer: Balancer::new(),
            since: vec![Instant::now(); workers].into(),
            used: vec![None; workers].into(),
            spare: None,
            exhausted: false,
            recheck: false,
            crowd: Crowd::new(workers),
            late: false,
            steady: 0,
            realtime: false,
        }
    }

    /// Runs until the scheduler stops.
    pub(crate) fn run(mut self) {
        ThreadId::set_slices(SLICE);
        ThreadId::set_precise_timeouts();
        let processors = core_count();
        let (mut idle_ticks, mut calm) = (0, 0);
        while self.wait() {
            let now = Instant::now();
            self.launcher.shared.ticks.fetch_add(1, Ordering::Relaxed);
            self.late = self.crowd.worker_is_late(&self.launcher.shared, &self.statuses);
            self.yield_after(if self.late { Duration::ZERO } else { TICK_TIME });
            self.sample(now);
            let stalled = self.stalled.update(now);
            self.stalled.publish(&self.launcher.shared.hand_offs);
            self.serve_stalled(&stalled.to_report);
            let all_busy = self.launcher.shared.idle.free() == 0;
            let needs_realtime = all_busy || self.recheck || stalled.grace || stalled.computing > 0;
            calm = if needs_realtime { 0 } else { IDLE_TICKS.min(calm + 1) };
            self.set_realtime(calm < IDLE_TICKS);
            // WHY this number: with fewer computing threads, a thread that wakes finds a free
            // processor.
            let crowd = stalled.grace || stalled.computing >= processors;
            let steady = period(self.steady) > TICK;
            self.crowd.count(&self.statuses, &self.stalled, processors, steady);
            let idle = &self.launcher.shared.idle;
            let all_idle = idle.all_asleep() && !crowd;
            idle_ticks = if all_idle { idle_ticks + 1 } else { 0 };
            if idle_ticks >= IDLE_TICKS && idle.begin_sysmon_rest() {
                idle_ticks = 0;
                // WHY: a node at rest keeps no spare thread.
                self.spare = None;
                // The next load may be of another kind.
                self.balancer = Balancer::new();
                self.thresholds.fill(INITIAL_THRESHOLD);
                self.computing = Computing::new(self.statuses.len());
                self.trim();
                calm = 0;
                self.set_realtime(true);
                self.parker.park();
            }
        }
    }

    /// Starts a trim if it is due. Called when all workers sleep.
    ///
    /// WHY on a separate thread: a trim takes milliseconds, and the node may wake meanwhile.
    fn trim(&self) {
        let shared = Arc::clone(&self.launcher.shared);
        // WHY: detached threads run although all workers sleep, and the resident memory is theirs.
        let rests = move || shared.idle.resting() && shared.hand_offs.now().is_empty();
        // WHY not `rests`: sysmon waits for no thread that reads the records.
        let at_rest = self.launcher.shared.idle.resting() && self.stalled.is_empty();
        if at_rest && trim::is_due() {
            // If the thread cannot be started, the trim waits for the next rest.
            let _ = self.launcher.spawn_thread("trim", move || trim::trim(rests));
        }
    }

    /// Waits for the next tick. Returns `false` when the scheduler stops.
    fn wait(&self) -> bool {
        let shared = &self.launcher.shared;
        let now = Instant::now();
        let period = if self.recheck { RECHECK } else { period(self.steady) };
        // WHY not if a worker was late: that would cancel a yield that has not happened yet.
        if !self.late {
            self.yield_after(period + LATE);
        }
        // WHY a loop: an unpark that arrives after the last rest must not shorten a tick.
        while !shared.stopping() {
            let ends_early = period > TICK && shared.sleep_watch.has_slept();
            let next = now + if ends_early { TICK } else { period };
            self.parker.park_deadline(next);
            if Instant::now() >= next {
                return true;
            }
        }
        false
    }

    fn yield_after(&self, after: Duration) {
        self.crowd.yield_after(&self.statuses, &self.stalled, after);
    }

    fn sample(&mut self, now: Instant) {
        let shared = Arc::clone(&self.launcher.shared);
        let mut before = std::mem::replace(&mut self.samples, std::mem::take(&mut self.scratch));
        let time = now - std::mem::replace(&mut self.sampled_at, now);
        let timers_until = shared.timers.clock().now() + TICK.as_nanos() as u64;
        let mut steady = self.stalled.is_empty();
        let crowd = self.crowd.is_full()
            && self.stalled.len() < MAX_STALLED
            && self.priorities != OsPriorities::Unchanged
            && self.stalled.computing().next().is_some();
        for (index, (status, queue)) in self.statuses.iter().zip(&shared.queues).enumerate() {
            let (turn, running) = (status.turn(), status.running().is_some());
            let before = before.get(index);
            let turns = before.map_or(u32::MAX, |before| turn.wrapping_sub(before.turn));
            if turns > 0 {
                self.since[index] = now;
            }
            let pace = turns_per_tick(turns, time);
            let long = running && pace < PREEMPTION_TURNS;
            let cpu_time = if long { status.thread().cpu_time() } else { None };
            self.crowd.update(index, status, cpu_time);
            let preempted = is_preempted(status, turns, cpu_time, &mut self.used[index]);
            let (work, waiting) = (shared.counters[index].work(), queue.waiting());
            // WHY at both ends: the pace of a worker that slept in between is unknown.
            if before.is_some_and(|before| before.running) && running {
                self.thresholds[index] = threshold_for(pace);
                status.set_check_interval(check_interval_for(pace));
                steady &= pace > 0;
            } else {
                status.set_check_interval(CHECK_INTERVAL);
                steady = false;
            }
            self.samples.push(Sample {
                turn,
                work,
                running,
                preempted,
                waiting,
                timer_due: shared.timers.wheel(index).is_due(timers_until),
                crowds: crowd && self.crowd.includes(index) && now - self.since[index] >= LONG_TURN,
                threshold: queue.steal_threshold(),
            });
        }
        if self.recheck {
            // WHY: these ticks do not count for the placement, and may be many.
            shared.queues.iter().for_each(|queue| queue.set_drains(false));
        } else {
            self.computing.tick(time, &before, &self.samples);
            self.balance(&before, time);
        }
        steady &= (0..self.samples.len()).all(|index| self.pace(index) == 0);
        let ticks = self.steady.saturating_add(1);
        let steady = steady && shared.sleep_watch.begin(period(ticks));
        self.steady = if steady { ticks } else { 0 };
        let global_queue = !shared.injector.is_empty();
        self.recheck = (self.since.iter().zip(&self.samples)).any(|(since, sample)| {
            let process_waits = sample.waiting > 0 || sample.timer_due || global_queue;
            sample.running && process_waits && *since < now && now - *since < RECHECK_FOR
        });
        before.clear();
        self.scratch = before;
        let free = shared.idle.free();
        let snapshot = Snapshot { workers: &self.samples, global_queue, free };
        let Decision { actions: steps, mut wake } = self.policy.decide(snapshot);
        for action in steps {
            match action {
                Action::Expose(index) => {
                    shared.queues[index].set_limits(0, 0, 0);
                    wake |= self.expose(index);
                }
                Action::HandOffIfWaiting(index) => self.hand_off(index, false),
                Action::HandOff(index) => self.hand_off(index, true),
            }
        }
        if wake {
            shared.notify();
        }
    }

    /// Updates load balancing, and sets the steal threshold of each worker.
    fn balance(&mut self, before: &[Sample], time: Duration) {
        let shared = &self.launcher.shared;
        let done = before.iter().zip(&self.samples);
        let done: u64 = done.map(|(before, now)| now.work.saturating_sub(before.work)).sum();
        let short = |index: &usize| self.samples[*index].running && self.pace(*index) > 0;
        let working = (0..self.samples.len()).filter(short);
        let count = working.clone().count();
        let busiest = working.max_by_key(|&index| self.samples[index].waiting);
        let crowd = busiest.is_some_and(|index| self.samples[index].waiting > 1);
        let placement = self.balancer.tick(TickStats {
            work: (u128::from(done) * TICK.as_nanos() / time.as_nanos().max(1)) as u64,
            working: count,
            computing: count == 0 && self.samples.iter().any(|sample| sample.running),
            could_spread: crowd && shared.idle.free() > 0,
            global_queue: !shared.injector.is_empty(),
        });
        if let Some(result) = self.balancer.take_result() {
            self.computing.tried(result);
        }
        let tolerates = self.balancer.tolerates_overload();
        for (index, queue) in shared.queues.iter().enumerate() {
            let pace = self.pace(index);
            let (threshold, kept) = match placement {
                Placement::Spread => (0, 0),
                // WHY half: as much is kept in the local part.
                _ if tolerates => (TOLERANCE * pace, TOLERANCE * pace / 2),
                _ => (pace, 0),
            };
            queue.set_limits(threshold, kept, pace);
            // WHY: by this limit the policy decides whether to wake a worker.
            self.samples[index].threshold = threshold;
            let gathered = busiest.is_some_and(|busiest| busiest != index);
            let computes = self.samples[index].running && pace == 0;
            queue.set_drains(placement == Placement::Gather && gathered && !computes);
            // WHY: these entries became local while turns were short, and a worker that pushes
            // nothing leaves them there.
            let out_of_reach = pace == 0 && self.samples[index].waiting > 1 && !queue.wants_help();
            if out_of_reach && shared.idle.free() > 0 {
                self.expose(index);
            }
        }
    }

    /// Returns the steal threshold of a worker before load balancing.
    fn pace(&self, index: usize) -> usize {
        if self.computing.computes(index) { 0 } else { self.thresholds[index] }
    }

    /// Moves all entries of a core to its stealable queue. Returns `true` if that queue is not
    /// empty.
    fn expose(&self, index: usize) -> bool {
        let mut anything = false;
        let taken = self.statuses[index].core.revoke(|core| {
            anything = core.expose_all();
            false
        });
        debug_assert!(taken.is_none());
        anything
    }

    /// Hands the core off to a fresh thread, unless the worker has made progress or is using its
    /// core at this moment; the next tick then decides again.
    fn hand_off(&mut self, index: usize, process_waits: bool) {
        // WHY before the core is taken: if no thread can be started, the core stays where it is.
        let spare = match self.spare.take().map_or_else(|| self.launch_spare(), Ok) {
            Ok(spare) => spare,
            Err(why) => return self.report_exhausted(&why),
        };
        let shared = &self.launcher.shared;
        let status = &self.statuses[index];
        let (turn, since) = (self.samples[index].turn, self.since[index]);
        let before = self.used[index];
        let core = status.core.revoke(|core| {
            let Some(slot) = status.running().filter(|_| status.turn() == turn) else {
                return false;
            };
            let take = core.expose_all() || process_waits;
            if take {
                // WHY here: the thread cannot end before it has noticed that its core is gone.
                let lower = self.priorities != OsPriorities::Unchanged;
                self.stalled.add(status, slot, since, before, lower);
                self.stalled.publish(&shared.hand_offs);
            }
            take
        });
        let Some(core) = core else {
            self.spare = Some(spare);
            return;
        };
        let init = WorkerInit::new(index, core);
        self.statuses[index] = Arc::clone(&init.status);
        self.policy.forget(index);
        self.used[index] = None;
        self.crowd.forget(index);
        self.samples[index].running = false;
        self.exhausted = false;
        self.launcher.shared.set_waker(index, init.waker());
        let given = spare.send(init);
        debug_assert!(given.is_ok(), "a spare thread does nothing but wait");
    }

    /// Reports stalled workers, and fires overdue timers.
    fn serve_stalled(&mut self, news: &[(Slot, Instant)]) {
        let timers = &self.launcher.shared.timers;
        let now = timers.clock().now();
        if news.is_empty() && !timers.any_overdue(now) {
            return;
        }
        // WHY: this runs code of the program, which may take long or spin until other threads
        // progress.
        self.set_realtime(false);
        for &(slot, since) in news {
            self.launcher.hooks.stalled(slot, since);
        }
        self.launcher.shared.timers.fire_overdue(now);
    }

    /// Makes sysmon a real-time thread if it may be one, or an ordinary one. WHY not always
    /// real-time: such a thread wakes on the processor where it slept, although another may be idle.
    fn set_realtime(&mut self, realtime: bool) {
        let realtime = realtime && self.priorities == OsPriorities::Realtime;
        if std::mem::replace(&mut self.realtime, realtime) != realtime {
            ThreadId::set_realtime(realtime);
        }
    }

    /// Reports that no core can be handed off, once until the next hand-off.
    fn report_exhausted(&mut self, why: &str) {
        if !std::mem::replace(&mut self.exhausted, true) {
            self.set_realtime(false);
            self.launcher.hooks.threads_exhausted(why);
        }
    }

    /// Starts a thread that waits for a core.
    fn launch_spare(&self) -> Result<Sender<WorkerInit>, String> {
        if self.stalled.len() >= MAX_STALLED {
            return Err(format!("{MAX_STALLED} threads are held up already"));
        }
        let (give, given) = channel();
        let launched = self.launcher.launch("handoff", move || given.recv().ok());
        launched.map(|()| give).map_err(|error| format!("no thread could be begun: {error}"))
    }
}

/// Returns whether a thread with `turns` turns since the last sample is preempted: it neither
/// computes nor blocks, because other threads have the processor. `cpu_time` is its processor time,
/// if its turns are long; `used` keeps that of the turn's first sample.
fn is_preempted(
    status: &WorkerStatus,
    turns: u32,
    cpu_time: Option<Duration>,
    used: &mut Option<Duration>,
) -> bool {
    let Some(now) = cpu_time.filter(|_| turns == 0) else {
        *used = cpu_time;
        return false;
    };
    let before = *used.get_or_insert(now);
    now.saturating_sub(before) < TICK / 2 && !status.thread().is_blocked()
}
