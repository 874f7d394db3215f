//! Process groups: named sets of processes that can be listed and monitored. OTP's `pg`.
//!
//! Groups belong to a *scope*, a server with a registered name; a node may have several. A process
//! may be in many groups, and several times in one; it leaves all groups when it ends. A group
//! exists while it has members.
//!
//! ```
//! use purlin::pg::{self, Change, Groups};
//! use purlin::{Message, Process, Reply, multi_call, spawn};
//!
//! #[derive(Message)]
//! enum Mail {
//!     #[from]
//!     Group(pg::Event),
//! }
//!
//! #[purlin::main]
//! async fn main(mut me: Process<Mail>) -> purlin::server::Result<()> {
//!     let groups = Groups::start("shop").await?;
//!     let (monitor, members) = groups.monitor(&me, "clerks").await?;
//!     assert!(members.is_empty());
//!
//!     let clerk = spawn(async |mut me: Process<Reply<u32>>| me.receive().await.send(7));
//!     groups.join("clerks", &clerk).await?;
//!     let Mail::Group(event) = me.receive().await;
//!     assert_eq!((event.monitor, event.change), (monitor, Change::Joined));
//!     assert_eq!(event.members, [clerk.id()]);
//!
//!     // A client of the scope lists the members and may call them all.
//!     let clerks = Groups::find("shop").await?.members::<Reply<u32>>("clerks");
//!     let answers = multi_call(&clerks, |reply| reply, purlin::CALL_TIMEOUT).await;
//!     assert_eq!(answers, [Ok(7)]);
//!
//!     // The clerk has replied and ends, so it leaves the group.
//!     let Mail::Group(event) = me.receive().await;
//!     assert_eq!((event.change, event.members), (Change::Left, vec![clerk.id()]));
//!     Ok(())
//! }
//! ```
//!
//! Members are processes of the scope's node.
//!
//! COST: listing a group takes a read lock and one counted reference per member. Every other
//! operation is a call to the scope, which monitors each member once.

mod event;
mod groups;
mod monitor;
mod scope;
mod table;

pub use event::{Change, Event, GroupMonitor};
pub use groups::{Groups, JoinError};
pub use scope::{Request, Scope};
