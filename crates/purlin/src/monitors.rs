//! Monitors: being told, once, that a process has ended (D1 to D5).
//!
//! Who monitors keeps an entry under the monitor's reference, and sends [`Signal::Monitor`] with it;
//! the monitored one keeps it too, and sends [`Signal::Down`] at its end. A down signal whose entry is
//! not there any more is ignored, so none is seen after a demonitor, and none twice. A monitor that
//! finds the process ended or ending is answered with `noproc` by whoever holds it then: the ending
//! process, or the sender.

use std::fmt;
use std::future::Future;

use purlin_raw::{Erased, Sealed};

use crate::home::here;
use crate::local::{Bond, Local, OfDown};
use crate::names::Name;
use crate::options::SpawnOptions;
use crate::process_ref::ToProcess;
use crate::reference::Reference;
use crate::signal::{Peer, Signal, tell};
use crate::spawn::{spawn_here, spawn_on};
use crate::{ExitReason, Outcome, Pid, Process, ProcessId, SpawnError};

/// A monitor: Erlang's reference of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorRef(Reference);

/// A monitored process has ended: Erlang's `{'DOWN', Ref, process, Object, Reason}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Down {
    /// Which monitor has fired.
    pub monitor: MonitorRef,
    /// Who has ended, as it was given to the monitor.
    pub process: Monitored,
    /// Why; `noproc` if it had ended before.
    pub reason: ExitReason,
}

/// Whom a monitor watches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Monitored {
    /// That process.
    Process(ProcessId),
    /// The process that had that name when it was monitored (D5).
    Name(Name),
}

/// The watching end of a monitor. WHY so: as a rule it is one word, and is moved often.
#[derive(Debug)]
pub(crate) enum Monitoring {
    /// Of that process.
    Of(Peer),
    /// Of one that had that name, or that was gone from the start; and the process, if there was one.
    As(Box<(Monitored, Option<Peer>)>),
}

impl Monitoring {
    /// Whom it watches.
    #[inline]
    pub(crate) fn of(&self) -> Monitored {
        match self {
            Self::Of(peer) => Monitored::Process(ProcessId::of(peer)),
            Self::As(given) => given.0.clone(),
        }
    }

    fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Of(peer) => Some(peer),
            Self::As(given) => given.1.as_ref(),
        }
    }

    /// The process that watches has ended, or has had enough.
    pub(crate) fn over(&self, reference: Reference) {
        if let Some(peer) = self.peer() {
            tell(peer, Signal::Demonitor(reference));
        }
    }
}

impl MonitorRef {
    /// It as a number, by which another node may know it.
    pub fn number(self) -> u64 {
        self.0.number()
    }

    /// Out of what [`MonitorRef::number`] gave.
    pub fn from_number(number: u64) -> Self {
        Self(Reference::from_number(number))
    }

    pub(crate) fn into_inner(self) -> Reference {
        self.0
    }
}

/// A [`Down`] in a message.
fn sealed<M: From<Down>>(
    reference: Reference,
    monitoring: Monitoring,
    reason: ExitReason,
) -> Sealed<M> {
    let down = Down { monitor: MonitorRef(reference), process: monitoring.of(), reason };
    Sealed::new(M::from(down), reference.number())
}

