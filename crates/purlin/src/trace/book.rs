//! What is kept of a trace, and when it is too much.
//!
//! Processes that are followed write, each in its own turn; whoever reads copies a piece. A writer does not wait
//! for the lock: an event that cannot be written down at once is lost, and counted, and so is a child.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use purlin_sched::TimerWheel;

use super::{Event, EventKind, FollowError, Options};
use crate::ProcessId;

/// The most events that are read at a time.
const AT_ONCE: usize = 1000;

/// Whether a trace goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It goes on.
    Running,
    /// It was stopped.
    Ended,
    /// It stopped itself: there were more events in a second than it may see.
    TooFast,
    /// It stopped itself: it has seen as many events as it may.
    Enough,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "it goes on",
            Self::Ended => "it was stopped",
            Self::TooFast => "more events in a second than it may see",
            Self::Enough => "it has seen as many events as it may",
        })
    }
}

/// How a trace does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Whether it goes on.
    pub state: State,
    /// Whom it was told to follow, with those that were followed as children. Some may have ended; they go when
    /// their places are needed.
    pub processes: Vec<ProcessId>,
    /// Children that are not followed, because it follows as many as it may or somebody was just reading.
    pub left_out: u64,
    /// Events it has seen.
    pub seen: u64,
    /// Events that are not kept any more because there were too many.
    pub gone: u64,
    /// Events that were lost because somebody was just writing or reading.
    pub lost: u64,
}

/// What processes that are followed write into.
pub(crate) struct Book {
    pub(super) options: Options,
    clock: TimerWheel,
    state: AtomicU8,
    lost: AtomicU64,
    left_out: AtomicU64,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    events: VecDeque<Event>,
    followed: Vec<Followed>,
    seen: u64,
    second: u64,
    in_second: u32,
}

#[derive(Clone, Copy)]
struct Followed {
    id: ProcessId,
    ended: bool,
}

impl Book {
    pub(super) fn new(options: Options, clock: TimerWheel) -> Self {
        let state = AtomicU8::new(number(State::Running));
        let (lost, left_out, pages) = Default::default();
        Self { options, clock, state, lost, left_out, pages }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // WHY: nothing can panic while it is locked.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> State {
        // ORDER: relaxed: whoever sees it late writes one event more.
        match self.state.load(Ordering::Relaxed) {
            0 => State::Running,
            1 => State::Ended,
            2 => State::TooFast,
            _ => State::Enough,
        }
    }

    pub(super) fn goes_on(&self) -> bool {
        self.state() == State::Running
    }

    /// Stops, unless it has.
    pub(super) fn stop(&self, why: State) {
        let (running, relaxed) = (number(State::Running), Ordering::Relaxed);
        // Whoever stops first says why.
        let _ = self.state.compare_exchange(running, number(why), relaxed, relaxed);
    }

    /// Writes a process down as one that is followed.
    pub(super) fn enter(&self, id: ProcessId) -> Result<(), FollowError> {
        let state = self.state();
        if state != State::Running {
            return Err(FollowError::Stopped(state));
        }
        let most = self.options.processes;
        if self.pages().enter(id, most) { Ok(()) } else { Err(FollowError::TooMany(most)) }
    }

    /// The same for one that a process which is followed has just spawned, in that one's turn.
    pub(super) fn enter_child(&self, id: ProcessId) -> bool {
        let entered =
            self.at_once().is_some_and(|mut pages| pages.enter(id, self.options.processes));
        if !entered {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        entered
    }

    pub(super) fn leave(&self, id: ProcessId) {
        self.pages().followed.retain(|one| one.id != id);
    }

    /// The pages, unless somebody has them.
    fn at_once(&self) -> Option<MutexGuard<'_, Pages>> {
        match self.pages.try_lock() {
            Ok(pages) => Some(pages),
            Err(TryLockError::Poisoned(pages)) => Some(pages.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Writes down what a process did.
    pub(super) fn write(
        &self,
        process: ProcessId,
        kind: EventKind,
        other: Option<ProcessId>,
        what: impl Into<Cow<'static, str>>,
    ) {
        if !self.goes_on() {
            return;
        }
        let (at, what) = (self.clock.now(), what.into());
        let Some(mut pages) = self.at_once() else {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        if kind == EventKind::End
            && let Some(own) = pages.followed.iter_mut().find(|one| one.id == process)
        {
            own.ended = true;
        }
        if let Err(why) = pages.count(at, &self.options) {
            return self.stop(why);
        }
        let number = pages.seen;
        let full = pages.events.len() >= self.options.kept;
        let oldest = if full { pages.events.pop_front() } else { None };
        pages.events.push_back(Event { number, at, process, kind, other, what });
        drop(pages);
        drop(oldest);
    }

    pub(super) fn events(&self, after: u64) -> Vec<Event> {
        let pages = self.pages();
        let from = pages.events.partition_point(|event| event.number <= after);
        pages.events.range(from..).take(AT_ONCE).cloned().collect()
    }

    pub(super) fn status(&self) -> Status {
        let pages = self.pages();
        Status {
            state: self.state(),
            processes: pages.followed.iter().map(|one| one.id).collect(),
            left_out: self.left_out.load(Ordering::Relaxed),
            seen: pages.seen,
            gone: pages.seen - pages.events.len() as u64,
            lost: self.lost.load(Ordering::Relaxed),
        }
    }
}

impl Pages {
    /// Follows one more, in the place of one that has ended if there is no other; `false` if all places are taken.
    fn enter(&mut self, id: ProcessId, most: usize) -> bool {
        if self.followed.iter().any(|one| one.id == id) {
            return true;
        }
        if self.followed.len() >= most {
            let Some(free) = self.followed.iter().position(|one| one.ended) else { return false };
            self.followed.remove(free);
        }
        self.followed.push(Followed { id, ended: false });
        true
    }

    /// Counts one event more, if there may be one.
    fn count(&mut self, at: Duration, options: &Options) -> Result<(), State> {
        if self.second != at.as_secs() {
            (self.second, self.in_second) = (at.as_secs(), 0);
        }
        if self.seen >= options.in_all {
            return Err(State::Enough);
        }
        if self.in_second >= options.per_second {
            return Err(State::TooFast);
        }
        self.in_second += 1;
        self.seen += 1;
        Ok(())
    }
}

fn number(state: State) -> u8 {
    match state {
        State::Running => 0,
        State::Ended => 1,
        State::TooFast => 2,
        State::Enough => 3,
    }
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book").field("state", &self.state()).finish_non_exhaustive()
    }
}
