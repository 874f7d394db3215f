//! What all processes of a node share, and what each keeps: the fillings of [`World`].

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use purlin_raw::{Either, End, Realm, Slot, Spilled, Traveller, World, quietly};
use purlin_sched::TimerWheel;
use tokio::sync::watch;

use crate::application::Applications;
use crate::attached::Attached;
use crate::local::{Bond, Local};
use crate::names::Names;
use crate::node::Inner;
use crate::observe::Journal;
use crate::reference::Reference;
use crate::signal::{Signal, answer_as_ended, tell};
use crate::trace::hooks;
use crate::{ExitReason, ProcessId, StopReport};

/// The world of Erlang's processes.
pub(crate) struct Erlang;

/// What everybody may read of a process, also after its end.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The start of the node.
    pub(crate) creation: u32,
    /// The start of the node of whoever spawned it.
    parent_creation: u32,
    /// Who spawned it, if a process did.
    parent: Option<Slot>,
}

impl Shared {
    #[inline]
    pub(crate) fn new(creation: u32, parent: Parent) -> Self {
        Self { creation, parent_creation: parent.creation, parent: parent.slot }
    }

    /// Whether it is no process of a program's, but serves those ([`Parent::NODE`]).
    pub(crate) fn serves(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::NODE.creation || self.stands_in()
    }

    /// Whether it stands for a process elsewhere ([`Parent::ELSEWHERE`]).
    pub(crate) fn stands_in(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::ELSEWHERE.creation
    }

    /// Who spawned it, if a process did.
    pub(crate) fn parent(&self) -> Option<ProcessId> {
        self.parent.map(|slot| ProcessId::new(self.parent_creation, slot))
    }
}

/// Who spawns.
#[derive(Clone, Copy)]
pub(crate) struct Parent {
    creation: u32,
    slot: Option<Slot>,
}

impl Parent {
    /// The node itself, for what serves its processes; it ends after them, and after stand-ins.
    pub(crate) const NODE: Self = Self { creation: u32::MAX, slot: None };
    /// Another node, for what stands here for a process of it; it ends after the processes of this one.
    pub(crate) const ELSEWHERE: Self = Self { creation: u32::MAX - 1, slot: None };

    /// The process whose turn this thread is in, of whatever node.
    pub(crate) fn current() -> Self {
        here(Here::parent).unwrap_or(Self { creation: 0, slot: None })
    }

    /// Its id, if it is a process.
    pub(crate) fn id(self) -> Option<ProcessId> {
        self.slot.map(|slot| ProcessId::new(self.creation, slot))
    }
}

/// How a process ended. WHY not the reason itself: nearly all end with `normal`, which this says
/// in a null word.
#[derive(Debug, Default)]
pub(crate) struct Last(Option<Box<Reason>>);

/// A reason that is not `normal`.
#[derive(Debug)]
struct Reason(ExitReason);

impl Last {
    #[inline]
    pub(crate) fn new(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self(None),
            reason => Self(Some(Box::new(Reason(reason)))),
        }
    }

    #[inline]
    pub(crate) fn is_normal(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.as_ref().map_or(ExitReason::Normal, |reason| reason.0.clone())
    }
}

impl Drop for Reason {
    /// WHY quietly: a reason may hold an error of the user's, and goes with its cell, on whatever
    /// thread gives up the last reference.
    fn drop(&mut self) {
        let reason = std::mem::replace(&mut self.0, ExitReason::Normal);
        quietly(|| drop(reason));
    }
}

/// Messages that nobody received, by the reason (M4, B3).
#[derive(Debug, Default)]
pub(crate) struct Drops {
    /// The receiver had ended, or ended while they waited.
    pub(crate) ended: AtomicU64,
    /// The alias had been taken back.
    pub(crate) alias: AtomicU64,
    /// The mailbox was full.
    pub(crate) spilled: Arc<Spilled>,
}

impl Drops {
    pub(crate) fn ended(&self, messages: u64) {
        self.ended.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn alias(&self) {
        self.alias.fetch_add(1, Ordering::Relaxed);
    }
}

/// What all processes of a node share.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) creation: u32,
    pub(crate) name: String,
    /// Messages that nobody received.
    pub(crate) dropped: Drops,
    /// The names of its processes.
    pub(crate) names: Names,
    /// Its applications.
    pub(crate) applications: Applications,
    /// What ends with it.
    pub(crate) attached: Attached,
    /// What has gone wrong of late.
    pub(crate) journal: Journal,
    /// Batches of numbers for references that have been handed out.
    pub(crate) batches: AtomicU64,
    /// No process is begun any more.
    pub(crate) stopping: AtomicBool,
    /// Processes that are being spawned from outside just now.
    pub(crate) outside_spawns: AtomicUsize,
    /// Processes that were never started, which tells them apart.
    pub(crate) stillborn: AtomicU32,
    /// How the node stopped, once it has.
    pub(crate) stopped: watch::Sender<Option<StopReport>>,
}

