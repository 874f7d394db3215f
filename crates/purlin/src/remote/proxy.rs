//! Proxy of a remote process: passes what arrives in its inbox to its transport, in order.
//!
//! If only messages have arrived, they go from the inbox to the transport one by one, as the transport has capacity.
//! If signals are among them, everything up to the last signal first moves to an arrival queue. Otherwise signals would
//! be handled when they are taken out of the inbox, ahead of the messages sent before them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::mem::replace;
use std::sync::Arc;
use std::task::{Context, Poll};

use purlin_raw::{
    Bound, Code, InTurn, MaybeBound, Overflow, SignalOutcome, poll_again, spend_budget_on_receive,
};

use super::{LocalProcess, RemoteSignal, Transport};
use crate::node::context::{is_stopping, with_context};
use crate::node::erlang_types::ErlangTypes;
use crate::process::crash_report::report;
use crate::process::exit_status::ExitStatus;
use crate::process::shared::Parent;
use crate::process::spawn::try_spawn_on;
use crate::process::unwind::{catch, contain};
use crate::signals::end::answer_as_ended;
use crate::signals::local_state::LocalState;
use crate::signals::signal::{Signal, send_signal};
use crate::{ExitReason, MonitorRef, Node, Pid, ProcessId, SpawnError};

/// An item of the arrival queue.
enum Arrived<M> {
    Message(M),
    Signal(Signal),
}

impl<M> Arrived<M> {
    /// Returns whether the transport must be ready for the item: a message or a request. Other signals only answer or
    /// end one.
    fn asks(&self) -> bool {
        let Self::Signal(signal) = self else { return true };
        matches!(signal, Signal::Link(_) | Signal::Monitor { .. } | Signal::Exit { .. })
    }
}

/// Body of a proxy, with `E` as the bound of its mailbox.
struct Proxy<M, C, E> {
    /// `None` once the proxy has ended.
    transport: Option<C>,
    /// Arrival queue: what arrived before the contents of the mailbox, in arrival order.
    arrivals: VecDeque<Arrived<M>>,
    begun: bool,
    /// Exit reason of the node's stop, once the node stops.
    stops: Option<ExitReason>,
    bound: PhantomData<fn() -> E>,
}

impl<M, C, E> purlin_raw::Body<ErlangTypes, M> for Proxy<M, C, E>
where
    M: Send + 'static,
    C: Transport<M>,
    E: MaybeBound,
{
    type Bound = E;
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, ErlangTypes, M>,
        cx: &mut Context<'_>,
    ) -> Poll<ExitStatus> {
        let Some(this) = code.start() else { return Poll::Pending };
        let carried = catch(|| this.carry(me, cx));
        let reason = match carried {
            Ok(Poll::Pending) => {
                if E::BOUNDED {
                    me.mailbox().release_waiters();
                }
                return Poll::Pending;
            }
            Ok(Poll::Ready(reason)) | Err(reason) => reason,
        };
        report(&me, &reason, Self::name());
        this.end(ProcessId::of(&me));
        Poll::Ready(ExitStatus::new(reason))
    }

    fn name() -> &'static str {
        std::any::type_name::<C>()
    }
}

