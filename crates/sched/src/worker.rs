//! Worker loop: picks the next process, steals, and parks the thread.
//!
//! The loop runs the processes of a core. The core belongs to the thread until sysmon takes it
//! during a turn that is too long. Every use of the core may find it gone. The thread is then
//! *detached*: what it schedules goes to the global queue, and it exits when the turn ends.
//! Processes run by the loop may call [`schedule_here`] on the same thread at any time.
//!
//! INVARIANT: a thread that is asleep or counted as searching has its core. Sysmon takes a core
//! only from a thread that publishes a running process (`Seat::running`). Before a thread searches,
//! it first clears that and then uses its core once more.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use purlin_raw::{Holder, Ran, Runnable, ThreadId};

use crate::above::Above;
use crate::crew::Assignment;
use crate::load::{Done, Tally};
use crate::post::Post;
use crate::queue::Queue;
use crate::scheduler::Shared;
use crate::seat::Seat;
use crate::sync::{Ordering, Parker, fence, hint, thread_local};
use crate::timers::{Rest, TimerWheel};

/// Number of turns between two checks of the global queue and the timers. Prime, so that it does
/// not synchronize with patterns in the load.
const OUTSIDE_EVERY: u32 = if cfg!(shuttle) { 3 } else { 61 };
/// Number of times a searching worker checks all queues before it sleeps.
const ROUNDS: u32 = if cfg!(shuttle) { 1 } else { 16 };

/// State of one worker, in a thread-local for the processes that it runs.
struct Worker {
    shared: Arc<Shared>,
    above: Arc<dyn Above>,
    index: usize,
    parker: Parker,
    post: Holder<Post>,
    seat: Arc<Seat>,
    searching: Cell<bool>,
    /// Totals of this thread when it last updated the worker's counters.
    done: Cell<Done>,
    /// Number of times this thread found no process to run.
    idle_looks: Cell<u32>,
}

/// Error: the core was handed off to another thread.
struct Relieved;

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

/// Runs the loop of a worker's thread. Returns when the scheduler stops and no process is ready, or
/// after the turn in which the thread was detached.
pub(crate) fn work(shared: Arc<Shared>, above: Arc<dyn Above>, assignment: Assignment) {
    let Assignment { index, post, seat, parker } = assignment;
    let (searching, done, idle_looks) = (Cell::new(false), Cell::default(), Cell::new(0));
    WORKER.with(|worker| {
        let worker = worker.get_or_init(|| Worker {
            shared,
            above,
            index,
            parker,
            post,
            seat,
            searching,
            done,
            idle_looks,
        });
        worker.seat.sit_down();
        ThreadId::run_often();
        worker.timers().wake();
        if let Err(Relieved) = worker.run_all() {
            worker.retire();
        }
    });
}

impl Worker {
    // WHY always: the function has one caller, and an uninlined loop took ten more instructions per
    // turn.
    #[inline(always)]
    fn run_all(&self) -> Result<(), Relieved> {
        let mut last_look = false;
        loop {
            match self.next()? {
                Some(runnable) => self.run(runnable),
                // Ready processes run before the end: a process that received an exit signal must
                // end.
                None if last_look => return Ok(()),
                None if self.shared.stopping() => {
                    // ORDER: see `Shared::run_what_nobody_will`.
                    fence(Ordering::SeqCst);
                    last_look = true;
                }
                None => self.sleep(),
            }
        }
    }

    /// Makes a process the next to run here and moves the previous one to the stack.
    ///
    /// WHY three functions: the usual path calls none of the others and saves no register.
    #[inline(always)]
    fn schedule(&self, runnable: Runnable) {
        match self.post.try_with(runnable, Post::put_first) {
            Ok(None) => {}
            Ok(Some(before)) => self.make_room(before),
            Err(runnable) => self.schedule_after_all(runnable),
        }
    }

    /// Moves the process that was next to run to the stack or the queue.
    #[cold]
    #[inline(never)]
    fn make_room(&self, before: Runnable) {
        self.queued(self.post.with(before, Post::put_second));
    }

