//! Proxy of a remote process: passes what arrives in its inbox to its carrier, in order.
//!
//! If only messages have arrived, they go from the inbox to the carrier one by one, as the carrier has capacity. If
//! signals are among them, everything up to the last signal first moves to an arrival queue. Otherwise signals would be
//! handled when they are taken out of the inbox, ahead of the messages sent before them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::mem::replace;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use purlin_raw::{Bounds, Edge, NotHere, Overflow, Owner, Turned, poll_again, quietly, spend};

use super::{Carrier, ForeignSignal, LocalProcess};
use crate::act::{id, is_stopping};
use crate::exit::catch;
use crate::home::{Erlang, Last, Parent, here};
use crate::local::Local;
use crate::signal::{Signal, answer_as_ended};
use crate::spawn::try_spawn_as;
use crate::{ExitReason, MonitorRef, Node, Pid, ProcessId, SpawnError, body};

/// An item of the arrival queue.
enum Arrived<M> {
    Message(M),
    Signal(Signal),
}

impl<M> Arrived<M> {
    /// Returns whether the carrier must be ready for the item: a message or a request. Other signals only answer or end
    /// one.
    fn asks(&self) -> bool {
        let Self::Signal(signal) = self else { return true };
        matches!(signal, Signal::Link(_) | Signal::Monitor { .. } | Signal::Exit { .. })
    }
}

/// Body of a proxy, with `E` as the bound of its mailbox.
struct StandIn<M, C, E> {
    /// `None` once the proxy has ended.
    carrier: Option<C>,
    /// Arrival queue: what arrived before the contents of the mailbox, in arrival order.
    line: VecDeque<Arrived<M>>,
    begun: bool,
    /// Exit reason of the node's stop, once the node stops.
    stops: Option<ExitReason>,
    edge: PhantomData<fn() -> E>,
}

// No field is pinned.
impl<M, C, E> Unpin for StandIn<M, C, E> {}

impl<M, C, E> purlin_raw::Body<Erlang, M> for StandIn<M, C, E>
where
    M: Send + 'static,
    C: Carrier<M>,
    E: Bounds,
{
    type Edge = E;

    fn turn(mut self: Pin<&mut Self>, me: &Owner<Erlang, M>, cx: &mut Context<'_>) -> Poll<Last> {
        let this = &mut *self;
        let carried = catch::panics(|| this.carry(me, cx));
        let reason = match carried {
            Ok(Ok(Poll::Pending)) => {
                if E::BOUNDED {
                    me.make_room();
                }
                return Poll::Pending;
            }
            Ok(Ok(Poll::Ready(reason))) | Err(reason) => reason,
            Ok(Err(NotHere)) => unreachable!("a turn runs on its own thread"),
        };
        body::report(me, &reason, Self::name());
        this.end(id(me));
        Poll::Ready(Last::new(reason))
    }

    fn name() -> &'static str {
        std::any::type_name::<C>()
    }
}

impl<M: Send + 'static, C: Carrier<M>, E> StandIn<M, C, E> {
    fn new(carrier: C) -> Self {
        let (line, edge) = (VecDeque::new(), PhantomData);
        Self { carrier: Some(carrier), line, begun: false, stops: None, edge }
    }

    /// Passes on what the carrier accepts. Returns `Ready` with the exit reason when the proxy is to end.
    fn carry(
        &mut self,
        me: &Owner<Erlang, M>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<ExitReason>, NotHere> {
        let Some(carrier) = &mut self.carrier else { return Ok(Poll::Ready(ExitReason::Normal)) };
        if !replace(&mut self.begun, true) {
            carrier.begin(&LocalProcess(me.address().untyped()));
        }
        if let Poll::Ready(reason) = carrier.poll_end(cx) {
            return Ok(Poll::Ready(reason));
        }
        // The wake-up that started this turn counts as handled.
        if me.has_signals() {
            fetch(me, &mut self.line, &mut self.stops, true)?;
        }
        loop {
            let arrived = match self.line.pop_front() {
                Some(arrived) => arrived,
                // WHY not through the arrival queue: as a rule only messages have arrived.
                None => match me.pop()? {
                    Some(message) => Arrived::Message(message),
                    None if me.has_news() => {
                        fetch(me, &mut self.line, &mut self.stops, false)?;
                        continue;
                    }
                    None => {
                        if let Some(reason) = self.stops.take() {
                            return Ok(Poll::Ready(reason));
                        }
                        if let Poll::Ready(reason) = carrier.poll_end(cx) {
                            return Ok(Poll::Ready(reason));
                        }
                        me.listen()?;
                        return Ok(Poll::Pending);
                    }
                },
            };
            // L4: a `kill` does not wait for the remaining items.
            let killed = matches!(self.stops, Some(ExitReason::Kill));
            if killed || arrived.asks() && carrier.poll_ready(cx).is_pending() {
                self.line.push_front(arrived);
                let poll = if killed { Poll::Ready(ExitReason::Killed) } else { Poll::Pending };
                return Ok(poll);
            }
            match arrived {
                Arrived::Message(message) => carrier.message(message),
                Arrived::Signal(signal) => pass(carrier, signal),
            }
            if !spend() {
                poll_again(cx.waker());
                return Ok(Poll::Pending);
            }
        }
    }

    /// Ends the proxy. Remaining items are not forwarded: messages are dropped and counted, signals are answered as by
    /// an ended process.
    fn end(&mut self, me: ProcessId) {
        let mut dropped = 0;
        for arrived in self.line.drain(..) {
            match arrived {
                Arrived::Message(message) => {
                    dropped += 1;
                    quietly(|| drop(message));
                }
                Arrived::Signal(signal) => answer_as_ended(me, signal),
            }
        }
        here(|here| here.realm.home().dropped.ended(dropped));
        let carrier = self.carrier.take();
        quietly(|| drop(carrier));
    }
}

