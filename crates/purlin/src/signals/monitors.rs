//! Monitors (D1 to D5).
//!
//! The watcher keeps an entry under the monitor's reference and sends it with [`Signal::Monitor`].
//! The monitored process keeps it too, and sends [`Signal::Down`] when it ends. A down signal whose
//! entry no longer exists is ignored, so none is received after a demonitor, and none twice. A
//! monitor that finds the process ended or ending is answered with `noproc` by the holder of the
//! signal: the ending process, or the sender.

use std::future::Future;

use purlin_raw::{ConvertedMessage, Erased};

use crate::node::context::with_context;
use crate::node::erlang_types::Peer;
use crate::process::body::Body;
use crate::process::process_ref::ToProcess;
use crate::process::spawn::{ended_placeholder, spawn_here, try_spawn_on};
use crate::signals::conversion::ReceivesDown;
use crate::signals::local_state::{InitialState, LocalState, OfDown};
use crate::signals::monitor_link::Monitoring;
use crate::signals::reference::Reference;
use crate::signals::signal::Signal;
use crate::{Down, ExitReason, MonitorRef, Monitored, Name, Outcome, Pid, Process};

/// Seals a [`Down`] into a message.
fn sealed<M: From<Down>>(
    reference: Reference,
    monitoring: Monitoring,
    reason: ExitReason,
) -> ConvertedMessage<M> {
    let down = Down { monitor: MonitorRef(reference), process: monitoring.of(), reason };
    ConvertedMessage::new(M::from(down), reference.number())
}

