//! The server of the example.

use std::net::SocketAddr;
use std::process::Command;

use crate::programs::Program;

/// Starts the server of the example.
pub(crate) fn start_server(address: SocketAddr, database: &str) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postgres_server"));
    let server = Program::start(command.arg(address.to_string()).arg(database), "KILL");
    server.said("listening on ").expect("it starts");
    server
}
