//! What is kept of a trace, and when it is too much.
//!
//! Processes that are followed write notes, each in its own turn. Whoever has the pages enters the notes there are:
//! the writer itself, unless somebody else has them, or whoever reads next, who then copies a piece. So nobody
//! waits while another reads, and an event is lost, and counted, only if there are more notes than there is room for
//! while somebody has the pages. A child that cannot be entered at once is left out, and counted.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use purlin_sched::TimerWheel;

use super::{Event, EventKind, FollowError, Options};
use crate::ProcessId;

/// The most events that are read at a time.
const AT_ONCE: usize = 1000;

/// How many notes there is room for. WHY so many: in the time a reader needs, some 100 µs, a process writes hundreds.
const NOTES: usize = 1024;

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
    /// Children that are not followed, because it follows as many as it may or somebody was just reading or writing.
    pub left_out: u64,
    /// Events it has seen.
    pub seen: u64,
    /// Events that are not kept any more because there were too many.
    pub gone: u64,
    /// Events that were lost because there were too many while somebody read or wrote others down.
    pub lost: u64,
}

/// What processes that are followed write into.
pub(crate) struct Book {
    pub(super) options: Options,
    clock: TimerWheel,
    state: AtomicU8,
    lost: AtomicU64,
    left_out: AtomicU64,
    notes: SyncSender<Event>,
    pages: Mutex<Pages>,
}

struct Pages {
    /// What has been written and not entered yet, in the order of the numbers it gets.
    notes: Receiver<Event>,
    events: VecDeque<Event>,
    followed: Vec<Followed>,
    seen: u64,
    second: u64,
    in_second: u32,
    /// There was one more than it may see.
    over: bool,
}

#[derive(Clone, Copy)]
struct Followed {
    id: ProcessId,
    ended: bool,
}

impl Book {
    pub(super) fn new(options: Options, clock: TimerWheel) -> Self {
        let state = AtomicU8::new(number(State::Running));
        let (lost, left_out) = Default::default();
        let (notes, written) = sync_channel(NOTES);
        let pages = Mutex::new(Pages::new(written));
        Self { options, clock, state, lost, left_out, notes, pages }
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
        if self.enter_among(&mut self.pages(), id) {
            Ok(())
        } else {
            Err(FollowError::TooMany(most))
        }
    }

    /// The same for one that a process which is followed has just spawned, in that one's turn.
    pub(super) fn enter_child(&self, id: ProcessId) -> bool {
        let entered = self.at_once().is_some_and(|mut pages| self.enter_among(&mut pages, id));
        if !entered {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        entered
    }

    fn enter_among(&self, pages: &mut Pages, id: ProcessId) -> bool {
        // WHY: they may say of somebody that it has ended.
        self.enter_notes(pages);
        pages.enter(id, self.options.processes)
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
        let event =
            Event { number: 0, at: self.clock.now(), process, kind, other, what: what.into() };
        let unsent = self.notes.try_send(event).err();
        let Some(mut pages) = self.at_once() else {
            self.lost.fetch_add(unsent.is_some().into(), Ordering::Relaxed);
            return;
        };
        self.enter_notes(&mut pages);
        if let Some(TrySendError::Full(event) | TrySendError::Disconnected(event)) = unsent {
            self.enter_note(&mut pages, event);
        }
    }

    fn enter_notes(&self, pages: &mut Pages) {
        // WHY not until there are none: others may write as fast as these are entered.
        for _ in 0..NOTES {
            let Ok(note) = pages.notes.try_recv() else { return };
            self.enter_note(pages, note);
        }
    }

    fn enter_note(&self, pages: &mut Pages, note: Event) {
        if let Err(why) = pages.note(note, &self.options) {
            self.stop(why);
        }
    }

    pub(super) fn events(&self, after: u64) -> Vec<Event> {
        let mut pages = self.pages();
        self.enter_notes(&mut pages);
        let from = pages.events.partition_point(|event| event.number <= after);
        pages.events.range(from..).take(AT_ONCE).cloned().collect()
    }

    pub(super) fn status(&self) -> Status {
        let mut pages = self.pages();
        self.enter_notes(&mut pages);
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
    fn new(notes: Receiver<Event>) -> Self {
        let (events, followed) = (VecDeque::new(), Vec::new());
        Self { notes, events, followed, seen: 0, second: 0, in_second: 0, over: false }
    }

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

    /// Enters an event, if there may be one more.
    fn note(&mut self, mut event: Event, options: &Options) -> Result<(), State> {
        if event.kind == EventKind::End
            && let Some(own) = self.followed.iter_mut().find(|one| one.id == event.process)
        {
            own.ended = true;
        }
        if self.over {
            return Ok(());
        }
        // Two writers may have read the clock in the other order.
        if self.second < event.at.as_secs() {
            (self.second, self.in_second) = (event.at.as_secs(), 0);
        }
        let enough = self.seen >= options.in_all;
        if enough || self.in_second >= options.per_second {
            self.over = true;
            return Err(if enough { State::Enough } else { State::TooFast });
        }
        self.in_second += 1;
        self.seen += 1;
        event.number = self.seen;
        if self.events.len() >= options.kept {
            self.events.pop_front();
        }
        self.events.push_back(event);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin_raw::Slot;

    use super::*;

    // issue 8: past so many it stops itself, also if its last notes are entered late
    #[test]
    fn a_trace_that_is_over_sees_nothing_more() {
        let process = ProcessId::new(1, Slot::from_parts(0, 0).expect("a slot"));
        let event = |second| Event {
            number: 0,
            at: Duration::from_secs(second),
            process,
            kind: EventKind::Send,
            other: None,
            what: "".into(),
        };
        for (options, why) in [
            (Options::default().events_per_second(3), State::TooFast),
            (Options::default().events(3), State::Enough),
        ] {
            let mut pages = Pages::new(sync_channel(NOTES).1);
            assert!((0..3).all(|_| pages.note(event(0), &options).is_ok()));
            assert_eq!(pages.note(event(0), &options), Err(why));
            assert_eq!(pages.note(event(1), &options), Ok(()), "said once");
            assert_eq!(pages.seen, 3);
        }
    }
}
