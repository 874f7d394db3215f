//! Adapter that serves an axum application from a purlin node.
//!
//! Each connection is a process: it runs on a worker of the node, appears in the observer, and a
//! panic in a handler ends only that connection. Inside a handler, [`purlin::whereis`] and
//! [`purlin::spawn()`] work as in any process. A [`Server`] is a child of a supervisor. It accepts at
//! most [`Server::max_connections`] connections at a time; further ones wait in the listen backlog.
//!
//! ```
//! use axum::Router;
//! use axum::routing::get;
//! use purlin::supervisor::SupervisorSpec;
//! use purlin::{Node, Process};
//! use purlin_axum::Server;
//!
//! #[purlin::main]
//! async fn main(me: Process<()>) -> std::io::Result<()> {
//!     let app = Router::new().route("/", get(async || {
//!         let node = Node::current().expect("a handler runs in a process");
//!         format!("{} processes\n", node.processes().len())
//!     }));
//!     let server = Server::bind(([127, 0, 0, 1], 0), app)?.max_connections(1000);
//!     println!("http://{}/", server.local_addr());
//!     let tree = SupervisorSpec::one_for_one().child(server.child_spec("web"));
//!     tree.start_link(&me).await.expect("it starts");
//!     Ok(())
//! }
//! ```
//!
//! # Stop
//!
//! A server that receives an exit signal from its supervisor closes its listening socket and
//! *drains* its connections: an idle HTTP connection is closed immediately, a busy one after its response, and
//! each [`Socket`] sends a Close frame with code 1001 and reads until it receives the client's. A connection
//! that has not ended within [`Server::drain_timeout`] is closed then, and its process killed a second later. The server ends after the last
//! of them. If it is killed, its connections are killed too.
//!
//! Stopping the node sends `shutdown` at the same time to all processes that do not belong to an
//! application, so nothing is drained: start the tree as an [application](purlin::application).
//!
//! Only HTTP/1.1 is served, without TLS: put a proxy in front for HTTP/2 or TLS.
//!
//! | file | role |
//! |---|---|
//! | `server` | settings, and the acceptor process |
//! | `connection` | process of a connection; extractor that starts the process of a WebSocket |
//! | `socket` | WebSocket that is closed when the server drains |
//! | `probes` | endpoints of liveness and readiness |

mod connection;
mod probes;
mod server;
mod socket;

pub use connection::Connection;
pub use probes::{Readiness, probes};
pub use server::{Server, ServerMail};
pub use socket::Socket;

/// The guide, whose examples are doc tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/web.md")]
    struct Web;
}
