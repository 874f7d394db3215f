//! Trace buffer: stores the events of a trace and enforces its limits.
//!
//! A traced process sends its events, in its own turn, into a bounded channel of pending events. The holder of the
//! buffer's lock moves pending events into the buffer: a traced process if the lock is free, otherwise the next reader,
//! which then copies a section. So a traced process never waits for the lock. An event is lost, and counted, only if
//! the channel is full while the lock is held. A spawned child is not traced, and is counted, if the lock is held.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};

use purlin_sched::TimerWheel;

use super::event::{Event, EventKind};
use super::options::Options;
use crate::ProcessId;

/// Most events returned by one read.
const AT_ONCE: usize = 1000;

/// Capacity of the channel of pending events. WHY 1024: a reader holds the lock for about 100 µs, in which a process
/// records hundreds of events.
const NOTES: usize = 1024;

/// State of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// The trace is running.
    Running,
    /// The trace was stopped.
    Ended,
    /// The trace stopped because the limit of events per second was exceeded.
    TooFast,
    /// The trace stopped because the limit of events in total was exceeded.
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

/// Error returned when a process cannot be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowError {
    /// No process of the node has this id, or it has ended.
    NoProcess(ProcessId),
    /// The process is a system process, such as the proxy of a remote process.
    SystemProcess(ProcessId),
    /// The trace already follows the most live processes allowed by [`Options::processes`].
    TooMany(usize),
    /// The trace has stopped.
    Stopped(State),
}

impl fmt::Display for FollowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess(id) => write!(f, "noproc: no process {id} lives on this node"),
            Self::SystemProcess(id) => {
                write!(f, "{id} serves processes, and is none of a program's")
            }
            Self::TooMany(most) => write!(f, "this trace follows {most} processes already"),
            Self::Stopped(state) => write!(f, "the trace is over: {state}"),
        }
    }
}

impl std::error::Error for FollowError {}

/// State and counters of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// State of the trace.
    pub state: State,
    /// The traced processes, including children. Some may have ended, or another trace may follow them; they are removed
    /// when their entries are needed.
    pub processes: Vec<ProcessId>,
    /// Children not traced, because the limit of processes was reached or the lock was held.
    pub left_out: u64,
    /// Events recorded.
    pub seen: u64,
    /// Events recorded and no longer stored, because the list is bounded.
    pub gone: u64,
    /// Events lost because the channel of pending events was full while the lock was held.
    pub lost: u64,
}

/// Trace buffer that traced processes write to.
pub(crate) struct TraceBuffer {
    pub(super) options: Options,
    clock: TimerWheel,
    /// Why the trace has stopped; unset while it is running.
    stopped: OnceLock<State>,
    lost: AtomicU64,
    left_out: AtomicU64,
    notes: SyncSender<Event>,
    pages: Mutex<Pages>,
}

/// The part of a trace buffer behind the lock.
struct Pages {
    /// Pending events, in the order in which they will be numbered.
    notes: Receiver<Event>,
    events: VecDeque<Event>,
    followed: Vec<Followed>,
    seen: u64,
    second: u64,
    in_second: u32,
    /// Set once a limit has been exceeded.
    over: bool,
}

/// A traced process.
struct Followed {
    id: ProcessId,
    /// Has no strong reference once the process is no longer traced.
    place: Weak<()>,
}

impl Followed {
    fn is_traced(&self) -> bool {
        self.place.strong_count() > 0
    }
}

/// Trace attached to a process, or on its way to it. The process has a place among the traced ones until it is dropped.
#[derive(Debug)]
pub(crate) struct Attachment {
    pub(crate) buffer: Arc<TraceBuffer>,
    /// WHY a reference count: an attachment is dropped when the process ends, when it detaches the trace, when another
    /// trace takes it over, and when the signal is refused or still unread at the end. Each of these frees the place.
    place: Arc<()>,
}

impl Attachment {
    /// Frees the place, and returns the trace buffer.
    pub(crate) fn free(self) -> Arc<TraceBuffer> {
        let Self { buffer, place } = self;
        drop(place);
        buffer
    }
}

impl TraceBuffer {
    pub(super) fn new(options: Options, clock: TimerWheel) -> Self {
        let (lost, left_out) = Default::default();
        let (notes, written) = sync_channel(NOTES);
        let pages = Mutex::new(Pages::new(written));
        Self { options, clock, stopped: OnceLock::new(), lost, left_out, notes, pages }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // WHY: no code panics while it holds the lock.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> State {
        self.stopped.get().copied().unwrap_or(State::Running)
    }

