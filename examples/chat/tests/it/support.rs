//! Helpers of the tests: the service on a node of the test.

use std::net::SocketAddr;

use chat::{ROOMS, Rooms, Settings};
use purlin::application::ApplicationRef;
use purlin::supervisor::{ChildProcess, DynamicSupervisorRef};
use purlin::{ExitReason, Node, exit_process};
pub(crate) use purlin_polling::HANG;
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "a-token-hard-to-guess-0123456789";

/// A service on the node of the current process, with its journal in a temporary folder.
pub(crate) struct Service {
    pub(crate) application: ApplicationRef,
    pub(crate) address: SocketAddr,
    pub(crate) settings: Settings,
    _folder: TempDir,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            address: ([127, 0, 0, 1], 0).into(),
            journal: folder.path().join("journal"),
            drain_timeout: HANG,
            observer_token: Some(TOKEN.into()),
        };
        let node = Node::current().expect("this is a process");
        let (chat, address) = chat::application(&node, &settings).expect("a port is free");
        let application = node.start_application(chat).await.expect("it starts");
        Self { application, address, settings, _folder: folder }
    }
}

/// Kills a room, chosen by a number. Returns whether there was one.
pub(crate) async fn kill_room(number: usize) -> bool {
    let rooms: Rooms = DynamicSupervisorRef::whereis(ROOMS).expect("it lives");
    let rooms = rooms.which_children().await.expect("it lives");
    let running = rooms.iter().filter_map(|room| match room.process {
        ChildProcess::Running(id) => Some(id),
        _ => None,
    });
    let running: Vec<_> = running.collect();
    let Some(room) = running.get(number % running.len().max(1)) else { return false };
    exit_process(*room, ExitReason::Kill);
    true
}
