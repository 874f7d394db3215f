//! What a process keeps for itself: links, monitors, aliases, how it takes exits.
//!
//! Only its own turn touches it, and nothing of the user's runs meanwhile. What is taken out of it
//! and is the user's to drop (a reason, a waker) is handed back.
//!
//! COST: one word in the cell; the rest lies in a block that exists only in processes that need it.

use std::sync::Arc;
use std::task::Waker;

use purlin_raw::{Either, Erased, Pooled, Sealed, trace};

use crate::links::Link;
use crate::monitors::Monitoring;
use crate::pg::Event;
use crate::reference::Reference;
use crate::room::Suspended;
use crate::signal::{Peer, Signal, Watch};
use crate::small::Small;
use crate::trace::Book;
use crate::{ExitReason, ProcessDetails, ProcessId};

// WHY functions of the parts: they come in registers, and the notice is first written where its
// message stays. `M` is the mailbox's type; whoever keeps one does not know it.

/// How a [`Down`](crate::Down) becomes a message.
pub(crate) type OfDown<M> = fn(Reference, Monitoring, ExitReason) -> Sealed<M>;
/// How an [`Exit`](crate::Exit) becomes a message.
pub(crate) type OfExit<M> = fn(Option<ProcessId>, ExitReason) -> Sealed<M>;
/// How an [`Event`](crate::pg::Event) becomes a message.
pub(crate) type OfEvent<M> = fn(Reference, Event) -> Sealed<M>;

/// What a process keeps for itself.
#[derive(Default)]
pub(crate) struct Local {
    /// Nothing as a rule.
    kept: Option<Pooled<Bond, Rare>>,
}

/// What a process keeps that was spawned with a link or a monitor and has needed nothing since, as
/// most of those.
pub(crate) enum Bond {
    /// It is linked to whoever spawned it.
    Linked(ProcessId, Link),
    /// Whoever spawned it monitors it.
    Watched(Reference, Peer),
}

/// What few processes need.
#[derive(Default)]
pub(crate) struct Rare {
    /// The process is to end.
    pub(crate) exit: Option<ExitReason>,
    /// Whom to wake when a message comes, if a combinator waits with a waker of its own.
    pub(crate) mail: Option<Waker>,
    /// Whom it is linked to.
    pub(crate) links: Small<ProcessId, Link>,
    /// Who monitors it.
    pub(crate) watchers: Small<Reference, Peer>,
    /// Whom it monitors.
    pub(crate) monitors: Small<Reference, Monitoring>,
    /// How an exit signal becomes a message, if exits are trapped.
    pub(crate) trap: Option<Erased>,
    /// How a down signal becomes a message.
    pub(crate) down: Option<Erased>,
    /// It has, or had, a name.
    pub(crate) named: bool,
    /// What even fewer need.
    pub(crate) rarer: Option<Box<Rarer>>,
}

/// What even fewer processes need.
#[derive(Default)]
pub(crate) struct Rarer {
    /// It serves other processes, and does not wait for room in their mailboxes.
    pub(crate) serves: bool,
    /// Who waits for the end of the process.
    pub(crate) at_end: Vec<Arc<Watch>>,
    /// Its aliases, and whether each is good for one message only.
    pub(crate) aliases: Small<Reference, bool>,
    /// The groups that it watches, and how an event becomes a message.
    pub(crate) groups: Small<Reference, Erased>,
    /// It has sent past bounds, and waits for room.
    pub(crate) suspended: Option<Suspended>,
    /// What follows it.
    pub(crate) followed: Option<Arc<Book>>,
    /// Bytes that it says it has allocated.
    pub(crate) memory: usize,
    /// What arrived too late, and is to be answered.
    pub(crate) late: Vec<Signal>,
}

impl Rare {
    pub(crate) fn rarer(&mut self) -> &mut Rarer {
        self.rarer.get_or_insert_default()
    }
}