impl<M: Send + 'static> Process<M> {
    /// Monitors a process: when it ends, this process receives one [`Down`] with the reason (D1).
    /// All that the monitored process sent before arrives first (D4).
    ///
    /// A process may be monitored several times, and each monitor fires. If the process has ended
    /// or is ending, the reason is `noproc` (D2). If a process monitors itself, nothing happens.
    ///
    /// `M::from` creates the message, at the signal's position among the messages.
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
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: one signal in each direction; the first link, monitor or alias of a process allocates
    /// its extended state.
    #[track_caller]
    pub fn monitor(&self, process: impl ToProcess) -> MonitorRef
    where
        M: ReceivesDown,
    {
        self.monitor_with(self.reference(), process)
    }

    /// [`Process::monitor`] with a given new reference.
    #[track_caller]
    pub(crate) fn monitor_with(&self, reference: Reference, process: impl ToProcess) -> MonitorRef
    where
        M: ReceivesDown,
    {
        let monitoring = match process.find().0 {
            Some(peer) => Monitoring::Of(peer),
            None => Monitoring::As(Box::new((Monitored::Process(process.id()), None))),
        };
        self.begin_monitor(reference, monitoring)
    }

    /// Monitors the process that has this name now (D5). The [`Down`] reports the name. If no
    /// process has the name, the reason is `noproc`.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn monitor_name(&self, name: &str) -> MonitorRef
    where
        M: ReceivesDown,
    {
        let peer = with_context(|here| here.node_core.state().names.find(name)).flatten();
        let name = Monitored::Name(Name::from(name));
        self.begin_monitor(self.reference(), Monitoring::As(Box::new((name, peer))))
    }

    #[track_caller]
    fn begin_monitor(&self, reference: Reference, monitoring: Monitoring) -> MonitorRef
    where
        M: From<Down>,
    {
        let peer = monitoring.peer().cloned();
        if peer.as_ref().is_some_and(Peer::is_current) {
            return MonitorRef(reference);
        }
        self.keep_monitor(reference, monitoring);
        let watch = |peer: Peer| peer.signal(Signal::Monitor { reference, watcher: self.peer() });
        if peer.is_none_or(|peer| watch(peer).is_err()) {
            self.signal_self(Signal::Down { reference, reason: ExitReason::NoProcess });
        }
        MonitorRef(reference)
    }

    #[track_caller]
    fn keep_monitor(&self, reference: Reference, monitoring: Monitoring)
    where
        M: From<Down>,
    {
        self.with_local(|local| {
            let extended = local.extended();
            extended.down = Some(Erased::new::<OfDown<M>>(sealed));
            extended.monitors.insert_new(reference, monitoring);
        });
    }

    /// Makes the [`Down`] of a monitor a priority message (M6). Returns whether the monitor exists
    /// and has not fired. Erlang's option `priority` of `monitor/3`: called before the next await, it
    /// has the same effect.
    ///
    /// ```
    /// # use purlin::{Down, Message, Process};
    /// #[derive(Message)]
    /// enum Msg { Job(u32), #[from] Down(Down) }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     let (worker, monitor) = me.spawn_monitor(async |_: Process<()>| ());
    ///     assert!(me.prioritize(monitor));
    ///     me.pid().send(Msg::Job(1));
    ///     worker.ended().await;
    ///     assert!(matches!(me.receive().await, Msg::Down(_)));
    ///     assert!(matches!(me.receive().await, Msg::Job(1)));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn prioritize(&self, monitor: MonitorRef) -> bool {
        self.with_local(|local| {
            let monitors = &mut local.extended().monitors;
            let Some(monitoring) = monitors.remove(monitor.0) else { return false };
            monitors.insert_new(monitor.0, monitoring.with_priority());
            true
        })
    }

    /// Removes a monitor. Returns whether it existed and had not fired. A [`Down`] that is already
    /// in the mailbox stays there.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn demonitor(&self, monitor: MonitorRef) -> bool {
        let monitoring = self.with_local(|local| local.extended().monitors.remove(monitor.0));
        monitoring.map(|monitoring| monitoring.over(monitor.0)).is_some()
    }

    /// [`Process::demonitor`] with flush: also removes the [`Down`] of the monitor from the
    /// mailbox, so that none is received afterwards (D3).
    ///
    /// COST: if the monitor has fired, a scan of the waiting messages.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn demonitor_flush(&self, monitor: MonitorRef) -> bool {
        let was_there = self.demonitor(monitor);
        if !was_there {
            drop(self.in_turn(|me| me.mailbox().withdraw(monitor.0.number())));
        }
        was_there
    }

    /// Spawns a process and monitors it, in one step (L8).
    /// [`SpawnOptions::monitor`](crate::SpawnOptions::monitor) does so with options.
    ///
    /// If the spawn fails, the [`Down`] has the reason `system_limit`.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: as [`spawn()`](crate::spawn()), and the monitor's entry in both processes.
    #[track_caller]
    pub fn spawn_monitor<N, F, Fut>(&self, function: F) -> (Pid<N>, MonitorRef)
    where
        M: ReceivesDown,
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let (reference, local) = self.monitored_child();
        let pid = spawn_here(|node_core, parent| {
            try_spawn_on(node_core, parent, local, (), function, Body::new)
                .unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
        });
        self.monitor_child(reference, &pid);
        if let Some(ExitReason::SystemLimit) = pid.exit_reason() {
            self.signal_self(Signal::Down { reference, reason: ExitReason::SystemLimit });
        }
        (pid, MonitorRef(reference))
    }

    /// Returns a new reference and the initial private state of a child that this process monitors.
    #[track_caller]
    pub(crate) fn monitored_child(&self) -> (Reference, LocalState) {
        self.assert_in_turn();
        let reference = self.reference();
        let local = LocalState::with_initial(InitialState::Watched(reference, self.peer()));
        (reference, local)
    }

    /// Adds the monitor of a child that was spawned with the state of
    /// [`Process::monitored_child`].
    pub(crate) fn monitor_child<N: Send + 'static>(&self, reference: Reference, pid: &Pid<N>)
    where
        M: From<Down>,
    {
        self.keep_monitor(reference, Monitoring::Of(pid.address().clone().untyped()));
    }
}
