//! Behaviour of a state machine: the trait, its events, and the result of its `init`.

use std::fmt;
use std::future::Future;
use std::hash::Hash;

use super::machine::Machine;
use super::timeouts::Timeout;
use super::transition::{Entry, Transition};
use crate::server::{self, Result};
use crate::{ExitReason, Process};

/// A state machine. The implementing type is its data, which every state has; [`Self::State`] is
/// its state, which decides how events are handled.
///
/// Callbacks are written as `async fn`. One runs at a time; while it awaits, the machine's other
/// events wait.
///
/// `me` is the machine's process, for operations that only it can perform: its pid, links,
/// monitors. A callback may also receive selectively from it, as a handler of a server may.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state machine",
    note = "implement `StateMachine` for the type of its data"
)]
pub trait StateMachine: fmt::Debug + Send + Sized + 'static {
    /// Argument of [`StateMachine::init`].
    type Args: Send + 'static;
    /// The state. Two states that are equal are the same state: a transition from one to the other
    /// is no change.
    type State: PartialEq + fmt::Debug + Send + Sync + 'static;
    /// Calls: an enum whose variants each carry a [`Reply`](crate::Reply).
    type Call: fmt::Debug + Send + 'static;
    /// Casts: messages without a reply.
    type Cast: fmt::Debug + Send + 'static;
    /// Infos: messages of other origin, such as timers, `Down` and `Exit`.
    type Info: fmt::Debug + Send + 'static;
    /// Content of the events that the machine makes itself: internal events and timeouts.
    type Internal: fmt::Debug + Send + 'static;
    /// Names of timeouts, in addition to the timeouts of the state and of the next event. A machine
    /// without such timeouts has `Infallible`.
    type TimeoutName: Clone + Eq + Hash + fmt::Debug + Send + 'static;

    /// Limit, in bytes, of the last event's `Debug` text in a crash report; 0 disables it. The cost
    /// is that of [`Server::LAST_MESSAGE_LIMIT`](crate::server::Server::LAST_MESSAGE_LIMIT).
    const LAST_EVENT_LIMIT: usize = 256;

    /// Creates the data and the first state. The starter waits until this returns.
    ///
    /// # Errors
    /// An error is the exit reason of the machine, which does not start; `terminate` is not called.
    fn init(
        args: Self::Args,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Init<Self>>> + Send;

    /// Handles an event in a state.
    ///
    /// # Errors
    /// An error stops the machine and becomes its exit reason.
    fn handle_event(
        &mut self,
        event: Event<Self>,
        state: &Self::State,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Transition<Self>>> + Send;

    /// Called when the machine enters a state, before it handles an event in it: OTP's state enter
    /// call. `from` is the previous state, or the state itself if the state is the first one or
    /// [repeated](Transition::repeat_state). The starter does not wait for the entry of the first
    /// state. The default does nothing.
    ///
    /// # Errors
    /// An error stops the machine and becomes its exit reason, as [`Transition::stop`] does in a
    /// handler; an [`ExitReason`] is used unchanged.
    fn state_enter(
        &mut self,
        from: &Self::State,
        state: &Self::State,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Entry<Self>>> + Send {
        let _ = (from, state, me);
        async { Ok(Entry::keep_state()) }
    }

    /// Cleans up. Called when the machine is stopped, when a callback has stopped it, failed or
    /// panicked, and when the machine traps exits and receives an exit signal of its parent.
    ///
    /// Not called when the machine is killed, or ended by an exit signal that it does not trap; its
    /// data is dropped in any case.
    fn terminate(
        &mut self,
        reason: &ExitReason,
        state: &Self::State,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (reason, state, me);
        async {}
    }
}

/// Message of a state machine's mailbox: that of its server. It is needed to send without a
/// [`ServerRef`](server::ServerRef), as a timer does, and by a callback that receives.
pub type Mail<M> = server::Mail<Machine<M>>;

/// Event of a state machine.
pub enum Event<M: StateMachine> {
    /// A call, with its [`Reply`](crate::Reply). The reply may be sent by the handler, or later by
    /// any holder of the `Reply`.
    Call(M::Call),
    /// A cast.
    Cast(M::Cast),
    /// A message that is neither a call nor a cast.
    Info(M::Info),
    /// An event that the machine has queued itself, by [`Transition::next_event`] or
    /// [`Init::Then`].
    Internal(M::Internal),
    /// A timeout, with the content it was set with.
    Timeout(Timeout<M::TimeoutName>, M::Internal),
}

/// Result of [`StateMachine::init`].
pub enum Init<M: StateMachine> {
    /// The machine has this data and is in this state.
    Ready(M, M::State),
    /// As `Ready`; the machine handles the event before any message.
    Then(M, M::State, Event<M>),
    /// The machine is not needed; it ends without an error.
    Ignore,
}

impl<M: StateMachine> fmt::Debug for Event<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(call) => f.debug_tuple("Call").field(call).finish(),
            Self::Cast(cast) => f.debug_tuple("Cast").field(cast).finish(),
            Self::Info(info) => f.debug_tuple("Info").field(info).finish(),
            Self::Internal(content) => f.debug_tuple("Internal").field(content).finish(),
            Self::Timeout(timeout, content) => {
                f.debug_tuple("Timeout").field(timeout).field(content).finish()
            }
        }
    }
}

impl<M: StateMachine> fmt::Debug for Init<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(data, state) => f.debug_tuple("Ready").field(data).field(state).finish(),
            Self::Then(data, state, event) => {
                f.debug_tuple("Then").field(data).field(state).field(event).finish()
            }
            Self::Ignore => f.write_str("Ignore"),
        }
    }
}