impl Home {
    pub(crate) fn new(creation: u32, name: String) -> Self {
        Self {
            creation,
            name,
            dropped: Drops::default(),
            names: Names::default(),
            applications: Applications::default(),
            attached: Attached::default(),
            journal: Journal::default(),
            batches: AtomicU64::new(Reference::first_batch(creation)),
            stopping: AtomicBool::new(false),
            outside_spawns: AtomicUsize::new(0),
            stillborn: AtomicU32::new(0),
            stopped: watch::Sender::new(None),
        }
    }
}

impl World for Erlang {
    type Signal = Signal;
    type Local = Local;
    type Shared = Shared;
    type Last = Last;
    type Home = Home;

    #[inline]
    fn keeps(local: &Local) -> bool {
        local.keeps()
    }

    fn closed(home: &Home, end: &End<'_, Self>, local: &mut Local) {
        if end.dropped > 0 {
            home.dropped.ended(end.dropped as u64);
        }
        let me = ProcessId::new(end.shared.creation, end.slot);
        let last = end.last;
        let mut rare = match local.take() {
            None => return,
            Some(Either::Left(Bond::Linked(_, link))) => return link.ended(me, last),
            Some(Either::Left(Bond::Watched(reference, watcher))) => {
                return tell(&watcher, Signal::Down { reference, reason: last.reason() });
            }
            Some(Either::Right(rare)) => rare,
        };
        // N1: before anybody is told.
        if rare.named {
            home.names.release(end.slot);
        }
        rare.watchers.drain(|reference, watcher| {
            tell(&watcher, Signal::Down { reference, reason: last.reason() });
        });
        rare.links.drain(|_, link| link.ended(me, last));
        rare.monitors.drain(|reference, monitoring| monitoring.over(reference));
        if let Some(rarer) = &mut rare.rarer {
            if let Some(book) = rarer.followed.take() {
                hooks::ended(&book, me, last);
                // What it shows of messages is the user's.
                quietly(|| drop(book));
            }
            rarer.at_end.iter().for_each(|watch| watch.tell());
            rarer.late.drain(..).for_each(|signal| answer_as_ended(me, signal));
        }
        // What is left may be the user's: a waker.
        quietly(|| drop(rare));
    }

    fn sent(to: Slot, shared: &Shared, message_type: &'static str, what: Traveller<'_, Self>) {
        hooks::sent(to, shared, message_type, &what);
    }

    fn received(message_type: &'static str, message: Option<&dyn Any>) {
        hooks::received(message_type, message);
    }

    fn undelivered(home: &Home, local: &mut Local, signal: Signal) {
        match signal {
            Signal::Named => local.rare().named = true,
            Signal::Aliased { message, .. } => {
                home.dropped.alias();
                quietly(|| drop(message));
            }
            asks @ (Signal::Link(_)
            | Signal::Unlink { .. }
            | Signal::Monitor { .. }
            | Signal::TellAtEnd(_)) => local.rare().rarer().late.push(asks),
            unread => quietly(|| drop(unread)),
        }
    }
}

/// What a thread that runs processes knows of its node.
pub(crate) struct Here {
    pub(crate) realm: Realm<Erlang>,
    pub(crate) node: Weak<Inner>,
    /// The timers of this worker.
    pub(crate) timers: TimerWheel,
    /// The thread is a worker now. One for turns that may block never is; one that simulates is not
    /// while it runs what tokio has to do.
    pub(crate) worker: Cell<bool>,
    /// The next number for a reference.
    pub(crate) numbers: Cell<u64>,
}

impl Here {
    /// The process whose turn this thread is in: one of this node's, as the thread is its worker.
    #[inline]
    pub(crate) fn parent(&self) -> Parent {
        Parent { creation: self.realm.home().creation, slot: purlin_raw::current_slot() }
    }
}

thread_local! {
    static HERE: OnceCell<Here> = const { OnceCell::new() };
}

/// Makes this thread one of a node's, which it is for all its life.
pub(crate) fn settle(here: impl FnOnce() -> Here) {
    HERE.with(|cell| {
        cell.get_or_init(here);
    });
}

/// Has a thread that is settled be a worker while `f` runs.
pub(crate) fn work<R>(f: impl FnOnce() -> R) -> R {
    let set = |worker| HERE.with(|cell| cell.get().map(|here| here.worker.set(worker)));
    set(true);
    let result = f();
    set(false);
    result
}

/// Runs `f` on the node whose processes this thread runs.
#[inline]
pub(crate) fn here<R>(f: impl FnOnce(&Here) -> R) -> Option<R> {
    // WHY: a thread that is no worker is a node's only while it runs a process; in between it may be
    // anybody's.
    let ours = |here: &&Here| here.worker.get() || purlin_raw::in_process();
    HERE.try_with(|here| here.get().filter(ours).map(f)).ok().flatten()
}

/// Whether this thread is a worker, so that blocking it would hold up processes.
pub(crate) fn is_worker() -> bool {
    here(|here| here.worker.get()).unwrap_or(false)
}