    /// Slow path: the core is gone, or sysmon is accessing it.
    #[cold]
    #[inline(never)]
    fn schedule_after_all(&self, runnable: Runnable) {
        match self.post.with(runnable, Post::put_first) {
            Ok(None) => {}
            Ok(Some(before)) => self.make_room(before),
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
        if self.searching.replace(false) && self.shared.idle.end_search() {
            // The source of this process may hold more.
            self.shared.notify();
        }
        self.seat.runs(runnable.slot());
        if runnable.blocking() {
            return self.above.offload(runnable);
        }
        if let Ran::Again(runnable) = runnable.run() {
            self.queued(self.post.with(runnable, Post::put_last));
        }
    }

    #[inline]
    fn next(&self) -> Result<Option<Runnable>, Relieved> {
        if self.seat.next_turn().is_multiple_of(OUTSIDE_EVERY) {
            // WHY: timers are fired here, and their time must not count as a turn of the process
            // that ran last.
            self.seat.runs_nobody();
            // WHY first: if the last turn was handed off, the statistics belong to the thread that
            // has the core now.
            self.with_post(|_| ())?;
            self.timers().look();
            self.add_up(1);
            if self.queue().gathers() {
                self.gather()?;
            }
            if let Some(runnable) = self.take_outside()? {
                return Ok(Some(runnable));
            }
        }
        match self.with_post(|post| post.next(Runnable::prefetch))? {
            Some(runnable) => Ok(Some(runnable)),
            None => {
                let found = self.search()?;
                if found.is_none() {
                    self.idle_looks.set(self.idle_looks.get().wrapping_add(1));
                }
                Ok(found)
            }
        }
    }

    #[inline]
    fn with_post<R>(&self, f: impl FnOnce(&Post) -> R) -> Result<R, Relieved> {
        self.post.with((), |post, ()| f(post)).map_err(|()| Relieved)
    }

    fn take_outside(&self) -> Result<Option<Runnable>, Relieved> {
        self.with_post(|post| post.take_from(&self.shared.injector))
    }

    /// Searches the global queue and the other workers' queues.
    fn search(&self) -> Result<Option<Runnable>, Relieved> {
        // WHY here: after the next use of the core, sysmon cannot take it; only then may this
        // thread be counted as searching or asleep.
        self.seat.runs_nobody();
        if let Some(runnable) = self.take_outside()? {
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
                self.tally().steals();
                return Ok(Some(runnable));
            }
            if let Some(runnable) = self.take_outside()? {
                return Ok(Some(runnable));
            }
            hint::spin_loop();
        }
        Ok(None)
    }

    /// Steals half of the stealable queue of the first worker that has one, starting with the next
    /// worker.
    fn steal(&self) -> Result<Option<Runnable>, Relieved> {
        let mut promising = self.others().filter(|queue| queue.wants_help());
        self.with_post(|post| promising.find_map(|queue| post.steal_from(&queue.stealer)))
    }

    /// Steals everything that waits for the other workers.
    #[cold]
    fn gather(&self) -> Result<(), Relieved> {
        for queue in self.others() {
            while let Some(runnable) = self.with_post(|post| post.steal_from(&queue.stealer))? {
                self.queued(self.post.with(runnable, Post::put_last));
            }
        }
        Ok(())
    }

    #[inline]
    fn queue(&self) -> &Queue<Runnable> {
        &self.shared.queues[self.index]
    }

    /// Returns the queues of the other workers, starting with the next one.
    fn others(&self) -> impl Iterator<Item = &Queue<Runnable>> {
        let queues = &self.shared.queues;
        (1..queues.len()).map(|i| &**queues[(self.index + i) % queues.len()])
    }

    fn tally(&self) -> &Tally {
        &self.shared.tallies[self.index]
    }

    /// Updates the worker's counters, without the turn under way if there is one.
    // WHY not inlined, here and below: the loop would save more registers.
    #[cold]
    #[inline(never)]
    fn add_up(&self, under_way: u32) {
        // WHY less: the turn number also counts attempts that found no process or are still under
        // way.
        let turns = self.seat.turn().wrapping_sub(self.idle_looks.get() + under_way);
        self.done.set(self.tally().add_up(turns, self.done.get()));
    }

    fn timers(&self) -> &TimerWheel {
        self.shared.timers.wheel(self.index)
    }

    /// Sleeps until another thread has work or a timer is due. Wakes up as a searcher.
    fn sleep(&self) {
        // WHY back to the loop: a freed cell may have sent a message to a process that now waits in
        // this core, where only this worker looks.
        if purlin_raw::settle() {
            return;
        }
        let rest = self.timers().fall_asleep();
        if rest == Rest::Fired {
            return;
        }
        let idle = &self.shared.idle;
        idle.fall_asleep(self.index, self.searching.replace(false));
        if !self.shared.has_work() && !self.shared.stopping() {
            self.park(rest);
        }
        // If another thread has woken this worker, it has already made it a searcher. An unpark
        // that arrives later shortens the next sleep.
        idle.wake_self(self.index);
        self.searching.set(true);
        self.timers().wake();
        self.shared.rouse_monitor();
    }

    #[cold]
    #[inline(never)]
    fn park(&self, rest: Rest) {
        self.add_up(0);
        let now = || self.shared.timers.clock().now();
        if self.shared.measuring.load(Ordering::Relaxed) > 0 {
            self.tally().falls_asleep(now());
        }
        match rest {
            Rest::For(time) => self.parker.park_timeout(time),
            _ => self.parker.park(),
        }
        self.tally().wakes(now);
    }

    /// Ends the turn of a detached thread.
    #[cold]
    fn retire(&self) {
        debug_assert!(!self.searching.get(), "it was in a turn");
        if let Some(relief) = self.seat.relief.get() {
            relief.end();
            if relief.is_last() {
                // WHY: the thread may take locks until it exits, and hold some of them: the
                // allocator's, the kernel's for the memory map, the C library's for stacks.
                ThreadId::restore();
            }
            if relief.told() {
                self.above.over(relief.slot, relief.since.elapsed());
            }
        }
        // WHY: sysmon may be resting, and may have skipped a trim because of this thread.
        self.shared.rouse_monitor();
        self.shared.run_what_nobody_will();
    }
}
