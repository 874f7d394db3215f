//! Server that runs a state machine: its queue of events, and the steps of a transition.
//!
//! An event that needs no message (queued, postponed, or a timeout of zero) is the argument of
//! `handle_continue`, which the message loop of the server calls before it receives. A timer sends
//! the argument as a system message. So each event has the loop's budget, panic handling and crash
//! report.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::mem;
use std::time::Duration;

use purlin_sched::Timer;

use super::behaviour::{Event, Init, StateMachine};
use super::timeouts::{Timeout, Timeouts};
use super::transition::{Target, Transition};
use crate::server::{self, Mail, Next, Result, Server, System};
use crate::timer::past_bound::send_past_bound_after;
use crate::{ExitReason, Process};

/// The server of a state machine: its data, its state, and the events that wait.
///
/// It is the type argument of what a server has: [`server::start`], [`ServerRef`](server::ServerRef),
/// [`ChildSpec::server`](crate::supervisor::ChildSpec::server).
pub struct Machine<M: StateMachine> {
    data: M,
    state: M::State,
    /// Events to handle before a message is received.
    queue: VecDeque<Event<M>>,
    /// Events that wait for a change of the state, in the order in which they were postponed.
    postponed: Vec<Event<M>>,
    timeouts: Timeouts<M::TimeoutName, M::Internal>,
}

/// Argument of `handle_continue`: an event that needs no message.
pub enum Pending<M: StateMachine> {
    /// Entry of the first state, then the event of [`Init::Then`].
    Begin(Option<Event<M>>),
    /// Event that was queued.
    Queued(Event<M>),
    /// Timeout whose timer has fired, with the number of the timer.
    Expired(Timeout<M::TimeoutName>, u64),
}

impl<M: StateMachine> Machine<M> {
    /// Returns the state.
    pub fn state(&self) -> &M::State {
        &self.state
    }

    /// Returns the data.
    pub fn data(&self) -> &M {
        &self.data
    }

    async fn handle(
        &mut self,
        event: Event<M>,
        me: &mut Process<Mail<Self>>,
    ) -> Result<Next<Self>> {
        let transition = self.data.handle_event(event, &self.state, me).await?;
        self.perform(transition, me).await
    }

    /// Performs a transition; [`Transition`] has the steps.
    async fn perform(
        &mut self,
        transition: Transition<M>,
        me: &mut Process<Mail<Self>>,
    ) -> Result<Next<Self>> {
        let Transition { target, postponed, next_events, entry } = transition;
        let mut changes = entry.changes;
        self.postponed.extend(postponed);
        // The state that is left, and whether a state is entered.
        let (left, enters) = match target {
            Target::Keep => (None, false),
            Target::Repeat => (None, true),
            Target::Next(state) => {
                let left = mem::replace(&mut self.state, state);
                let changed = left != self.state;
                (changed.then_some(left), changed)
            }
            Target::Stop(reason) => return Ok(Next::Stop(reason)),
        };
        if enters {
            let from = left.as_ref().unwrap_or(&self.state);
            let entry = self.data.state_enter(from, &self.state, me).await?;
            changes.append(entry.changes);
        }
        if left.is_some() {
            for event in self.postponed.drain(..).rev() {
                self.queue.push_front(event);
            }
            self.timeouts.cancel(&Timeout::State);
        }
        self.timeouts.cancel(&Timeout::Event);
        self.timeouts.apply(changes, |time, timeout, number| alarm(me, time, timeout, number));
        for event in next_events.into_iter().rev() {
            self.queue.push_front(event);
        }
        Ok(self.next())
    }

    /// Returns the next step of the server: a queued event, a timeout of zero, or a wait.
    fn next(&mut self) -> Next<Self> {
        let event = self.queue.pop_front().or_else(|| {
            let (timeout, content) = self.timeouts.pop_zero()?;
            Some(Event::Timeout(timeout, content))
        });
        event.map_or(Next::Wait, |event| Next::Continue(Pending::Queued(event)))
    }
}

/// Sets the timer of a timeout.
fn alarm<M: StateMachine>(
    me: &Process<Mail<Machine<M>>>,
    time: Duration,
    timeout: Timeout<M::TimeoutName>,
    number: u64,
) -> Timer {
    let expired = System::handle_continue(Pending::Expired(timeout, number));
    send_past_bound_after(me.pid(), time, Mail::System(expired))
}

impl<M: StateMachine> Server for Machine<M> {
    type Args = M::Args;
    type Call = M::Call;
    type Cast = M::Cast;
    type Info = M::Info;
    type Continue = Pending<M>;

    const LAST_MESSAGE_LIMIT: usize = M::LAST_EVENT_LIMIT;
    const BEHAVIOUR: &'static str = "gen_statem";

    async fn init(args: M::Args, me: &mut Process<Mail<Self>>) -> Result<server::Init<Self>> {
        let (data, state, first) = match M::init(args, me).await? {
            Init::Ready(data, state) => (data, state, None),
            Init::Then(data, state, event) => (data, state, Some(event)),
            Init::Ignore => return Ok(server::Init::Ignore),
        };
        let (queue, postponed) = (VecDeque::new(), Vec::new());
        let machine = Self { data, state, queue, postponed, timeouts: Timeouts::new() };
        Ok(server::Init::Then(machine, Next::Continue(Pending::Begin(first))))
    }

    fn handle_call(
        &mut self,
        call: M::Call,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        self.handle(Event::Call(call), me)
    }

    fn handle_cast(
        &mut self,
        cast: M::Cast,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        self.handle(Event::Cast(cast), me)
    }

    fn handle_info(
        &mut self,
        info: M::Info,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = Result<Next<Self>>> + Send {
        self.handle(Event::Info(info), me)
    }

    async fn handle_continue(
        &mut self,
        pending: Pending<M>,
        me: &mut Process<Mail<Self>>,
    ) -> Result<Next<Self>> {
        match pending {
            Pending::Begin(first) => {
                let begin =
                    first.into_iter().fold(Transition::repeat_state(), Transition::next_event);
                self.perform(begin, me).await
            }
            Pending::Queued(event) => self.handle(event, me).await,
            Pending::Expired(timeout, number) => match self.timeouts.expire(&timeout, number) {
                Some(content) => self.handle(Event::Timeout(timeout, content), me).await,
                // Cancelled after its timer had fired.
                None => Ok(Next::Wait),
            },
        }
    }

    fn terminate(
        &mut self,
        reason: &ExitReason,
        me: &mut Process<Mail<Self>>,
    ) -> impl Future<Output = ()> + Send {
        self.data.terminate(reason, &self.state, me)
    }
}

impl<M: StateMachine> fmt::Debug for Machine<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("state", &self.state)
            .field("data", &self.data)
            .field("queued", &self.queue)
            .field("postponed", &self.postponed)
            .field("timeouts", &self.timeouts)
            .finish()
    }
}

/// Shows the event alone: the text is that of the last event in a crash report.
impl<M: StateMachine> fmt::Debug for Pending<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(_) => f.write_str("the first state"),
            Self::Queued(event) => fmt::Debug::fmt(event, f),
            Self::Expired(timeout, _) => f.debug_tuple("Timeout").field(timeout).finish(),
        }
    }
}
