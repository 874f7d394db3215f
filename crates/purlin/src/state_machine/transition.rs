//! Results of a state machine's callbacks: a transition, and the actions of a state's entry.

use std::fmt;
use std::time::Duration;

use super::behaviour::{Event, StateMachine};
use super::timeouts::{Change, Changes, Timeout};
use crate::ExitReason;

/// Result of [`StateMachine::handle_event`]: the next state, and actions.
///
/// ```
/// use std::time::Duration;
/// # use std::convert::Infallible;
/// # use purlin::server;
/// # use purlin::state_machine::{Event, Init, Mail, StateMachine, Timeout, Transition};
/// # use purlin::Process;
/// # #[derive(Debug)] struct Lamp;
/// # #[derive(Debug, PartialEq)] enum State { Off, On }
/// # impl StateMachine for Lamp {
/// #     type Args = (); type State = State; type Call = Infallible; type Cast = ();
/// #     type Info = Infallible; type Internal = (); type TimeoutName = Infallible;
/// #     async fn init((): (), _: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
/// #         Ok(Init::Ready(Lamp, State::Off))
/// #     }
/// #     async fn handle_event(
/// #         &mut self,
/// #         event: Event<Self>,
/// #         state: &State,
/// #         _: &mut Process<Mail<Self>>,
/// #     ) -> server::Result<Transition<Self>> {
/// # let transition =
/// match (state, event) {
///     (State::Off, Event::Cast(())) => {
///         Transition::next_state(State::On).timeout(Timeout::State, Duration::from_secs(60), ())
///     }
///     (State::On, event @ Event::Cast(())) => Transition::keep_state().postpone(event),
///     _ => Transition::next_state(State::Off),
/// }
/// # ; Ok(transition)
/// #     }
/// # }
/// ```
///
/// A change of the state is a transition to a state that is not equal to the present one. Then, in
/// this order, as in OTP:
///
/// 1. [`StateMachine::state_enter`] is called, if the state changes or is repeated.
/// 2. If the state changes, the postponed events are queued again, in the order in which they were
///    postponed and before events that were queued already, and the state timeout is cancelled.
/// 3. The event timeout is cancelled.
/// 4. The timeouts of the transition and of the entry start, in this order. If several actions
///    concern one timeout, only the last has an effect.
/// 5. The events of [`Transition::next_event`] are queued, the first one first, before all others.
/// 6. The oldest queued event is handled. If the queue is empty, the oldest timeout of zero is
///    handled. Without such a timeout, the machine waits for a message.
#[must_use = "a transition has an effect when a handler returns it"]
pub struct Transition<M: StateMachine> {
    pub(super) target: Target<M::State>,
    pub(super) postponed: Option<Event<M>>,
    pub(super) next_events: Vec<Event<M>>,
    pub(super) entry: Entry<M>,
}

/// State after a transition.
#[derive(Debug)]
pub(super) enum Target<S> {
    Keep,
    Repeat,
    Next(S),
    Stop(ExitReason),
}

/// Result of [`StateMachine::state_enter`]: changes of timeouts.
#[must_use = "it has an effect when `state_enter` returns it"]
pub struct Entry<M: StateMachine> {
    pub(super) changes: Changes<M::TimeoutName, M::Internal>,
}

impl<M: StateMachine> Transition<M> {
    /// Moves to this state, which may be the present one: OTP's `next_state`.
    pub fn next_state(state: M::State) -> Self {
        Self::to(Target::Next(state))
    }

    /// Stays in the state: OTP's `keep_state`.
    pub fn keep_state() -> Self {
        Self::to(Target::Keep)
    }

    /// Stays in the state and calls [`StateMachine::state_enter`] again: OTP's `repeat_state`. The
    /// state does not change: postponed events stay postponed, and the state timeout continues.
    pub fn repeat_state() -> Self {
        Self::to(Target::Repeat)
    }

    /// Stops the machine: calls [`StateMachine::terminate`] and ends the process with this reason.
    /// Other actions have no effect.
    pub fn stop(reason: ExitReason) -> Self {
        Self::to(Target::Stop(reason))
    }

    fn to(target: Target<M::State>) -> Self {
        Self { target, postponed: None, next_events: Vec::new(), entry: Entry::keep_state() }
    }

    /// Postpones the event that the handler was called with: it is handled again after the next
    /// change of the state, which may be that of this transition.
    ///
    /// A second event replaces the first, which is dropped.
    ///
    /// COST: the event waits in the machine, where the bound of the mailbox does not count it. Each
    /// change of the state has the handler called once for each postponed event; the messages in
    /// the mailbox are not touched. A caller whose call is postponed waits, within its timeout.
    pub fn postpone(mut self, event: Event<M>) -> Self {
        self.postponed = Some(event);
        self
    }

    /// Queues an event that is handled next, before all others. Of several, the first is handled
    /// first.
    pub fn next_event(mut self, event: Event<M>) -> Self {
        self.next_events.push(event);
        self
    }

    /// Starts a timeout, or starts it again: after `time`, the event [`Event::Timeout`] has this
    /// content. With `Duration::MAX` the timeout is cancelled.
    ///
    /// A timer that fires puts its event behind the messages that are in the mailbox then. A
    /// timeout of `Duration::ZERO` needs no timer: its event is handled when no event is queued,
    /// before any message of the mailbox.
    ///
    /// COST: a timer, and two allocations; none for a timeout of zero.
    pub fn timeout(
        mut self,
        timeout: Timeout<M::TimeoutName>,
        time: Duration,
        content: M::Internal,
    ) -> Self {
        self.entry = self.entry.timeout(timeout, time, content);
        self
    }

    /// Cancels a timeout. Its event does not arrive, even if its timer has fired already.
    pub fn cancel_timeout(mut self, timeout: Timeout<M::TimeoutName>) -> Self {
        self.entry = self.entry.cancel_timeout(timeout);
        self
    }

    /// Replaces the content of a timeout's event; its time continues. A timeout that does not run
    /// starts with a time of zero.
    pub fn update_timeout(
        mut self,
        timeout: Timeout<M::TimeoutName>,
        content: M::Internal,
    ) -> Self {
        self.entry = self.entry.update_timeout(timeout, content);
        self
    }
}

impl<M: StateMachine> Entry<M> {
    /// Stays in the state, without actions.
    pub fn keep_state() -> Self {
        Self { changes: Changes::new() }
    }

    /// Starts a timeout: see [`Transition::timeout`].
    pub fn timeout(
        mut self,
        timeout: Timeout<M::TimeoutName>,
        time: Duration,
        content: M::Internal,
    ) -> Self {
        self.changes.push(timeout, Change::Start(time, content));
        self
    }

    /// Cancels a timeout: see [`Transition::cancel_timeout`].
    pub fn cancel_timeout(mut self, timeout: Timeout<M::TimeoutName>) -> Self {
        self.changes.push(timeout, Change::Cancel);
        self
    }

    /// Replaces the content of a timeout's event: see [`Transition::update_timeout`].
    pub fn update_timeout(
        mut self,
        timeout: Timeout<M::TimeoutName>,
        content: M::Internal,
    ) -> Self {
        self.changes.push(timeout, Change::Update(content));
        self
    }
}

impl<M: StateMachine> fmt::Debug for Transition<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transition")
            .field("target", &self.target)
            .field("postponed", &self.postponed)
            .field("next_events", &self.next_events)
            .field("timeouts", &self.entry.changes)
            .finish()
    }
}

impl<M: StateMachine> fmt::Debug for Entry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.changes).finish()
    }
}
