//! State machines: servers whose handling of an event depends on a state. OTP's `gen_statem`.
//!
//! A type becomes a state machine by implementing [`StateMachine`]. An event (a call, a cast, an
//! info, a timeout) is handled in the present state, and the handler returns a [`Transition`]: the
//! next state, and actions. An event that the state cannot handle yet is *postponed*: it is handled
//! after the next change of the state, in the order of arrival and before newer events.
//!
//! A state machine runs as the server [`Machine`], so starting, names, calls, supervision, stop and
//! crash reports are those of [`server`](mod@crate::server).
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//! use purlin::server;
//! use purlin::state_machine::{
//!     Entry, Event, Init, Machine, Mail, StateMachine, Timeout, Transition,
//! };
//! use purlin::{Process, Reply};
//!
//! /// Time for which the door stays open.
//! const OPEN: Duration = Duration::from_millis(10);
//!
//! /// The data: the code, and the digits that were pressed.
//! #[derive(Debug)]
//! struct Door { code: String, pressed: String }
//!
//! #[derive(Debug, PartialEq)]
//! enum State { Locked, Open }
//!
//! #[derive(Debug)]
//! enum Call { Pass(Reply<()>) }
//!
//! #[derive(Debug)]
//! enum Cast { Press(char) }
//!
//! impl StateMachine for Door {
//!     type Args = &'static str;
//!     type State = State;
//!     type Call = Call;
//!     type Cast = Cast;
//!     type Info = Infallible;
//!     type Internal = ();
//!     type TimeoutName = Infallible;
//!
//!     async fn init(
//!         code: &'static str,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Init<Self>> {
//!         Ok(Init::Ready(Door { code: code.into(), pressed: String::new() }, State::Locked))
//!     }
//!
//!     async fn handle_event(
//!         &mut self,
//!         event: Event<Self>,
//!         state: &State,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Transition<Self>> {
//!         Ok(match (state, event) {
//!             (State::Locked, Event::Cast(Cast::Press(digit))) => {
//!                 self.pressed.push(digit);
//!                 if !self.pressed.ends_with(&self.code) {
//!                     return Ok(Transition::keep_state());
//!                 }
//!                 self.pressed.clear();
//!                 Transition::next_state(State::Open)
//!             }
//!             (State::Locked, pass @ Event::Call(_)) => Transition::keep_state().postpone(pass),
//!             (State::Open, Event::Call(Call::Pass(reply))) => {
//!                 reply.send(());
//!                 Transition::keep_state()
//!             }
//!             (State::Open, Event::Cast(_)) => Transition::keep_state(),
//!             (_, Event::Timeout(..) | Event::Internal(())) => Transition::next_state(State::Locked),
//!         })
//!     }
//!
//!     async fn state_enter(
//!         &mut self,
//!         _from: &State,
//!         state: &State,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Entry<Self>> {
//!         Ok(match state {
//!             State::Locked => Entry::keep_state(),
//!             State::Open => Entry::keep_state().timeout(Timeout::State, OPEN, ()),
//!         })
//!     }
//! }
//!
//! #[purlin::main]
//! async fn main() -> server::Result<()> {
//!     let door = server::start::<Machine<Door>>("4711").await?;
//!     let passed = door.send_request(Call::Pass);
//!     for digit in "4711".chars() {
//!         door.cast(Cast::Press(digit));
//!     }
//!     // The call was postponed until the door was open.
//!     passed.await?;
//!     // The door is locked again by the timeout of its state.
//!     while door.inspect(|door| *door.state() == State::Open).await? {
//!         purlin::yield_now().await;
//!     }
//!     door.stop().await?;
//!     Ok(())
//! }
//! ```
//!
//! | in OTP | here |
//! |---|---|
//! | `callback_mode` `handle_event_function` | [`StateMachine::handle_event`]; there is no function for each state |
//! | `{next_state, S, D, Actions}`, `keep_state`, `repeat_state`, `{stop, R}` | [`Transition::next_state`], [`keep_state`](Transition::keep_state), [`repeat_state`](Transition::repeat_state), [`stop`](Transition::stop), or an error by `?` |
//! | `state_enter` | [`StateMachine::state_enter`], always called |
//! | `{reply, From, Reply}`, `stop_and_reply` | `reply.send(answer)` in the handler, before it returns |
//! | `postpone`, `{next_event, Type, Content}` | [`Transition::postpone`], [`Transition::next_event`] |
//! | `{state_timeout, T, C}`, `{timeout, T, C}`, `{{timeout, Name}, T, C}` | [`Transition::timeout`] with a [`Timeout`]; the event is [`Event::Timeout`] |
//! | `cancel`, `update` of a timeout | [`Transition::cancel_timeout`], [`Transition::update_timeout`] |
//! | `hibernate`, absolute times, `change_callback_module` | – |
//! | `gen_statem:start_link`, `call`, `cast`, `stop` | [`server::start_link`](crate::server::start_link), and the methods of [`ServerRef<Machine<M>>`](crate::server::ServerRef) |
//! | `sys:get_state` | [`ServerRef::state`](crate::server::ServerRef::state); [`ServerRef::inspect`](crate::server::ServerRef::inspect) with [`Machine::state`] and [`Machine::data`] |
//!
//! An action takes effect after the callback has returned: a timeout begins then. Inspections and
//! requests to stop are messages, and wait until no event is queued.

mod behaviour;
mod machine;
mod timeouts;
mod transition;

#[cfg(test)]
mod tests;

pub use behaviour::{Event, Init, Mail, StateMachine};
pub use machine::Machine;
pub use timeouts::Timeout;
pub use transition::{Entry, Transition};
