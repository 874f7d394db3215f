//! Private state of a process: links, monitors, aliases, handling of exit signals.
//!
//! Only the process's own turn accesses it, and no user code runs during an access. Values that
//! user code drops (a reason, a waker) are returned to the caller.
//!
//! COST: one word in the cell; the rest is in a block that only processes that need it allocate.

use std::any::Any;
use std::sync::Arc;
use std::task::Waker;

use purlin_raw::{ConvertedMessage, Either, Erased, Pooled, trace};

use crate::mailbox::deadline::KeptTimer;
use crate::mailbox::suspension::Wait;
use crate::node::erlang_types::Peer;
use crate::pg::Event;
use crate::signals::monitor_link::{Link, Monitoring};
use crate::signals::reference::Reference;
use crate::signals::signal::{EndWatch, Signal};
use crate::signals::small_map::SmallMap;
use crate::trace::{Attachment, TraceBuffer};
use crate::{ExitReason, ProcessDetails, ProcessId};

// WHY: the arguments are the parts of a notice, because these are passed in registers and the
// notice is first written where its message stays. `M` is the type of the mailbox; the code that
// stores such a function does not know it.

/// Converts a [`Down`](crate::Down) into a message.
pub(crate) type OfDown<M> = fn(Reference, Monitoring, ExitReason) -> ConvertedMessage<M>;
/// Converts an [`Exit`](crate::Exit) into a message.
pub(crate) type OfExit<M> = fn(Option<ProcessId>, ExitReason) -> ConvertedMessage<M>;
/// Converts an [`Event`](crate::pg::Event) into a message.
pub(crate) type OfEvent<M> = fn(Reference, Event) -> ConvertedMessage<M>;

/// Private state of a process.
#[derive(Default)]
pub(crate) struct LocalState {
    /// `None` in most processes.
    kept: Option<Pooled<InitialState, ExtendedState>>,
}

/// Inline state of a process that was spawned with a link or a monitor and has needed nothing
/// since, or of one that has neither and has needed a timer.
pub(crate) enum InitialState {
    /// The process is linked to its parent.
    Linked(ProcessId, Link),
    /// The parent monitors the process.
    Watched(Reference, Peer),
    /// The process has had a long deadline.
    Waited(Option<KeptTimer>),
}

/// Extended state, which few processes need.
#[derive(Default)]
pub(crate) struct ExtendedState {
    /// Exit reason, set once the process is about to end.
    pub(crate) exit: Option<ExitReason>,
    /// Whether `exit` is the reason of a call of [`exit`](crate::exit()) by the process.
    pub(crate) called_exit: bool,
    /// Waker of a combinator that waits for a message, if it is not the process's waker.
    pub(crate) mail: Option<Waker>,
    /// Linked processes.
    pub(crate) links: SmallMap<ProcessId, Link>,
    /// Processes that monitor this one.
    pub(crate) watchers: SmallMap<Reference, Peer>,
    /// Processes that this one monitors.
    pub(crate) monitors: SmallMap<Reference, Monitoring>,
    /// Conversion of exit signals, set if exits are trapped.
    pub(crate) trap: Option<Erased>,
    /// Conversion of down signals.
    pub(crate) down: Option<Erased>,
    /// Whether the process has, or had, a registered name.
    pub(crate) named: bool,
    /// Timer of the process's long deadlines.
    pub(crate) timer: Option<KeptTimer>,
    /// Cold part.
    pub(crate) cold: Option<Box<ColdState>>,
}