    pub(super) fn is_running(&self) -> bool {
        self.stopped.get().is_none()
    }

    /// Stops the trace, unless it has stopped.
    pub(super) fn stop(&self, why: State) {
        // The first stop determines the state.
        let _ = self.stopped.set(why);
    }

    /// Adds a process to the traced ones. The caller sends it the attachment.
    pub(super) fn enter(self: &Arc<Self>, id: ProcessId) -> Result<Attachment, FollowError> {
        if let Some(state) = self.stopped.get() {
            return Err(FollowError::Stopped(*state));
        }
        let place = self.pages().enter(id, self.options.processes);
        let place = place.ok_or(FollowError::TooMany(self.options.processes))?;
        Ok(Attachment { buffer: Arc::clone(self), place })
    }

    /// Adds a child that a traced process has just spawned, in the parent's turn, without waiting for the lock.
    pub(super) fn enter_child(self: &Arc<Self>, id: ProcessId) -> Option<Attachment> {
        let place = self.at_once().and_then(|mut pages| pages.enter(id, self.options.processes));
        if place.is_none() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
        place.map(|place| Attachment { buffer: Arc::clone(self), place })
    }

    pub(super) fn leave(&self, id: ProcessId) {
        self.pages().followed.retain(|one| one.id != id);
    }

    /// Returns the locked buffer, or `None` if the lock is held.
    fn at_once(&self) -> Option<MutexGuard<'_, Pages>> {
        match self.pages.try_lock() {
            Ok(pages) => Some(pages),
            Err(TryLockError::Poisoned(pages)) => Some(pages.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Records an event of a process.
    pub(super) fn write(
        &self,
        process: ProcessId,
        kind: EventKind,
        other: Option<ProcessId>,
        what: impl Into<Cow<'static, str>>,
    ) {
        if !self.is_running() {
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
        // WHY bounded: processes may record events as fast as they are stored here.
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

    /// Adds a process, if necessary in place of one that is no longer traced. Returns its place, or `None` if the limit
    /// is reached.
    fn enter(&mut self, id: ProcessId, most: usize) -> Option<Arc<()>> {
        if let Some(known) = self.followed.iter_mut().find(|one| one.id == id) {
            let place = known.place.upgrade().unwrap_or_default();
            known.place = Arc::downgrade(&place);
            return Some(place);
        }
        if self.followed.len() >= most {
            let free = self.followed.iter().position(|one| !one.is_traced())?;
            self.followed.remove(free);
        }
        let place = Arc::default();
        self.followed.push(Followed { id, place: Arc::downgrade(&place) });
        Some(place)
    }

    /// Stores an event, if the limits allow it.
    fn note(&mut self, mut event: Event, options: &Options) -> Result<(), State> {
        if self.over {
            return Ok(());
        }
        // Two processes may have read the clock in the opposite order.
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

impl fmt::Debug for TraceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceBuffer").field("state", &self.state()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use purlin_raw::Slot;

    use super::*;

    fn process(serial: u32) -> ProcessId {
        ProcessId::new(1, Slot::from_parts(serial, 0).expect("a slot"))
    }

    // A child may end before the signal that attaches the trace is sent to it
    #[test]
    fn refused_attachment_frees_its_place() {
        let mut pages = Pages::new(sync_channel(NOTES).1);
        let first = pages.enter(process(0), 1);
        assert!(first.is_some());
        assert_eq!(pages.enter(process(0), 1), first, "it has a place already");
        assert_eq!(pages.enter(process(1), 1), None);
        drop(first);
        let second = pages.enter(process(1), 1);
        assert!(second.is_some(), "no attachment of the other is left");
        assert_eq!(pages.enter(process(0), 1), None);
        drop(second);
        let again = pages.enter(process(1), 1);
        assert!(again.is_some(), "its entry has a place again");
        assert_eq!(pages.enter(process(0), 1), None);
        assert_eq!(pages.followed.len(), 1);
    }

    // The trace stops when a limit is exceeded, also if its last events are stored late
    #[test]
    fn stopped_trace_records_no_more_events() {
        let event = |second| Event {
            number: 0,
            at: Duration::from_secs(second),
            process: process(0),
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
