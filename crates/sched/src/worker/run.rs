//! Worker loop: picks the next process, steals, and parks the thread.
//!
//! The loop runs the processes of a core. The core belongs to the thread until sysmon takes it
//! during a turn that is too long. Every use of the core may find it gone. The thread is then
//! *detached*: what it schedules goes to the global queue, and it exits when the turn ends.
//! Processes run by the loop may call [`schedule_here`] on the same thread at any time.
//!
//! INVARIANT: a thread that is asleep or counted as searching has its core. Sysmon takes a core
//! only from a thread that publishes a running process (`WorkerStatus::running`). Before a thread
//! searches, it first clears that and then uses its core once more.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use purlin_raw::{Ref, Revocable, Runnable, RuntimeTypes, ThreadId, TurnOutcome};

use crate::hooks::{Hooks, OsPriorities};
use crate::shared::Shared;
use crate::sync::{Ordering, Parker, fence, hint, thread_local};
use crate::timers::{ParkLimit, TimerWheel};
use crate::worker::core::Core;
use crate::worker::counters::{ThreadTotals, WorkerCounters};
use crate::worker::init::WorkerInit;
use crate::worker::shared_queue::SharedQueue;
use crate::worker::status::WorkerStatus;

/// Number of times a searching worker checks all queues before it sleeps.
const ROUNDS: u32 = if cfg!(shuttle) { 1 } else { 16 };

/// Time slice of a worker's thread, shorter than the kernel's usual ones of milliseconds. WHY longer
/// than sysmon's: sysmon must preempt a worker that does not yield and has not been detected.
const SLICE: Duration = Duration::from_micros(500);

/// State of one worker, in a thread-local for the processes that it runs.
struct Worker {
    shared: Arc<Shared>,
    hooks: Arc<dyn Hooks>,
    index: usize,
    parker: Parker,
    core: Revocable<Core>,
    status: Arc<WorkerStatus>,
    searching: Cell<bool>,
    /// Whether the process that runs now is to run again right after the one that it has called,
    /// which runs next.
    runs_second: Cell<bool>,
    /// Totals of this thread when it last updated the worker's counters.
    done: Cell<ThreadTotals>,
    /// Number of times this thread found no process to run.
    empty_searches: Cell<u32>,
}

/// Error: the core was handed off to another thread.
struct HandedOff;

thread_local! {
    static WORKER: OnceCell<Worker> = const { OnceCell::new() };
}

/// Queues a process if the current thread is a worker of that scheduler. Returns it otherwise.
#[inline]
pub(crate) fn schedule_here(shared: &Arc<Shared>, runnable: Runnable) -> Result<(), Runnable> {
    let mut runnable = Some(runnable);
    // WHY `try_with`: a destructor of another thread-local may wake a process after this one is
    // destroyed; the process then goes to the global queue.
    let _ = WORKER.try_with(|worker| {
        if let Some(worker) = worker.get().filter(|worker| Arc::ptr_eq(&worker.shared, shared))
            && let Some(runnable) = runnable.take()
        {
            worker.schedule(runnable);
        }
    });
    runnable.map_or(Ok(()), Err)
}

/// Requests that the current process runs again right after the next turn of `called`, instead of
/// sleeping. Returns `false`, without effect, unless `called` is the process woken or spawned last
/// on this worker and runs next, and `waker` is that of the current process.
///
/// Other processes may run in between: those that `called` wakes, one of the global queue, and those
/// of the worker's queue when a streak of the LIFO slots ends (F1).
///
/// COST: a few plain reads and writes; no atomic read-modify-write.
#[inline]
pub fn poll_after<W: RuntimeTypes>(called: &Ref<W>, waker: &Waker) -> bool {
    let request =
        |worker: &OnceCell<Worker>| worker.get().is_some_and(|w| w.run_after(called, waker));
    WORKER.try_with(request).unwrap_or(false)
}

/// Runs the loop of a worker's thread. Returns when the scheduler stops and no process is ready, or
/// after the turn in which the thread was detached.
pub(crate) fn work(shared: Arc<Shared>, hooks: Arc<dyn Hooks>, init: WorkerInit) {
    let WorkerInit { index, core, status, parker } = init;
    WORKER.with(|worker| {
        let worker = worker.get_or_init(|| Worker {
            shared,
            hooks,
            index,
            parker,
            core,
            status,
            searching: Cell::new(false),
            runs_second: Cell::new(false),
            done: Cell::default(),
            empty_searches: Cell::new(0),
        });
        worker.status.attach(worker.hooks.os_priorities() != OsPriorities::Unchanged);
        ThreadId::set_slices(SLICE);
        ThreadId::set_precise_timeouts();
        worker.timers().wake();
        if let Err(HandedOff) = worker.run_all() {
            worker.retire();
        }
    });
}