impl Local {
    /// What a process keeps that is spawned with that.
    pub(crate) fn bound(bond: Bond) -> Self {
        Self { kept: Some(Pooled::left(bond)) }
    }

    /// Whether there is anything.
    #[inline]
    pub(crate) fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Takes all of it.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Either<Bond, Rare>> {
        self.kept.take().map(Pooled::into_inner)
    }

    #[inline]
    pub(crate) fn rare(&mut self) -> &mut Rare {
        if self.seen().is_none() {
            self.enlarge();
        }
        match self.kept.as_mut().map(Pooled::get_mut) {
            Some(Either::Right(rare)) => rare,
            _ => unreachable!("it has just been made"),
        }
    }

    #[cold]
    fn enlarge(&mut self) {
        let mut rare = Rare::default();
        match self.take() {
            Some(Either::Left(Bond::Linked(id, link))) => rare.links.insert_new(id, link),
            Some(Either::Left(Bond::Watched(reference, peer))) => {
                rare.watchers.insert_new(reference, peer);
            }
            _ => {}
        }
        self.kept = Some(Pooled::right(rare));
    }

    #[inline]
    fn seen(&self) -> Option<&Rare> {
        match self.kept.as_ref()?.get() {
            Either::Left(_) => None,
            Either::Right(rare) => Some(rare),
        }
    }

    #[inline]
    fn seen_mut(&mut self) -> Option<&mut Rare> {
        match self.kept.as_mut()?.get_mut() {
            Either::Left(_) => None,
            Either::Right(rare) => Some(rare),
        }
    }

    #[inline]
    fn seen_rarer(&mut self) -> Option<&mut Rarer> {
        self.seen_mut()?.rarer.as_deref_mut()
    }

    /// Whether what is sent to that alias is received; one that is good for one message is not any
    /// more.
    pub(crate) fn answers_to(&mut self, alias: Reference) -> bool {
        let Some(rarer) = self.seen_rarer() else { return false };
        match rarer.aliases.get_mut(alias).copied() {
            Some(true) => rarer.aliases.remove(alias).is_some(),
            once => once.is_some(),
        }
    }

    /// Whether the process is to end.
    pub(crate) fn exiting(&self) -> bool {
        self.seen().is_some_and(|rare| rare.exit.is_some())
    }

    /// Why the process is to end, if it is. It stays so while destructors run (L7).
    #[inline]
    pub(crate) fn exit(&self) -> Option<ExitReason> {
        self.seen()?.exit.clone()
    }

    /// What the beginning of a turn has to know: whether a combinator waits for a message with a
    /// waker of its own, and whether the process has sent past a bound.
    #[inline]
    pub(crate) fn waits(&self) -> (bool, bool) {
        let suspended = |rarer: &Rarer| rarer.suspended.is_some();
        match self.seen() {
            None => (false, false),
            Some(rare) => (rare.mail.is_some(), rare.rarer.as_deref().is_some_and(suspended)),
        }
    }

    /// What follows it.
    pub(crate) fn followed(&mut self) -> Option<Arc<Book>> {
        self.seen_rarer()?.followed.clone()
    }

    /// That trace follows it no more, in its turn; what is to be dropped.
    pub(crate) fn unfollow(&mut self, book: &Arc<Book>) -> Option<Arc<Book>> {
        let before = self.seen_rarer()?.followed.take_if(|by| Arc::ptr_eq(by, book));
        if before.is_some() {
            trace(false);
        }
        before
    }

    /// What the end of a turn has to know: whether the process is to end, and whether a combinator
    /// waits for a message.
    #[inline]
    pub(crate) fn pause(&self) -> (Option<ExitReason>, bool) {
        match self.seen() {
            None => (None, false),
            Some(rare) => (rare.exit.clone(), rare.mail.is_some()),
        }
    }

    #[inline]
    pub(crate) fn take_mail(&mut self) -> Option<Waker> {
        self.seen_mut()?.mail.take()
    }