/// Takes out what has arrived. If only messages have arrived, they go to the mailbox; otherwise everything up to the
/// last signal goes to the arrival queue.
fn fetch<M: Send + 'static>(
    me: &Owner<Erlang, M>,
    line: &mut VecDeque<Arrived<M>>,
    stops: &mut Option<ExitReason>,
    beginning: bool,
) -> Result<(), NotHere> {
    me.fetch(beginning, |signal| {
        while let Ok(Some(message)) = me.pop() {
            line.push_back(Arrived::Message(message));
        }
        match signal {
            Signal::TellAtEnd(watch) => {
                let _ = me.local(|local| local.tell_at_end(watch));
            }
            Signal::Named => {
                let _ = me.local(|local| local.rare().named = true);
            }
            Signal::StillThere(asker) => {
                // The asker may have given up and dropped the receiver; the same holds below.
                let _ = asker.send(());
            }
            Signal::Describe(asker) => {
                if let Ok(details) = me.local(|local| local.describe()) {
                    let _ = asker.send(details);
                }
            }
            Signal::Aliased { message, .. } => {
                // A proxy creates no aliases, so this one is unknown here.
                here(|here| here.realm.home().dropped.alias());
                quietly(|| drop(message));
            }
            Signal::Group(_, event) => drop(event),
            // E1: the stop of the proxy's own node is not forwarded to the remote process.
            Signal::Exit { from: None, reason } if is_stopping() => *stops = Some(reason),
            signal => line.push_back(Arrived::Signal(signal)),
        }
        Turned::Nothing
    })?;
    Ok(())
}

/// Passes a signal to the carrier.
fn pass<M>(carrier: &mut impl Carrier<M>, signal: Signal) {
    let (from, signal) = match signal {
        Signal::Exit { from, reason } => (from, ForeignSignal::Exit(reason)),
        Signal::LinkExit { from, reason } => (Some(from), ForeignSignal::LinkExit(reason)),
        Signal::Link(peer) => (Some(ProcessId::of(&peer)), ForeignSignal::Link),
        Signal::Unlink { from, id } => (Some(ProcessId::of(&from)), ForeignSignal::Unlink(id)),
        Signal::UnlinkAck { from, id } => (Some(from), ForeignSignal::UnlinkAck(id)),
        Signal::Monitor { reference, watcher } => {
            let monitor = MonitorRef::from_number(reference.number());
            (Some(ProcessId::of(&watcher)), ForeignSignal::Monitor(monitor))
        }
        Signal::Demonitor(reference) => {
            (None, ForeignSignal::Demonitor(MonitorRef::from_number(reference.number())))
        }
        Signal::Down { reference, reason } => {
            (None, ForeignSignal::Down(MonitorRef::from_number(reference.number()), reason))
        }
        answered => unreachable!("{answered:?} was answered when it was taken out"),
    };
    carrier.signal(from, signal);
}

impl Node {
    /// Spawns a proxy whose mailbox holds `bound` messages, 1 to 4,294,967,295, in addition to the one that its carrier
    /// has no capacity for. A sender that exceeds the bound waits at its next await (B1).
    ///
    /// # Errors
    /// Returns [`SpawnError`] with the carrier in it.
    ///
    /// COST: as [`spawn()`](crate::spawn()), plus 80 bytes for the bound.
    pub fn stand_in<M, C>(&self, bound: usize, carrier: C) -> Result<Pid<M>, SpawnError<C>>
    where
        M: Send + 'static,
        C: Carrier<M>,
    {
        self.spawn_from_outside(carrier, |carrier| {
            let spilled = Arc::clone(&self.home().dropped.spilled);
            let Some(edge) = Edge::new(bound, Overflow::Wait, spilled) else {
                return Err(SpawnError::BadBound(carrier));
            };
            // WHY the handle is dropped: a proxy has no process function that would use it.
            let make = |carrier, _owner| StandIn::<M, C, Edge>::new(carrier);
            try_spawn_as(self.realm(), Parent::ELSEWHERE, Local::default(), edge, carrier, make)
        })
    }

    /// Spawns the local endpoint of a connection, which represents no remote process. It receives only signals, and
    /// when the node stops it ends after all proxies.
    ///
    /// # Errors
    /// Returns [`SpawnError`] with the carrier in it.
    ///
    /// COST: as [`spawn()`](crate::spawn()).
    pub fn agent<C>(&self, carrier: C) -> Result<LocalProcess, SpawnError<C>>
    where
        C: Carrier<Infallible>,
    {
        let agent = self.spawn_from_outside(carrier, |carrier| {
            let make = |carrier, _owner| StandIn::<Infallible, C, ()>::new(carrier);
            try_spawn_as(self.realm(), Parent::NODE, Local::default(), (), carrier, make)
        });
        agent.map(|agent| LocalProcess::from(&agent))
    }
}