impl Worker {
    // WHY always: the function has one caller, and an uninlined loop took ten more instructions per
    // turn.
    #[inline(always)]
    fn run_all(&self) -> Result<(), HandedOff> {
        let mut last_check = false;
        loop {
            match self.next()? {
                Some(runnable) => self.run(runnable),
                // Ready processes run before the end: a process that received an exit signal must
                // end.
                None if last_check => return Ok(()),
                // WHY a flush: a freed cell may wake a process in this core, which the thread's end drops.
                None if self.shared.stopping() && !purlin_raw::flush() => {
                    // ORDER: see `Shared::drain_after_stop`.
                    fence(Ordering::SeqCst);
                    last_check = true;
                }
                None if self.shared.stopping() => {}
                None => self.sleep(),
            }
        }
    }

    /// Makes a process the next to run here and moves the previous one to the stack.
    ///
    /// WHY three functions: the usual path calls none of the others and saves no register.
    #[inline(always)]
    fn schedule(&self, runnable: Runnable) {
        match self.core.try_with(runnable, Core::push_lifo) {
            Ok(None) => {}
            Ok(Some(before)) => self.spill_lifo(before),
            Err(runnable) => self.schedule_contended(runnable),
        }
    }

    /// Moves the process that was next to run to the stack or the queue.
    #[cold]
    #[inline(never)]
    fn spill_lifo(&self, before: Runnable) {
        self.queued(self.core.with(before, Core::push_lifo_second));
    }

    /// Slow path: the core is gone, or sysmon is accessing it.
    #[cold]
    #[inline(never)]
    fn schedule_contended(&self, runnable: Runnable) {
        match self.core.with(runnable, Core::push_lifo) {
            Ok(None) => {}
            Ok(Some(before)) => self.spill_lifo(before),
            Err(runnable) => self.shared.inject(runnable),
        }
    }

    /// Completes a push: wakes another worker if it could help, or uses the global queue if the
    /// core is gone.
    #[inline]
    fn queued(&self, queued: Result<bool, Runnable>) {
        match queued {
            Ok(false) => {}
            Ok(true) => self.shared.notify_for_own(),
            Err(runnable) => self.shared.inject(runnable),
        }
    }

    #[inline]
    fn run(&self, runnable: Runnable) {
        // WHY the check: a worker that was woken for one message or timer would wake another in vain.
        if self.searching.replace(false) && self.shared.idle.end_search() && self.shared.has_work()
        {
            self.shared.notify();
        }
        self.status.set_running(runnable.slot());
        if runnable.blocking() {
            return self.hooks.offload(runnable);
        }
        match runnable.run() {
            TurnOutcome::Again { runnable, .. } if self.runs_second.take() => {
                self.queued(self.core.with(runnable, Core::push_second));
            }
            TurnOutcome::Again { runnable, behind } => {
                let push = if behind { Core::push_behind } else { Core::push_back };
                self.queued(self.core.with(runnable, push));
                if self.queue().drains() {
                    self.drain();
                }
            }
            TurnOutcome::Asleep => {}
            // The request may be of a process that has ended in the same turn.
            TurnOutcome::Ended => self.runs_second.set(false),
        }
    }

    /// See [`poll_after`].
    #[inline]
    fn run_after<W: RuntimeTypes>(&self, called: &Ref<W>, waker: &Waker) -> bool {
        let accepts = |core: &Core| core.accepts_second(|next| called.is_run_by(next));
        let granted = self.with_core(accepts).unwrap_or(false) && purlin_raw::reschedule(waker);
        if granted {
            self.runs_second.set(true);
        }
        granted
    }

    #[inline]
    fn next(&self) -> Result<Option<Runnable>, HandedOff> {
        if self.status.next_turn() {
            self.status.set_checked();
            // WHY: timers are fired here, and their time must not count as a turn of the process
            // that ran last.
            self.status.clear_running();
            // WHY first: if the last turn was handed off, the statistics belong to the thread that
            // has the core now.
            self.with_core(|_| ())?;
            self.timers().fire_due();
            self.flush_counters(1);
            if self.queue().drains() {
                self.drain();
            } else if let Some(runnable) = self.take_global()? {
                return Ok(Some(runnable));
            }
        }
        match self.with_core(|core| core.next(Runnable::prefetch))? {
            Some(runnable) => Ok(Some(runnable)),
            None => {
                let found = self.search()?;
                if found.is_none() {
                    self.empty_searches.set(self.empty_searches.get().wrapping_add(1));
                }
                Ok(found)
            }
        }
    }

    #[inline]
    fn with_core<R>(&self, f: impl FnOnce(&Core) -> R) -> Result<R, HandedOff> {
        self.core.with((), |core, ()| f(core)).map_err(|()| HandedOff)
    }

    fn take_global(&self) -> Result<Option<Runnable>, HandedOff> {
        self.with_core(|core| core.queue.take_from(&self.shared.injector))
    }

