//! The commands of the README do what it says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::database::database;
use crate::page::blocks;
use crate::programs::{Program, free_port};

const PAGE: &str = include_str!("../../README.md");
/// Stands in for cargo: runs the program that the tests were built with.
const CARGO: &str = "#!/bin/sh
while [ \"$1\" != -- ]; do [ \"$1\" = --bin ] && program=$2; shift; done
shift
exec \"$PROGRAMS/$program\" \"$@\"
";

#[test]
fn commands_print_what_the_page_shows() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let cargo = folder.path().join("cargo");
    fs::write(&cargo, CARGO).expect("there is room");
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("it is there");
    let built = Path::new(env!("CARGO_BIN_EXE_postgres_server")).parent().expect("a folder");
    let path = std::env::var("PATH").expect("there is a PATH");
    let path = format!("{}:{}:{path}", folder.path().display(), database.programs().display());
    let (address, _port) = free_port();
    let set = |command: &mut Command| {
        command.current_dir(&folder).env("PATH", &path).env("PROGRAMS", built);
        command.env("DATABASE", database.connection());
    };
    let commands =
        blocks(PAGE, "sh").map(|block| block.replace("127.0.0.1:8006", &address.to_string()));
    let [server, client, psql, _kills] = &commands.collect::<Vec<_>>()[..] else {
        panic!("the page has four commands");
    };
    let [due_client, due_psql] = blocks(PAGE, "text").collect::<Vec<_>>()[..] else {
        panic!("the page shows what two of them print");
    };

    let mut shell = Command::new("sh");
    set(shell.args(["-c", &format!("exec {server}")]));
    let server = Program::start(&mut shell, "KILL");
    server.said("listening on ").expect("it starts");
    let run = |command: &str| {
        let mut shell = Command::new("sh");
        set(shell.args(["-c", command]));
        let output = shell.output().expect("there is a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let printed = run(client);
    // The client may report in between how far it is.
    let mut lines = printed.lines();
    for due in due_client.lines() {
        assert!(lines.any(|line| line == due), "'{due}' is not in its place:\n{printed}");
    }
    assert_eq!(lines.next(), None);
    assert_eq!(run(psql).trim_end(), due_psql.trim_end());
}
