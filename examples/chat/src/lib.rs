//! A chat service: rooms, WebSocket sessions, and a journal of all lines.
//!
//! ```text
//! rest_for_one
//! ├── journal   writes and syncs lines, then answers; keeps the last lines of each room
//! ├── rooms     dynamic supervisor: a server for each room, found or started by its name
//! └── web       HTTP server: a process for each connection and each WebSocket session
//! ```
//!
//! A session passes a line of its client to the room, the room to the journal. When the journal has
//! synced the line, the room sends it to all its sessions, and the session acknowledges it. So an
//! acknowledged line survives every crash: of its session, its room, the program and the machine.
//! A room that crashes is restarted; its sessions join it again and get the lines they missed.
//!
//! A client whose line was not acknowledged sends it again, so a line may be in the journal twice.

mod history;
mod journal;
mod room;
mod session;
mod storage;
mod web;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use purlin::Node;
use purlin::application::ApplicationSpec;
use purlin::supervisor::{ChildSpec, Restart, SupervisorSpec};
use purlin_axum::{Readiness, Server};

pub use room::{ROOMS, Rooms};
pub use storage::{Line, read};

/// Largest number of rooms that have a process.
const MAX_ROOMS: usize = 10_000;
/// Largest number of connections.
const MAX_CONNECTIONS: usize = 20_000;
/// Time limit of a stop beyond that of draining: the server's margin, and the rest of the tree.
const MARGIN: Duration = Duration::from_secs(15);

/// Settings of the service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the web server.
    pub address: SocketAddr,
    /// File of the journal; it is created if it does not exist.
    pub journal: PathBuf,
    /// Number of lines of each room that are kept, at least one.
    pub history: usize,
    /// Time limit of the sessions when the service stops.
    pub drain_timeout: Duration,
    /// Token of the observer's page at `/observer`, which is not served without one.
    pub observer_token: Option<String>,
}

/// Returns the application and the address of its web server.
///
/// # Errors
/// Returns an error if the address cannot be bound or the token of the observer is guessable.
pub fn application(node: &Node, settings: &Settings) -> io::Result<(ApplicationSpec, SocketAddr)> {
    let readiness = Readiness::new();
    let app = web::router(node, &readiness, settings.observer_token.as_deref())?;
    let web = Server::bind(settings.address, app)?
        .max_connections(MAX_CONNECTIONS)
        .drain_timeout(settings.drain_timeout);
    let (path, history) = (settings.journal.clone(), settings.history);
    let journal = move |me, ack| journal::run(me, ack, path, history);
    let journal = ChildSpec::worker_with_ack("journal", journal).options(journal::options());
    let rooms = SupervisorSpec::simple_one_for_one(
        room::template()
            .restart(Restart::Transient)
            .backoff(Duration::from_millis(10), Duration::from_secs(10))
            .intensity(100, Duration::from_secs(10)),
    );
    let rooms = rooms.name(ROOMS).max_children(MAX_ROOMS);
    let tree = SupervisorSpec::rest_for_one()
        .child(journal)
        .child(ChildSpec::supervisor("rooms", rooms))
        .child(web.child_spec("web"));
    let chat = ApplicationSpec::new(web::APPLICATION, tree)
        .shutdown(settings.drain_timeout.saturating_add(MARGIN))
        .prep_stop(move || {
            readiness.set(false);
            async {}
        });
    Ok((chat, web.local_addr()))
}