impl<M: Send + 'static, C: Transport<M>, E> Proxy<M, C, E> {
    fn new(transport: C) -> Self {
        Self {
            transport: Some(transport),
            arrivals: VecDeque::new(),
            begun: false,
            stops: None,
            bound: PhantomData,
        }
    }

    /// Passes on what the transport accepts. Returns `Ready` with the exit reason when the proxy is to end.
    fn carry(&mut self, me: InTurn<'_, ErlangTypes, M>, cx: &mut Context<'_>) -> Poll<ExitReason> {
        let Some(transport) = &mut self.transport else {
            return Poll::Ready(ExitReason::Normal);
        };
        let mailbox = me.mailbox();
        if !replace(&mut self.begun, true) {
            transport.begin(&LocalProcess(me.address().untyped()));
        }
        if let Poll::Ready(reason) = transport.poll_end(cx) {
            return Poll::Ready(reason);
        }
        // The wake-up that started this turn counts as handled.
        if mailbox.has_signals() {
            fetch(me, &mut self.arrivals, &mut self.stops, true);
        }
        loop {
            let arrived = match self.arrivals.pop_front() {
                Some(arrived) => arrived,
                // WHY not through the arrival queue: as a rule only messages have arrived.
                None => match mailbox.receive_fetched() {
                    Some(message) => Arrived::Message(message),
                    None if mailbox.has_arrivals() => {
                        fetch(me, &mut self.arrivals, &mut self.stops, false);
                        continue;
                    }
                    None => {
                        if let Some(reason) = self.stops.take() {
                            return Poll::Ready(reason);
                        }
                        if let Poll::Ready(reason) = transport.poll_end(cx) {
                            return Poll::Ready(reason);
                        }
                        mailbox.listen();
                        return Poll::Pending;
                    }
                },
            };
            // L4: a `kill` does not wait for the remaining items.
            let killed = matches!(self.stops, Some(ExitReason::Kill));
            if killed || arrived.asks() && transport.poll_ready(cx).is_pending() {
                self.arrivals.push_front(arrived);
                return if killed { Poll::Ready(ExitReason::Killed) } else { Poll::Pending };
            }
            match arrived {
                Arrived::Message(message) => transport.message(message),
                Arrived::Signal(signal) => pass(transport, signal),
            }
            if !spend_budget_on_receive() {
                poll_again(cx.waker());
                return Poll::Pending;
            }
        }
    }

    /// Ends the proxy. Remaining items are not forwarded: messages are dropped and counted, signals are answered as by
    /// an ended process.
    fn end(&mut self, me: ProcessId) {
        let mut dropped = 0;
        for arrived in self.arrivals.drain(..) {
            match arrived {
                Arrived::Message(message) => {
                    dropped += 1;
                    contain(|| drop(message));
                }
                Arrived::Signal(signal) => answer_as_ended(me, signal),
            }
        }
        with_context(|here| here.node_core.state().dropped.ended(dropped));
        // WHY: here, because a panic in the drop of the body would abort the program.
        let rest = (self.transport.take(), self.stops.take());
        contain(|| drop(rest));
    }
}

/// Takes out what has arrived. If only messages have arrived, they go to the mailbox; otherwise everything up to the
/// last signal goes to the arrival queue.
fn fetch<M: Send + 'static>(
    me: InTurn<'_, ErlangTypes, M>,
    arrivals: &mut VecDeque<Arrived<M>>,
    stops: &mut Option<ExitReason>,
    beginning: bool,
) {
    let mailbox = me.mailbox();
    mailbox.fetch(beginning, |signal| {
        while let Some(message) = mailbox.receive_fetched() {
            arrivals.push_back(Arrived::Message(message));
        }
        match signal {
            Signal::WatchEnd(watch) => {
                me.local(|local| local.watch_end(watch));
            }
            Signal::Named => {
                me.local(|local| local.extended().named = true);
            }
            Signal::StillThere(asker) => {
                // The asker may have given up and dropped the receiver; the same holds below.
                let _ = asker.send(());
            }
            Signal::Describe(asker) => {
                let _ = asker.send(me.read_local(LocalState::describe));
            }
            Signal::Message(message) => {
                let Ok(message) = message.downcast::<M>() else {
                    unreachable!("a mailbox has one type")
                };
                arrivals.push_back(Arrived::Message(*message));
            }
            Signal::Aliased { message, .. } => {
                // A proxy creates no aliases, so this one is unknown here.
                with_context(|here| here.node_core.state().dropped.alias());
                contain(|| drop(message));
            }
            Signal::Group(_, event) => drop(event),
            // Another proxy is linked to this one, by a remote process.
            Signal::LinkLost { from, id } => {
                let peer = ProcessId::of(&from);
                send_signal(&from, Signal::UnlinkAck { from: ProcessId::of(&me), id });
                let lost = Signal::LinkExit { from: peer, reason: ExitReason::NoConnection };
                arrivals.push_back(Arrived::Signal(lost));
            }
            // E1: the stop of the proxy's own node is not forwarded to the remote process.
            Signal::Exit { from: None, reason } if is_stopping() => *stops = Some(reason),
            signal => arrivals.push_back(Arrived::Signal(signal)),
        }
        SignalOutcome::Nothing
    });
}

