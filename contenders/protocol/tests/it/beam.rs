//! Conformance of the Erlang contender, compiled and run on the BEAM.

use std::path::Path;
use std::process::Command;

use purlin_contender::conformance::{Contender, examine};
use serde_json::Value;

use crate::built::erlang;

fn erl(flags: &[&str], directory: &Path) -> Command {
    let mut command = Command::new("erl");
    command.args(flags).arg("-noshell").arg("-pa").arg(directory).args(["-s", "contender", "main"]);
    command
}

#[test]
fn beam_contender_conforms_to_the_protocol() {
    if let Some(directory) = erlang() {
        assert_eq!(examine(|| erl(&["+P", "4000000"], &directory)), Ok(vec!["message-moved"]));
    }
}

#[test]
fn beam_contender_names_the_flag_for_many_processes_and_continues() {
    let Some(directory) = erlang() else {
        return;
    };
    let mut contender = Contender::start(erl(&["+P", "1024"], &directory)).unwrap();
    let answer =
        contender.ask(r#"{"op":"run","experiment":"fork-join","params":{"n":10000}}"#).unwrap();
    let complaint = answer["error"].as_str().unwrap();
    assert!(complaint.contains("start erl with a larger +P"), "{complaint}");
    let answer =
        contender.ask(r#"{"op":"run","experiment":"fork-join","params":{"n":10}}"#).unwrap();
    assert_eq!(answer["received"], Value::from(10));
    assert_eq!(contender.finish(), Ok(Some(0)));
}
