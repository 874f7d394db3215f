//! Tracing of selected processes: their messages, spawns, links, monitors and exits, as OTP's `erlang:trace`.
//!
//! A [`Trace`] is limited, so that it can be used in production: it stops when a limit of events per second or in total
//! is exceeded, and reports that. Its events are in a list of bounded length; events evicted before they were read are
//! counted.
//!
//! ```
//! use purlin::trace::{EventKind, Options, Trace};
//! use purlin::{Node, Process, spawn};
//!
//! #[purlin::main]
//! async fn main(mut me: Process<u32>) {
//!     let home = me.pid();
//!     let doubler = spawn(async move |mut it: Process<u32>| {
//!         let n = it.receive().await;
//!         home.send(2 * n);
//!     });
//!     let node = Node::current().expect("a process has a node");
//!     let trace = Trace::start(&node, Options::default());
//!     trace.follow(doubler.id()).expect("it lives");
//!     doubler.send(21);
//!     assert_eq!(me.receive().await, 42);
//!     doubler.ended().await;
//!     let kinds: Vec<_> = trace.events(0).iter().map(|event| event.kind).collect();
//!     assert_eq!(kinds, [EventKind::Receive, EventKind::Send, EventKind::End]);
//! }
//! ```
//!
//! An event holds the type of a message, not its contents. Formatting the contents would run user code inside the
//! traced process, take time proportional to the message, and might disclose secrets to the observer. It is enabled per
//! message type by [`Options::show`]. The reply to a call goes directly to the caller and not through a mailbox, so it
//! is not an event.
//!
//! A signal attaches the trace to the process, in order with the other signals to it (M2). The process is therefore
//! traced from its next turn; a process that does not await is not traced before it does. A process is traced by at
//! most one trace, the latest one to follow it.
//!
//! COST: for a process that is not traced, one instruction per send and two per receive and spawn. For a traced
//! process, about 200 ns per event, more if it also stores the pending events of other processes; a traced process
//! never waits for a reader. A trace has a buffer of 1024 pending events, about 100 kB.
//!
//! | file | role |
//! |---|---|
//! | `event` | trace events |
//! | `options` | limits and message text |
//! | `buffer` | trace buffer |
//! | `session` | trace session: the handle of a trace |
//! | `hooks` | trace points |
//! | `span` | `tracing` spans of processes and messages |

mod buffer;
mod event;
pub(crate) mod hooks;
mod options;
mod session;
mod span;

pub(crate) use buffer::{Attachment, TraceBuffer};
pub use buffer::{FollowError, State, Status};
pub use event::{Event, EventKind};
pub use options::Options;
pub use session::Trace;
pub use span::{Traced, spanned};