/// Passes a signal to the transport.
fn pass<M>(transport: &mut impl Transport<M>, signal: Signal) {
    let (from, signal) = match signal {
        Signal::Exit { from, reason } => (from, RemoteSignal::Exit(reason)),
        Signal::LinkExit { from, reason } => (Some(from), RemoteSignal::LinkExit(reason)),
        Signal::Link(peer) => (Some(ProcessId::of(&peer)), RemoteSignal::Link),
        Signal::Unlink { from, id } => (Some(ProcessId::of(&from)), RemoteSignal::Unlink(id)),
        Signal::UnlinkAck { from, id } => (Some(from), RemoteSignal::UnlinkAck(id)),
        Signal::Monitor { reference, watcher } => {
            let monitor = MonitorRef::from_number(reference.number());
            (Some(ProcessId::of(&watcher)), RemoteSignal::Monitor(monitor))
        }
        Signal::Demonitor(reference) => {
            (None, RemoteSignal::Demonitor(MonitorRef::from_number(reference.number())))
        }
        Signal::Down { reference, reason } => {
            (None, RemoteSignal::Down(MonitorRef::from_number(reference.number()), reason))
        }
        // A proxy has no aliases.
        Signal::AliasExit { .. } => return,
        answered => unreachable!("{answered:?} was answered when it was taken out"),
    };
    transport.signal(from, signal);
}

impl Node {
    /// Spawns a proxy whose mailbox holds `bound` messages, 1 to 4,294,967,295, in addition to the one that its
    /// transport has no capacity for. A sender that exceeds the bound waits at its next await (B1).
    ///
    /// # Errors
    /// Returns [`SpawnError`] with the transport in it.
    ///
    /// COST: as [`spawn()`](crate::spawn()), plus 144 bytes for the bound.
    pub fn spawn_proxy<M, C>(&self, bound: usize, transport: C) -> Result<Pid<M>, SpawnError<C>>
    where
        M: Send + 'static,
        C: Transport<M>,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(transport));
        };
        let dropped = Arc::clone(&self.node_state().dropped.at_bound);
        let Some(bound) = Bound::new(bound, Overflow::Wait, dropped) else {
            return Err(SpawnError::BadBound(transport));
        };
        // WHY the handle is dropped: a proxy has no process function that would use it.
        let make = |transport, _owner| Proxy::<M, C, Bound>::new(transport);
        let (parent, local) = (Parent::ELSEWHERE, LocalState::default());
        try_spawn_on(self.node_core(), parent, local, bound, transport, make)
    }

    /// Spawns the local endpoint of a connection, which represents no remote process. It receives only signals, and
    /// when the node stops it ends after all proxies.
    ///
    /// # Errors
    /// Returns [`SpawnError`] with the transport in it.
    ///
    /// COST: as [`spawn()`](crate::spawn()).
    pub fn spawn_agent<C>(&self, transport: C) -> Result<LocalProcess, SpawnError<C>>
    where
        C: Transport<Infallible>,
    {
        let Some(_spawning) = self.begin_spawn() else {
            return Err(SpawnError::Stopping(transport));
        };
        let make = |transport, _owner| Proxy::<Infallible, C, ()>::new(transport);
        let (parent, local) = (Parent::NODE, LocalState::default());
        try_spawn_on(self.node_core(), parent, local, (), transport, make)
            .map(|agent| LocalProcess::from(&agent))
    }
}