/// Cold part of the extended state, allocated apart: even fewer processes need it.
#[derive(Default)]
pub(crate) struct ColdState {
    /// Whether this is a system process, which a full mailbox does not suspend.
    pub(crate) is_system: bool,
    /// Futures that wait for the end of the process.
    pub(crate) at_end: Vec<Arc<EndWatch>>,
    /// Aliases.
    pub(crate) aliases: SmallMap<Reference, AliasOptions>,
    /// Monitors of groups, with the conversion of their events.
    pub(crate) groups: SmallMap<Reference, Erased>,
    /// Waits of a suspended process, which has sent past bounds.
    pub(crate) suspended: Option<Vec<Wait>>,
    /// Attachment of the trace that follows the process.
    pub(crate) followed: Option<Attachment>,
    /// Memory in bytes that the process reported.
    pub(crate) memory: usize,
    /// Signals that arrived too late, to be answered at the end.
    pub(crate) late: Vec<Signal>,
    /// Function for the messages that the process leaves unread: an `OnUnread` of its mailbox's type.
    pub(crate) on_unread: Option<Box<dyn Any + Send>>,
}

/// Options of an alias.
#[derive(Clone, Copy)]
pub(crate) struct AliasOptions {
    /// Whether the first message removes the alias.
    pub(crate) once: bool,
    /// Whether messages and exit signals sent with priority become priority messages (M6).
    pub(crate) priority: bool,
}

impl ExtendedState {
    /// Returns the cold part, and allocates it if there is none.
    pub(crate) fn cold(&mut self) -> &mut ColdState {
        self.cold.get_or_insert_default()
    }
}

impl LocalState {
    /// Creates the private state of a process that is spawned with a link or a monitor.
    pub(crate) fn with_initial(initial: InitialState) -> Self {
        Self { kept: Some(Pooled::left(initial)) }
    }

    /// Returns whether there is any state.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns whether a turn must consult the state: the process is about to end, a combinator
    /// waits for a message, or the process has sent past a bound.
    #[inline]
    pub(crate) fn affects_turn(&self) -> bool {
        self.exiting() || self.waits() != (false, false)
    }

