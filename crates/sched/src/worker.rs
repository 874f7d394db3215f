//! One thread's loop: what to run next, and when to sleep.
//!
//! The loop works through a post, which belongs to the thread until the monitor takes it away in the
//! middle of a turn that is too long. Every use of the post may find it gone. Then the thread is
//! *relieved*: what it schedules goes to the common queue, and when the turn is over it ends. What
//! the loop runs may call [`schedule_here`] on the same thread at any time.
//!
//! INVARIANT: a thread that is asleep or counted as searching has its post. It is taken only from
//! one that shows a running process (`Seat::running`), and one that does not shows so before it uses
//! its post once more and then begins to search.

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

/// How often a worker looks at what came from outside before its own work. Prime, so that it does
/// not fall into step with the work.
const OUTSIDE_EVERY: u32 = if cfg!(shuttle) { 3 } else { 61 };
/// How often a searching worker looks at all queues before it sleeps.
const ROUNDS: u32 = if cfg!(shuttle) { 1 } else { 16 };

/// One worker, where the processes it runs find it.
struct Worker {
    shared: Arc<Shared>,
    above: Arc<dyn Above>,
    index: usize,
    parker: Parker,
    post: Holder<Post>,
    seat: Arc<Seat>,
    searching: Cell<bool>,
    /// What this thread had done when it last added to the worker's tally.
    done: Cell<Done>,
    /// How often this thread has found nobody to run.
    idle_looks: Cell<u32>,
}

/// The post was taken away.
struct Relieved;

thread_local! {
    static WORKER: OnceCell<Worker> = const { OnceCell::new() };
}

/// Queues a process if this thread is a worker of that scheduler, else gives it back.
#[inline]
pub(crate) fn schedule_here(shared: &Arc<Shared>, runnable: Runnable) -> Result<(), Runnable> {
    let mut runnable = Some(runnable);
    // WHY `try_with`: a destructor of another thread-local may wake a process after this one is
    // gone; that counts as outside.
    let _ = WORKER.try_with(|worker| {
        if let Some(worker) = worker.get().filter(|worker| Arc::ptr_eq(&worker.shared, shared))
            && let Some(runnable) = runnable.take()
        {
            worker.schedule(runnable);
        }
    });
    runnable.map_or(Ok(()), Err)
}

/// The loop of a worker's thread; returns when the scheduler stops and nothing is ready, or when the
/// thread was relieved and its turn is over.
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
    // WHY always: its caller has nothing else to do, and a loop of its own took ten instructions more a turn.
    #[inline(always)]
    fn run_all(&self) -> Result<(), Relieved> {
        let mut last_look = false;
        loop {
            match self.next()? {
                Some(runnable) => self.run(runnable),
                // What is ready is run before the end: a process that was told to end must do so.
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

    /// Makes a process the next to run here; the one that was moves into the queue.
    ///
    /// WHY in three: as a rule nothing is called, and no register saved.
    #[inline(always)]
    fn schedule(&self, runnable: Runnable) {
        match self.post.try_with(runnable, Post::put_first) {
            Ok(None) => {}
            Ok(Some(before)) => self.make_room(before),
            Err(runnable) => self.schedule_after_all(runnable),
        }
    }

    /// Queues the process that was the next to run.
    #[cold]
    #[inline(never)]
    fn make_room(&self, before: Runnable) {
        self.queued(self.post.with(before, Post::put_second));
    }

    /// The post is gone, or somebody is looking at it.
    #[cold]
    #[inline(never)]
    fn schedule_after_all(&self, runnable: Runnable) {
        match self.post.with(runnable, Post::put_first) {
            Ok(None) => {}
            Ok(Some(before)) => self.make_room(before),
            Err(runnable) => self.shared.inject(runnable),
        }
    }

    /// Something was queued, if the post is there, and others could help now, or not.
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
            // There may be more where this came from.
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
            // WHY: what fires many timers is not the process that ran last.
            self.seat.runs_nobody();
            // WHY before all else: whoever was relieved in its last turn has a successor, whose figures these are.
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

    /// Looks everywhere for work.
    fn search(&self) -> Result<Option<Runnable>, Relieved> {
        // WHY here: from the next use of the post on, it stays; only then may this thread be counted
        // as searching or asleep.
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

    /// Takes half of what the first worker has to give, beginning with the next.
    fn steal(&self) -> Result<Option<Runnable>, Relieved> {
        let mut promising = self.others().filter(|queue| queue.wants_help());
        self.with_post(|post| promising.find_map(|queue| post.steal_from(&queue.stealer)))
    }

    /// Takes over what waits for the other workers.
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

    /// The queues of the other workers, beginning with the next.
    fn others(&self) -> impl Iterator<Item = &Queue<Runnable>> {
        let queues = &self.shared.queues;
        (1..queues.len()).map(|i| &**queues[(self.index + i) % queues.len()])
    }

    fn tally(&self) -> &Tally {
        &self.shared.tallies[self.index]
    }

    /// Shows what has been done, without the turn that is under way if there is one.
    // WHY not inlined, here and below: the loop would save more registers.
    #[cold]
    #[inline(never)]
    fn add_up(&self, under_way: u32) {
        // WHY less: it has looked for the next turn so often and found none, or not yet looked.
        let turns = self.seat.turn().wrapping_sub(self.idle_looks.get() + under_way);
        self.done.set(self.tally().add_up(turns, self.done.get()));
    }

    fn timers(&self) -> &TimerWheel {
        self.shared.timers.wheel(self.index)
    }

    /// Sleeps until somebody has work, or a timer is due. Wakes as a searcher.
    fn sleep(&self) {
        // WHY to the loop again: what was freed may have sent something to a process that now waits
        // in this worker's post, where only this worker looks.
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
        // If somebody has woken it, that has made it a searcher already. An unpark that is still to
        // come makes the next sleep a short one.
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

    /// The turn in which the thread was relieved is over.
    #[cold]
    fn retire(&self) {
        debug_assert!(!self.searching.get(), "it was in a turn");
        if let Some(relief) = self.seat.relief.get() {
            relief.end();
            if relief.is_last() {
                // WHY: it may have to wait for locks from here on, and hold some: the allocator's, the
                // kernel's for the map of memory, the C library's for stacks.
                ThreadId::restore();
            }
            if relief.told() {
                self.above.over(relief.slot, relief.since.elapsed());
            }
        }
        // WHY: it may rest already, and have left memory alone for the hog's sake.
        self.shared.rouse_monitor();
        self.shared.run_what_nobody_will();
    }
}