    /// Searches the global queue and the other workers' queues.
    fn search(&self) -> Result<Option<Runnable>, HandedOff> {
        // WHY here: after the next use of the core, sysmon cannot take it; only then may this
        // thread be counted as searching or asleep.
        self.status.clear_running();
        // WHY not while it stops: the other workers may have exited.
        if self.queue().drains() && !self.shared.stopping() {
            hint::spin_loop();
            return self.with_core(|_| None);
        }
        if let Some(runnable) = self.take_global()? {
            return Ok(Some(runnable));
        }
        if !self.searching.get() {
            if !self.shared.idle.begin_search() {
                return Ok(None);
            }
            self.searching.set(true);
        }
        for _ in 0..ROUNDS {
            if let Some(runnable) = self.steal()? {
                self.counters().steals();
                return Ok(Some(runnable));
            }
            if let Some(runnable) = self.take_global()? {
                return Ok(Some(runnable));
            }
            hint::spin_loop();
        }
        Ok(None)
    }

    /// Steals half of the stealable queue of the first worker that has one, starting with the next
    /// worker.
    fn steal(&self) -> Result<Option<Runnable>, HandedOff> {
        let mut promising = self.others().filter(|queue| queue.wants_help());
        self.with_core(|core| promising.find_map(|queue| core.queue.steal_from(&queue.stealer)))
    }

    /// Moves all processes of this worker to the global queue. WHY no notification: the worker that
    /// gathers is awake.
    #[cold]
    #[inline(never)]
    fn drain(&self) {
        while let Ok(Some(runnable)) = self.with_core(|core| core.next(|_| ())) {
            self.shared.injector.push(runnable);
        }
    }

    #[inline]
    fn queue(&self) -> &SharedQueue<Runnable> {
        &self.shared.queues[self.index]
    }

    /// Returns the queues of the other workers, starting with the next one.
    fn others(&self) -> impl Iterator<Item = &SharedQueue<Runnable>> {
        let queues = &self.shared.queues;
        (1..queues.len()).map(|i| &**queues[(self.index + i) % queues.len()])
    }

    fn counters(&self) -> &WorkerCounters {
        &self.shared.counters[self.index]
    }

    /// Updates the worker's counters, without the turn under way if there is one, and its processor.
    // WHY not inlined, here and below: the loop would save more registers.
    #[cold]
    #[inline(never)]
    fn flush_counters(&self, under_way: u32) {
        // WHY less: the turn number also counts attempts that found no process or are still under
        // way.
        let turns = self.status.turn().wrapping_sub(self.empty_searches.get() + under_way);
        self.done.set(self.counters().flush(turns, self.done.get()));
        self.shared.processors.record(self.index, self.status.thread());
    }

    fn timers(&self) -> &TimerWheel {
        self.shared.timers.wheel(self.index)
    }

    /// Sleeps until another thread has work or a timer is due. Wakes up as a searcher.
    fn sleep(&self) {
        // WHY back to the loop: a freed cell may have sent a message to a process that now waits in
        // this core, where only this worker looks.
        if purlin_raw::flush() {
            return;
        }
        let limit = self.timers().fall_asleep();
        if limit == ParkLimit::Fired {
            return;
        }
        let idle = &self.shared.idle;
        idle.fall_asleep(self.index, self.searching.replace(false));
        if !self.shared.has_work() && !self.shared.stopping() {
            self.park(limit);
        }
        // If another thread has woken this worker, it has already made it a searcher. An unpark
        // that arrives later shortens the next sleep.
        idle.leave(self.index);
        self.searching.set(true);
        self.timers().wake();
        self.shared.wake_sysmon();
    }

    #[cold]
    #[inline(never)]
    fn park(&self, limit: ParkLimit) {
        self.flush_counters(0);
        self.shared.record_sleep();
        self.shared.processors.clear(self.index, self.status.thread());
        let now = || self.shared.timers.clock().now();
        if self.shared.measuring.load(Ordering::Relaxed) > 0 {
            self.counters().begin_sleep(now());
        }
        match limit {
            ParkLimit::For(time) => self.parker.park_timeout(time),
            _ => self.parker.park(),
        }
        self.shared.processors.record(self.index, self.status.thread());
        self.counters().end_sleep(now);
    }

    /// Ends the turn of a detached thread.
    #[cold]
    fn retire(&self) {
        debug_assert!(!self.searching.get(), "it was in a turn");
        if let Some(hand_off) = self.status.hand_off.get() {
            hand_off.end();
            if hand_off.is_reported() {
                self.hooks.stall_ended(hand_off.slot, hand_off.since.elapsed());
            }
        }
        // WHY: sysmon may be resting, and may have skipped a trim because of this thread.
        self.shared.wake_sysmon();
        self.shared.drain_after_stop();
    }
}
