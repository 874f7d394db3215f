//! The commands of the README do what it says.

use std::path::Path;
use std::process::Command;

use crate::database::database;
use crate::jobs::start;
use crate::page::blocks;

const PAGE: &str = include_str!("../../README.md");

#[test]
fn commands_print_what_the_page_shows() {
    let Some(database) = database() else { return };
    let [start_it, submit, look, _kills] = &blocks(PAGE, "sh").collect::<Vec<_>>()[..] else {
        panic!("the page has four commands");
    };
    let [reported, found] = blocks(PAGE, "text").collect::<Vec<_>>()[..] else {
        panic!("the page shows what two of them print");
    };
    assert_eq!(start_it.trim(), "cargo run -p example-jobs -- 127.0.0.1:8080 \"$DATABASE\"");
    let (program, _) = start(&database, "TERM");
    let run = |command: &str| {
        let path = std::env::var("PATH").expect("there is a PATH");
        let path = format!("{}:{path}", Path::new(database.programs()).display());
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).env("PATH", path).env("DATABASE", database.connection());
        let output = shell.output().expect("there is a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    run(submit);
    // The workers run concurrently, so their reports come in any order.
    let mut due: Vec<_> = reported.lines().skip(1).collect();
    while !due.is_empty() {
        let line = program.said("").expect("it reports");
        due.retain(|due| *due != line);
    }
    assert_eq!(run(look).trim_end(), found.trim_end());
}
