//! Servers: processes with a state that handle calls, casts and infos. OTP's `gen_server`.
//!
//! A type becomes a server by [`#[purlin::server]`](macro@crate::server) on an `impl` block, or by
//! implementing [`Server`]: the types of its messages and a handler for each. This module provides the message loop, the synchronous start that waits for
//! [`Server::init`], the orderly stop, timeouts and crash reports.
//!
//! ```
//! use std::convert::Infallible;
//! use purlin::server::{self, Init, Mail, Next, Server};
//! use purlin::{ExitReason, Process, Reply};
//!
//! /// The state: the number of tickets left.
//! #[derive(Debug)]
//! struct Tickets(u32);
//!
//! #[derive(Debug)]
//! enum Call { Left(Reply<u32>), Buy(u32, Reply<bool>) }
//!
//! #[derive(Debug)]
//! enum Cast { Print(u32), Close }
//!
//! impl Server for Tickets {
//!     type Args = u32;
//!     type Call = Call;
//!     type Cast = Cast;
//!     type Info = Infallible;
//!     type Continue = Infallible;
//!
//!     async fn init(left: u32, _me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
//!         Ok(Init::Ready(Tickets(left)))
//!     }
//!
//!     async fn handle_call(
//!         &mut self,
//!         call: Call,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Next<Self>> {
//!         match call {
//!             Call::Left(reply) => reply.send(self.0),
//!             Call::Buy(n, reply) => {
//!                 let sold = n <= self.0;
//!                 self.0 -= if sold { n } else { 0 };
//!                 reply.send(sold);
//!             }
//!         }
//!         Ok(Next::Wait)
//!     }
//!
//!     async fn handle_cast(
//!         &mut self,
//!         cast: Cast,
//!         _me: &mut Process<Mail<Self>>,
//!     ) -> server::Result<Next<Self>> {
//!         match cast {
//!             Cast::Print(n) => self.0 += n,
//!             Cast::Close => return Ok(Next::Stop(ExitReason::Normal)),
//!         }
//!         Ok(Next::Wait)
//!     }
//! }
//!
//! #[purlin::main]
//! async fn main() -> server::Result<()> {
//!     let tickets = server::start::<Tickets>(10).await?;
//!     assert!(tickets.call(|reply| Call::Buy(7, reply)).await?);
//!     assert!(!tickets.call(|reply| Call::Buy(7, reply)).await?);
//!     tickets.cast(Cast::Print(100));
//!     assert_eq!(tickets.call(Call::Left).await?, 103);
//!     assert_eq!(tickets.state().await?, "Tickets(103)");
//!     tickets.cast(Cast::Close);
//!     assert_eq!(tickets.pid().ended().await, ExitReason::Normal);
//!     Ok(())
//! }
//! ```
//!
//! | in OTP | here |
//! |---|---|
//! | `{reply, Reply, State}` | `reply.send(answer)`, then [`Next::Wait`]; the [`Reply`](crate::Reply) may be kept and sent later |
//! | `{noreply, State}` | `Ok(Next::Wait)` |
//! | `{noreply, State, Timeout}`, then `timeout` | `Ok(Next::Timeout(time))`, then [`Server::handle_timeout`]; for every wait, [`Server::idle_timeout`] |
//! | `{noreply, State, {continue, Term}}` | `Ok(Next::Continue(term))` |
//! | `{stop, Reason, State}` | `Ok(Next::Stop(reason))`, or an error by `?` |
//! | `ignore` | `Ok(Init::Ignore)` |
//! | `gen_server:start`, `start_link` | [`start`], [`start_link`] |
//! | `call`, `cast`, `stop` | [`ServerRef::call`], [`ServerRef::cast`], [`ServerRef::stop`] |
//! | `sys:get_state` | [`ServerRef::state`] |
//!
//! # Crash reports
//!
//! A server crashes when a handler panics, returns an error, or stops it with a reason that is not
//! orderly. [`Server::terminate`] is called first. Then, as in OTP, the crash is reported: through
//! `tracing`, at level `ERROR`, with the server's type, pid, last message, state and reason.

mod behaviour;
mod handler;
pub(crate) mod handler_result;
mod protocol;
mod report;
mod run;
mod server_ref;
mod start;

pub use behaviour::{Init, Mail, Next, Result, Server, System};
pub use protocol::{Argument, Protocol, Request, RequestKind};
pub use server_ref::ServerRef;
pub use start::{Start, StartError, start, start_link};
