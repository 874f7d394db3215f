//! The page of a node: a server of its own, on a thread of its own.
//!
//! A program has it by [`Observed::observer`]; everything else here is for that. Requests are answered from
//! the last census, which nobody changes, so a page that sorts a million rows holds up no process; what is
//! asked of a process itself (whom it is linked to) it answers when it next has its turn. The server never
//! keeps the node.
//!
//! | file | role |
//! |---|---|
//! | `observer`, `board`, `site` | how the page is asked for; what it shows besides the node; what handlers share |
//! | `server` | the thread, its connections, and their bounds |
//! | `token`, `guard` | who is let in |
//! | `answer`, `routes`, `assets` | refusals; what is where; the page's own files |
//! | `live`, `look` | the figures of the node, as they come |
//! | `processes`, `process`, `tree` | the table; one process; supervisors with theirs |
//! | `cluster`, `round_trips` | connected nodes; how soon they answer |
//! | `servers`, `lately` | servers that acknowledge; how long their acks took lately |
//! | `trace` | what chosen processes do, one thing after the other |
//! | `warnings`, `metrics` | what looks wrong; the figures for Prometheus |
//!
//! What each answer holds is in `docs/internals/observer-api.md`.

mod answer;
mod assets;
mod board;
mod cluster;
mod guard;
mod lately;
mod live;
mod look;
#[cfg_attr(not(feature = "metrics"), path = "no_metrics.rs")]
mod metrics;
mod observer;
mod process;
mod processes;
mod round_trips;
mod routes;
mod server;
mod servers;
mod site;
mod token;
mod trace;
mod tree;
mod warnings;

pub use observer::{Observed, Observer};
