//! The web page of a node: an HTTP server on a dedicated thread.
//!
//! [`Observed::observer`] adds it to a program. Requests are answered from the last snapshot, which is immutable, so
//! sorting a million rows blocks no process. Only the details of a single process, such as its links, are reported by
//! the process itself in its next turn. The server holds no strong reference to the node.
//!
//! | file | role |
//! |---|---|
//! | `observer` | public interface |
//! | `server` | the thread, and the limits of connections |
//! | `connections` | open connections, and which of them gives way to a new one |
//! | `token`, `guard` | access control |
//! | `routes`, `refusal`, `assets` | routes; error responses; static files |
//! | `api` | request handlers |
//! | `state` | state that the handlers share |
//!
//! The responses are specified in `docs/internals/observer-api.md`.

mod api;
mod assets;
mod connections;
mod guard;
mod observer;
mod refusal;
mod routes;
mod server;
mod state;
mod token;

pub use observer::{Observed, Observer};
