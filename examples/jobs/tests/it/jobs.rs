//! The program of the example.

use std::process::Command;

use crate::database::Database;
use crate::programs::Program;

/// Starts the program, which this signal ends. Returns it with the address of its page.
pub(crate) fn start(database: &Database, signal: &'static str) -> (Program, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jobs"));
    let program = Program::start(command.args(["127.0.0.1:0", &database.connection()]), signal);
    let page = program.said("page at http://").expect("it starts");
    (program, page.trim_end_matches('/').to_owned())
}
