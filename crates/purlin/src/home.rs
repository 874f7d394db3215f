//! What all processes of a node share, and what each keeps: the fillings of [`World`].

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::Instant;

use purlin_raw::{Realm, ReplyTo, Slot, World, quietly};
use purlin_sched::TimerWheel;
use tokio::sync::watch;

use crate::node::Inner;
use crate::{ExitReason, ProcessId, StopReport};

/// The world of Erlang's processes.
pub(crate) struct Erlang;

/// Wakes, whatever the waker does: it may be anybody's.
pub(crate) fn wake(waker: Waker) {
    quietly(|| waker.wake());
}

/// A place where a future waits for the end of a process.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Option<Waker>>);

impl Watch {
    /// Whom to wake; `None` when the future has given up.
    pub(crate) fn set(&self, waker: Option<Waker>) {
        let before = std::mem::replace(&mut *self.lock(), waker);
        quietly(|| drop(before));
    }

    fn tell(&self) {
        let waker = self.lock().take();
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        // WHY: nobody panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What travels beside messages, in order with them.
#[derive(Debug)]
pub(crate) enum Signal {
    /// End with this reason, at the next await.
    Exit(ExitReason),
    /// Tell whoever watches when the process has ended.
    TellAtEnd(Arc<Watch>),
    /// Answer if the process still lives; dropped unanswered if it has ended.
    StillThere(ReplyTo<()>),
}

/// What a process keeps for itself.
#[derive(Default)]
pub(crate) struct Local {
    /// What few processes need; nothing until then.
    rare: Option<Box<Rare>>,
}

/// What few processes need.
#[derive(Default)]
pub(crate) struct Rare {
    /// The process is to end.
    pub(crate) exit: Option<ExitReason>,
    /// Whom to wake when a message comes, if a combinator waits with a waker of its own.
    pub(crate) mail: Option<Waker>,
    /// Who waits for the end of the process.
    pub(crate) at_end: Vec<Arc<Watch>>,
}

impl Local {
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Whether the process is to end.
    pub(crate) fn exiting(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.exit.is_some())
    }

    #[inline]
    pub(crate) fn take_exit(&mut self) -> Option<ExitReason> {
        self.rare.as_mut()?.exit.take()
    }

    /// Whether a combinator waits for a message with a waker of its own.
    #[inline]
    pub(crate) fn waits_for_mail(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.mail.is_some())
    }

    /// What the end of a turn has to know: whether the process is to end, and whether a combinator
    /// waits for a message.
    #[inline]
    pub(crate) fn pause(&mut self) -> (Option<ExitReason>, bool) {
        match &mut self.rare {
            None => (None, false),
            Some(rare) => (rare.exit.take(), rare.mail.is_some()),
        }
    }

    /// The process is to end; hands back the reason that does not count, which is the user's to drop.
    #[must_use]
    pub(crate) fn exit(&mut self, reason: ExitReason) -> Option<ExitReason> {
        let rare = self.rare();
        // The first reason counts, except that `kill` outdoes the others.
        if rare.exit.is_none() || reason == ExitReason::Killed {
            rare.exit.replace(reason)
        } else {
            Some(reason)
        }
    }

    /// Somebody waits for the end of the process.
    pub(crate) fn tell_at_end(&mut self, watch: Arc<Watch>) {
        let watches = &mut self.rare().at_end;
        if watches.len() == watches.capacity() {
            // Those who have given up hold theirs no longer.
            watches.retain(|watch| Arc::strong_count(watch) > 1);
        }
        watches.push(watch);
    }

    #[inline]
    pub(crate) fn take_mail(&mut self) -> Option<Waker> {
        self.rare.as_mut()?.mail.take()
    }
}

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
    /// The process whose turn this thread is in, of whatever node.
    pub(crate) fn current() -> Self {
        here(Here::parent).unwrap_or(Self { creation: 0, slot: None })
    }
}

/// How a process ended. WHY not the reason itself: nearly all end with `normal`, which this says
/// in a null word.
#[derive(Debug, Default)]
pub(crate) struct Last(Option<Box<ExitReason>>);

impl Last {
    #[inline]
    pub(crate) fn new(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self(None),
            reason => Self(Some(Box::new(reason))),
        }
    }

    #[inline]
    pub(crate) fn is_normal(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.as_deref().cloned().unwrap_or(ExitReason::Normal)
    }
}

/// What all processes of a node share.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) creation: u32,
    pub(crate) name: String,
    pub(crate) started: Instant,
    /// Messages to processes that had ended, or that were waiting when theirs did (M4, B3).
    pub(crate) dropped: AtomicU64,
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
            started: Instant::now(),
            dropped: AtomicU64::new(0),
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
        local.rare.is_some()
    }

    fn closed(home: &Home, _shared: &Shared, local: &mut Local, dropped: usize) {
        if dropped > 0 {
            home.dropped.fetch_add(dropped as u64, Ordering::Relaxed);
        }
        if let Some(rare) = local.rare.take() {
            let Rare { mail, at_end, .. } = *rare;
            quietly(|| drop(mail));
            at_end.iter().for_each(|watch| watch.tell());
        }
    }

    fn undelivered(_home: &Home, signal: Signal) {
        match signal {
            Signal::Exit(_) => {}
            Signal::TellAtEnd(watch) => watch.tell(),
            Signal::StillThere(asker) => drop(asker),
        }
    }
}

/// What a thread that runs processes knows of its node.
pub(crate) struct Here {
    pub(crate) realm: Realm<Erlang>,
    pub(crate) node: Weak<Inner>,
    /// The timers of this worker.
    pub(crate) timers: TimerWheel,
    /// The thread is there for turns that may block; it is none of the workers.
    pub(crate) blocking: bool,
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

/// Runs `f` on the node whose processes this thread runs.
#[inline]
pub(crate) fn here<R>(f: impl FnOnce(&Here) -> R) -> Option<R> {
    // WHY: a thread for what may block is a node's only while it runs a process; in between it may
    // be anybody's.
    let ours = |here: &&Here| !here.blocking || purlin_raw::in_process();
    HERE.try_with(|here| here.get().filter(ours).map(f)).ok().flatten()
}

/// Whether this thread is a worker, so that blocking it would hold up processes.
pub(crate) fn is_worker() -> bool {
    here(|here| !here.blocking).unwrap_or(false)
}