    /// Takes the whole state.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Either<InitialState, ExtendedState>> {
        self.kept.take().map(Pooled::into_inner)
    }

    #[inline]
    pub(crate) fn extended(&mut self) -> &mut ExtendedState {
        if self.seen().is_none() {
            self.extend();
        }
        match self.kept.as_mut().map(Pooled::get_mut) {
            Some(Either::Right(extended)) => extended,
            _ => unreachable!("it has just been made"),
        }
    }

    /// Returns the timer of the process's long deadlines.
    pub(crate) fn timer(&mut self) -> &mut Option<KeptTimer> {
        match self.kept.as_ref().map(Pooled::get) {
            None => self.kept = Some(Pooled::left(InitialState::Waited(None))),
            Some(Either::Left(InitialState::Linked(..) | InitialState::Watched(..))) => {
                self.extend()
            }
            _ => {}
        }
        match self.kept.as_mut().map(Pooled::get_mut) {
            Some(Either::Left(InitialState::Waited(timer))) => timer,
            Some(Either::Right(extended)) => &mut extended.timer,
            _ => unreachable!("it has just been made"),
        }
    }

    #[cold]
    fn extend(&mut self) {
        let mut extended = ExtendedState::default();
        match self.take() {
            Some(Either::Left(InitialState::Linked(id, link))) => {
                extended.links.insert_new(id, link)
            }
            Some(Either::Left(InitialState::Watched(reference, peer))) => {
                extended.watchers.insert_new(reference, peer);
            }
            Some(Either::Left(InitialState::Waited(timer))) => extended.timer = timer,
            None | Some(Either::Right(_)) => {}
        }
        self.kept = Some(Pooled::right(extended));
    }

    #[inline]
    fn seen(&self) -> Option<&ExtendedState> {
        match self.kept.as_ref()?.get() {
            Either::Left(_) => None,
            Either::Right(extended) => Some(extended),
        }
    }

    #[inline]
    fn seen_mut(&mut self) -> Option<&mut ExtendedState> {
        match self.kept.as_mut()?.get_mut() {
            Either::Left(_) => None,
            Either::Right(extended) => Some(extended),
        }
    }

    /// Returns the cold part, if there is one.
    #[inline]
    pub(crate) fn seen_cold(&mut self) -> Option<&mut ColdState> {
        self.seen_mut()?.cold.as_deref_mut()
    }

    /// Returns the options of an alias to which a message was sent, if the alias is valid. Removes an
    /// alias that is valid for one message only.
    pub(crate) fn answers_to(&mut self, alias: Reference) -> Option<AliasOptions> {
        let options = self.alias(alias)?;
        if options.once {
            self.seen_cold()?.aliases.remove(alias);
        }
        Some(options)
    }

    /// Returns the options of an alias, if it is valid.
    pub(crate) fn alias(&mut self, alias: Reference) -> Option<AliasOptions> {
        self.seen_cold()?.aliases.get_mut(alias).copied()
    }

    /// Returns whether the process is about to end.
    pub(crate) fn exiting(&self) -> bool {
        self.seen().is_some_and(|extended| extended.exit.is_some())
    }

    /// Returns the exit reason of a process about to end. It remains while destructors run (L7).
    #[inline]
    pub(crate) fn exit(&self) -> Option<ExitReason> {
        self.seen()?.exit.clone()
    }

    /// Returns the state that the beginning of a turn needs: whether a combinator with another
    /// waker waits for a message, and whether the process has sent past a bound.
    #[inline]
    pub(crate) fn waits(&self) -> (bool, bool) {
        let suspended = |cold: &ColdState| cold.suspended.is_some();
        match self.seen() {
            None => (false, false),
            Some(extended) => {
                (extended.mail.is_some(), extended.cold.as_deref().is_some_and(suspended))
            }
        }
    }

    /// Returns the trace buffer of the trace that follows the process.
    pub(crate) fn followed(&mut self) -> Option<Arc<TraceBuffer>> {
        self.seen_cold()?.followed.as_ref().map(|attachment| Arc::clone(&attachment.buffer))
    }

    /// Detaches the trace, in the process's turn. Returns the attachment for the caller to drop.
    pub(crate) fn unfollow(&mut self, buffer: &Arc<TraceBuffer>) -> Option<Attachment> {
        let before = self.seen_cold()?.followed.take_if(|by| Arc::ptr_eq(&by.buffer, buffer));
        if before.is_some() {
            trace(false);
        }
        before
    }

    /// Returns the state that the end of a turn needs: the exit reason of a process about to end,
    /// and whether a combinator waits for a message.
    #[inline]
    pub(crate) fn pause(&self) -> (Option<ExitReason>, bool) {
        match self.seen() {
            None => (None, false),
            Some(extended) => (extended.exit.clone(), extended.mail.is_some()),
        }
    }

    #[inline]
    pub(crate) fn take_mail(&mut self) -> Option<Waker> {
        self.seen_mut()?.mail.take()
    }

    /// Returns the conversion of an exit signal into a message, if it is trapped (L3, L4).
    #[inline]
    pub(crate) fn traps(&self, reason: &ExitReason, origin: Origin) -> Option<&Erased> {
        let extended = self.seen()?;
        extended.trap.as_ref().filter(|_| extended.exit.is_none() && !origin.kills(reason))
    }

    /// Handles an exit signal that is not trapped (L3, L4). Returns whether the process must end,
    /// and an unused reason for the caller to drop.
    pub(crate) fn receive_exit(
        &mut self,
        reason: ExitReason,
        origin: Origin,
    ) -> (bool, Option<ExitReason>) {
        let exit = &mut self.extended().exit;
        match exit {
            // The stop of the node replaces the reason of a process that did not end in time by
            // `killed`.
            Some(_) if origin == Origin::Stop && origin.kills(&reason) => {
                (true, exit.replace(ExitReason::Killed))
            }
            // M2, L3: the first reason counts, also against a later `kill`.
            Some(_) => (true, Some(reason)),
            None if origin.kills(&reason) => (true, exit.replace(ExitReason::Killed)),
            None if matches!(reason, ExitReason::Normal) && origin != Origin::Itself => {
                (false, None)
            }
            None => (true, exit.replace(reason)),
        }
    }

    /// Sets the exit reason, unless the process is about to end already. Returns the unused
    /// reason for the caller to drop.
    pub(crate) fn end(&mut self, reason: ExitReason) -> Option<ExitReason> {
        match &mut self.extended().exit {
            Some(_) => Some(reason),
            none => {
                *none = Some(reason);
                None
            }
        }
    }

    /// Records a call of [`exit`](crate::exit()), unless the process is about to end already.
    /// Returns the unused reason for the caller to drop.
    pub(crate) fn call_exit(&mut self, reason: ExitReason) -> Option<ExitReason> {
        let unused = self.end(reason);
        self.extended().called_exit |= unused.is_none();
        unused
    }

    /// Returns whether the exit reason is that of a call of [`exit`](crate::exit()) by the process.
    pub(crate) fn called_exit(&self) -> bool {
        self.seen().is_some_and(|extended| extended.called_exit)
    }

    /// Removes the record of a call of [`exit`](crate::exit()) and returns its reason.
    pub(crate) fn take_called_exit(&mut self) -> Option<ExitReason> {
        let extended = self.seen_mut()?;
        if std::mem::take(&mut extended.called_exit) { extended.exit.take() } else { None }
    }

    /// Returns the conversion of the events of a group monitor, if the monitor exists.
    pub(crate) fn watches_group(&mut self, monitor: Reference) -> Option<&Erased> {
        self.seen_cold()?.groups.get_mut(monitor).map(|convert| &*convert)
    }

    /// Adds a future that waits for the end of the process.
    pub(crate) fn watch_end(&mut self, watch: Arc<EndWatch>) {
        let watches = &mut self.extended().cold().at_end;
        if watches.len() == watches.capacity() {
            // A future that was dropped no longer holds its `EndWatch`.
            watches.retain(|watch| Arc::strong_count(watch) > 1);
            // WHY: reserve as many again, so that scanning all of them is amortised over as many
            // additions.
            watches.reserve(watches.len() + 1);
        }
        watches.push(watch);
    }

    /// Returns the details of the process. Does not allocate extended state.
    pub(crate) fn describe(&self) -> ProcessDetails {
        let extended = match self.kept.as_ref().map(Pooled::get) {
            None | Some(Either::Left(InitialState::Waited(_))) => {
                return ProcessDetails::default();
            }
            Some(Either::Left(InitialState::Linked(id, _))) => {
                return ProcessDetails { links: vec![*id], ..ProcessDetails::default() };
            }
            Some(Either::Left(InitialState::Watched(_, peer))) => {
                let monitored_by = vec![ProcessId::of(peer)];
                return ProcessDetails { monitored_by, ..ProcessDetails::default() };
            }
            Some(Either::Right(extended)) => extended,
        };
        let mut details = ProcessDetails {
            traps_exits: extended.trap.is_some(),
            reported_memory: extended.cold.as_ref().map_or(0, |cold| cold.memory),
            ..ProcessDetails::default()
        };
        extended.links.each(|id, link| details.links.extend(link.is_up().then_some(id)));
        extended.monitors.each(|_, monitoring| details.monitors.push(monitoring.of()));
        extended.watchers.each(|_, peer| details.monitored_by.push(ProcessId::of(peer)));
        details
    }
}

/// Origin of an exit signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A linked process that ended.
    Link,
    /// The process itself.
    Itself,
    /// Another process, or a thread that runs no process.
    Other,
    /// The node, which is stopping.
    Stop,
}

impl Origin {
    /// Returns whether such a signal cannot be trapped (L4). The exit signal of a link can be
    /// trapped, whatever its reason.
    fn kills(self, reason: &ExitReason) -> bool {
        self != Self::Link && matches!(reason, ExitReason::Kill)
    }
}