impl fmt::Display for MonitorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for MonitorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<M: Send + 'static> Process<M> {
    /// Monitors a process: when it ends, one [`Down`] comes, with the reason (D1). What the process
    /// sent before comes before (D4).
    ///
    /// There may be many monitors of one process, and each fires. If it has ended already, or is
    /// ending, the reason is `noproc` (D2). Monitoring oneself does nothing.
    ///
    /// The message is made by `M::from` where the signal stands among the messages.
    ///
    /// ```
    /// # use purlin::{Down, ExitReason, Process, spawn};
    /// enum Msg { Down(Down) }
    /// impl From<Down> for Msg {
    ///     fn from(down: Down) -> Self { Msg::Down(down) }
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     let other = spawn(async |_: Process<()>| ());
    ///     let monitor = me.monitor(&other);
    ///     let Msg::Down(down) = me.receive().await;
    ///     assert_eq!(down.monitor, monitor);
    ///     // It may have ended before it was monitored.
    ///     assert!(matches!(down.reason, ExitReason::Normal | ExitReason::NoProcess));
    /// }
    /// ```
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    ///
    /// COST: one signal there and one back; the first link, monitor or alias of a process allocates
    /// what keeps them.
    #[track_caller]
    pub fn monitor(&self, process: impl ToProcess) -> MonitorRef
    where
        M: From<Down>,
    {
        self.begin_monitor(match process.find().0 {
            Some(peer) => Monitoring::Of(peer),
            None => Monitoring::As(Box::new((Monitored::Process(process.id()), None))),
        })
    }

    /// Monitors the process that has that name now (D5). The [`Down`] reports the name. If nobody has
    /// it, the reason is `noproc`.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn monitor_name(&self, name: &str) -> MonitorRef
    where
        M: From<Down>,
    {
        let peer = here(|here| here.realm.home().names.find(name)).flatten();
        let name = Monitored::Name(Name::from(name));
        self.begin_monitor(Monitoring::As(Box::new((name, peer))))
    }

    #[track_caller]
    fn begin_monitor(&self, monitoring: Monitoring) -> MonitorRef
    where
        M: From<Down>,
    {
        let reference = self.reference();
        let peer = monitoring.peer().cloned();
        if peer.as_ref().is_some_and(Peer::is_current) {
            return MonitorRef(reference);
        }
        self.keep_monitor(reference, monitoring);
        let watch = |peer: Peer| peer.signal(Signal::Monitor { reference, watcher: self.peer() });
        if peer.is_none_or(|peer| watch(peer).is_err()) {
            self.tell_itself(Signal::Down { reference, reason: ExitReason::NoProcess });
        }
        MonitorRef(reference)
    }

    fn keep_monitor(&self, reference: Reference, monitoring: Monitoring)
    where
        M: From<Down>,
    {
        self.keep(|local| {
            let rare = local.rare();
            rare.down = Some(Erased::new::<OfDown<M>>(sealed));
            rare.monitors.insert_new(reference, monitoring);
        });
    }

    /// Takes a monitor back; says whether it was there, and had not fired. A [`Down`] that is in the
    /// mailbox already stays there.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn demonitor(&self, monitor: MonitorRef) -> bool {
        let monitoring = self.keep(|local| local.rare().monitors.remove(monitor.0));
        monitoring.map(|monitoring| monitoring.over(monitor.0)).is_some()
    }

    /// [`Process::demonitor`], and takes the [`Down`] of that monitor out of the mailbox if it is
    /// there: after this none is seen (D3).
    ///
    /// COST: if the monitor has fired, a look at each message that waits.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn demonitor_flush(&self, monitor: MonitorRef) -> bool {
        let was_there = self.demonitor(monitor);
        if !was_there {
            let fired = self.owner().withdraw(monitor.0.number());
            drop(fired.unwrap_or_else(|_| self.not_here()));
        }
        was_there
    }

    /// Spawns a process and monitors it from its beginning (L8).
    ///
    /// If none can be spawned, the [`Down`] has the reason `system_limit`.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    ///
    /// COST: as [`spawn()`](crate::spawn()), and what keeps the monitor, in both.
    #[track_caller]
    pub fn spawn_monitor<N, F, Fut>(&self, function: F) -> (Pid<N>, MonitorRef)
    where
        M: From<Down>,
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (reference, local) = self.monitored_child();
        let pid = spawn_here(|realm, parent| spawn_on(realm, parent, local, function));
        self.monitor_child(reference, &pid);
        if let Some(ExitReason::SystemLimit) = pid.exit_reason() {
            self.tell_itself(Signal::Down { reference, reason: ExitReason::SystemLimit });
        }
        (pid, MonitorRef(reference))
    }

    /// [`Process::spawn_monitor`] with options.
    ///
    /// # Errors
    /// As [`spawn_opt`](crate::spawn_opt()); then nothing is monitored, and no [`Down`] comes.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn spawn_monitor_opt<N, F, Fut>(
        &self,
        options: SpawnOptions,
        function: F,
    ) -> Result<(Pid<N>, MonitorRef), SpawnError<F>>
    where
        M: From<Down>,
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (reference, local) = self.monitored_child();
        let pid = spawn_here(|realm, parent| options.spawn(realm, parent, local, function))?;
        self.monitor_child(reference, &pid);
        Ok((pid, MonitorRef(reference)))
    }

    /// A new monitor, and what a child keeps that this process monitors from its beginning.
    #[track_caller]
    fn monitored_child(&self) -> (Reference, Local) {
        self.demand_here();
        let reference = self.reference();
        let local = Local::bound(Bond::Watched(reference, self.peer()));
        (reference, local)
    }

    fn monitor_child<N: Send + 'static>(&self, reference: Reference, pid: &Pid<N>)
    where
        M: From<Down>,
    {
        self.keep_monitor(reference, Monitoring::Of(pid.address().clone().untyped()));
    }
}
