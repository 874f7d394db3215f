//! Helpers of the tests: the service on a node of the test.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use chat::{ROOMS, Rooms, Settings};
use purlin::application::ApplicationRef;
use purlin::supervisor::{ChildProcess, DynamicSupervisorRef};
use purlin::{ExitReason, Node, exit_process};
pub(crate) use purlin_polling::HANG;
use rustix::process::{Resource, getrlimit, setrlimit};
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
            // WHY all: the tests look for each line in the journal.
            history: usize::MAX,
            drain_timeout: HANG,
            observer_token: Some(TOKEN.into()),
        };
        let node = Node::current().expect("this is a process");
        let (chat, address) = chat::application(&node, &settings).expect("a port is free");
        let application = node.start_application(chat).await.expect("it starts");
        Self { application, address, settings, _folder: folder }
    }
}

/// The program, killed when the test ends.
pub(crate) struct Program(pub(crate) Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program. Returns it with its address.
pub(crate) fn start(journal: &Path, history: u16) -> (Program, SocketAddr) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chat"));
    command
        .args(["--port", "0", "--drain", "600", "--history", &history.to_string(), "--journal"])
        .arg(journal)
        .stdout(Stdio::piped());
    let mut program = Program(command.spawn().expect("it starts"));
    let output = program.0.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it prints its address");
    let address = line.trim().trim_start_matches("chat: http://").trim_end_matches('/');
    (program, address.parse().unwrap_or_else(|_| panic!("{line:?} has no address")))
}

/// Returns the number of clients, and raises the limit of open files for their sockets and those of the service.
///
/// `PURLIN_CLIENTS` sets the number.
pub(crate) fn clients() -> usize {
    let clients =
        env::var("PURLIN_CLIENTS").map_or(200, |number| number.parse().expect("a number"));
    let needed = 2 * clients as u64 + 200;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(needed);
        setrlimit(Resource::Nofile, limit).expect("the hard limit of open files permits it");
    }
    clients
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