    /// How an exit signal becomes a message, if it does (L3, L4).
    #[inline]
    pub(crate) fn traps(&self, reason: &ExitReason, origin: Origin) -> Option<Erased> {
        let rare = self.seen()?;
        rare.trap.filter(|_| rare.exit.is_none() && !origin.kills(reason))
    }

    /// An exit signal has come that is not trapped (L3, L4). Says whether the process is to end, and
    /// hands back a reason that does not count.
    pub(crate) fn strike(
        &mut self,
        reason: ExitReason,
        origin: Origin,
    ) -> (bool, Option<ExitReason>) {
        let exit = &mut self.rare().exit;
        match exit {
            // Whoever stops the node says of a process that did not let go that it was killed.
            Some(_) if origin == Origin::Stop && origin.kills(&reason) => {
                (true, exit.replace(ExitReason::Killed))
            }
            // M2, L3: the first reason counts, also against a `kill` that comes after it.
            Some(_) => (true, Some(reason)),
            None if origin.kills(&reason) => (true, exit.replace(ExitReason::Killed)),
            None if matches!(reason, ExitReason::Normal) && origin != Origin::Itself => {
                (false, None)
            }
            None => (true, exit.replace(reason)),
        }
    }

    /// The process is to end with this reason, unless it is to end already; hands back the one that
    /// does not count.
    pub(crate) fn end(&mut self, reason: ExitReason) -> Option<ExitReason> {
        match &mut self.rare().exit {
            Some(_) => Some(reason),
            none => {
                *none = Some(reason);
                None
            }
        }
    }

    /// How an event of that monitor of a group becomes a message, if the monitor is there.
    pub(crate) fn watches_group(&mut self, monitor: Reference) -> Option<Erased> {
        self.seen_rarer()?.groups.get_mut(monitor).copied()
    }

    /// Somebody waits for the end of the process.
    pub(crate) fn tell_at_end(&mut self, watch: Arc<Watch>) {
        let watches = &mut self.rare().rarer().at_end;
        if watches.len() == watches.capacity() {
            // Those who have given up hold theirs no longer.
            watches.retain(|watch| Arc::strong_count(watch) > 1);
            // WHY room for as many again: the next look at all of them is as far off as they are many.
            watches.reserve(watches.len() + 1);
        }
        watches.push(watch);
    }

    /// What can be told of it. Looking makes nothing larger.
    pub(crate) fn describe(&self) -> ProcessDetails {
        let rare = match self.kept.as_ref().map(Pooled::get) {
            None => return ProcessDetails::default(),
            Some(Either::Left(Bond::Linked(id, _))) => {
                return ProcessDetails { links: vec![*id], ..ProcessDetails::default() };
            }
            Some(Either::Left(Bond::Watched(_, peer))) => {
                let monitored_by = vec![ProcessId::of(peer)];
                return ProcessDetails { monitored_by, ..ProcessDetails::default() };
            }
            Some(Either::Right(rare)) => rare,
        };
        let mut details = ProcessDetails {
            traps_exits: rare.trap.is_some(),
            reported_memory: rare.rarer.as_ref().map_or(0, |rarer| rarer.memory),
            ..ProcessDetails::default()
        };
        rare.links.each(|id, link| details.links.extend(link.is_up().then_some(id)));
        rare.monitors.each(|_, monitoring| details.monitors.push(monitoring.of()));
        rare.watchers.each(|_, peer| details.monitored_by.push(ProcessId::of(peer)));
        details
    }
}

/// Where an exit signal comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A linked process has ended.
    Link,
    /// The process itself asked for it.
    Itself,
    /// Another process did, or a thread that is none.
    Other,
    /// The node did, which is stopping.
    Stop,
}

impl Origin {
    /// Whether such a signal cannot be trapped (L4); a link that breaks can, whatever the reason.
    fn kills(self, reason: &ExitReason) -> bool {
        self != Self::Link && matches!(reason, ExitReason::Kill)
    }
}
