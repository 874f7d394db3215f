//! Tests of `purlin ack log` and of a server whose log is damaged.

#![cfg(unix)]

use std::fs;
use std::path::Path;

use crate::support::purlin;
use crate::support::serving::Serving;
use purlin_ack::session::{Level, Opening};
use purlin_ack::wire::{Head, Id, SizeOrder};
use purlin_log::{Block, Client, Log, Options};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../../docs/ack/log.md");
const CLIENT: [u8; 16] = *b"abcdefghijklmnop";
const SEGMENT: &str = "00000000000000000000.log";

fn message(id: u64, payload: &[u8]) -> Vec<u8> {
    let head = Head { id: Id::from(id), size: payload.len() as u32 };
    [&head.to_bytes(SizeOrder::Little)[..], payload].concat()
}

/// Writes the log `messages` with three messages, the log `damaged` with a flipped bit in the second,
/// and `messages.bin` as earlier versions wrote it.
fn prepare(folder: &Path) {
    let mut log = Log::open(folder.join("messages"), Options::default()).unwrap();
    let opening = Opening { client: CLIENT, epoch: 1, level: Level::Received };
    let mut old = opening.to_bytes().to_vec();
    for (id, payload) in [(0, &b"hello"[..]), (1, b"world"), (2, &[0xff; 5])] {
        let messages = message(id, payload);
        let client = Some(Client { id: CLIENT, epoch: 1 });
        log.commit(&[Block { client, messages: &messages, refused: &[] }], true).unwrap();
        old.extend(messages);
    }
    log.close().unwrap();
    fs::write(folder.join("messages.bin"), old).unwrap();
    let damaged = folder.join("damaged");
    fs::create_dir(&damaged).unwrap();
    for entry in fs::read_dir(folder.join("messages")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), damaged.join(entry.file_name())).unwrap();
    }
    let path = damaged.join(SEGMENT);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).unwrap();
}

/// Runs a command. Returns its exit status, its output and its errors.
fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = purlin(folder).args(words).output().expect("purlin runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Replaces the time of each message, which no test knows.
fn without_times(text: &str) -> String {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut message)) => {
            message.insert("time".into(), 0.into());
            Value::Object(message).to_string()
        }
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn commands_of_the_document_print_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let blocks = DOCUMENT.split("```console\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").expect("it is closed").0);
    let (mut printed, mut due) = (Vec::new(), Vec::new());
    for run_and_result in blocks.flat_map(|block| block.split("$ purlin ").skip(1)) {
        let (command, result) = run_and_result.split_once('\n').expect("a line");
        let words: Vec<&str> = command.split(' ').collect();
        let (_, output, errors) = run(folder.path(), &words);
        printed.push(format!("{command}\n{}{errors}", without_times(&output)));
        due.push(format!("{command}\n{}", without_times(result)));
    }
    assert!(printed.len() > 5 && printed == due, "printed:\n{}", printed.join("\n"));
}

#[test]
fn json_has_what_the_text_has() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let json = |words: &[&str], due: i32| -> Value {
        let (status, printed, errors) =
            run(folder.path(), &[&["ack", "log"], words, &["--json"]].concat());
        assert_eq!((status, &*errors), (Some(due), ""), "{printed}");
        serde_json::from_str(&printed).expect("it is JSON")
    };
    let info = json(&["info", "messages"], 0);
    assert_eq!(
        (&info["messages"], &info["clients"], &info["next"]),
        (&3.into(), &1.into(), &3.into())
    );
    assert_eq!((&info["whole"], &info["torn"]), (&true.into(), &Value::Null));
    assert_eq!(info["segments"][0]["name"], SEGMENT);
    let damaged = json(&["verify", "damaged"], 1);
    assert_eq!((&damaged["whole"], &damaged["damage"][0]["offset"]), (&false.into(), &162.into()));
    let repaired = json(&["repair", "damaged", "repaired"], 0);
    assert_eq!(repaired["omitted"][0]["bytes"], 110);
    let converted = json(&["convert", "messages.bin", "converted"], 0);
    assert_eq!((&converted["messages"], &converted["stopped"]), (&3.into(), &Value::Null));
}

#[test]
fn damaged_log_is_reported_with_its_place_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let before = fs::read(folder.path().join("damaged").join(SEGMENT)).unwrap();
    let (status, printed, _) = run(folder.path(), &["ack", "log", "verify", "damaged"]);
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.contains("damaged/00000000000000000000.log is damaged at byte "), "{printed}");
    let words = ["ack", "serve", "--strategy", "best", "--listen", "127.0.0.1:0", "--handler"];
    let (status, _, errors) = run(folder.path(), &[&words[..], &["file", "damaged"]].concat());
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains(".log is damaged at byte ") && errors.lines().count() == 1, "{errors}");
    assert!(errors.contains("`purlin ack log repair damaged NEW`"), "{errors}");
    let (status, printed, errors) = run(folder.path(), &["ack", "log", "dump", "damaged"]);
    assert_eq!((status, printed.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.contains(".log is damaged at byte ") && errors.lines().count() == 1, "{errors}");
    assert_eq!(fs::read(folder.path().join("damaged").join(SEGMENT)).unwrap(), before);
    // The name of a folder cannot add a line, or control the terminal.
    fs::rename(folder.path().join("damaged"), folder.path().join("a\n\u{1b}b")).unwrap();
    let (status, _, errors) = run(folder.path(), &["ack", "log", "dump", "a\n\u{1b}b"]);
    assert_eq!((status, errors.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.starts_with("purlin: a  b/") && errors.contains(" is damaged at "), "{errors}");
    fs::rename(folder.path().join("a\n\u{1b}b"), folder.path().join("damaged")).unwrap();

    let (status, _, errors) = run(folder.path(), &["ack", "log", "repair", "damaged", "new"]);
    assert_eq!(status, Some(0), "{errors}");
    let (status, printed, _) = run(folder.path(), &["ack", "log", "verify", "new"]);
    assert_eq!(status, Some(0), "{printed}");
    let mut serving = Serving::start(folder.path(), &[&words[2..], &["file", "new"]].concat());
    serving.listens();
    assert_eq!(serving.end("-TERM").0, Some(0));
}

#[test]
fn zeros_at_the_end_are_reported_as_torn_and_cut_by_the_server() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let path = folder.path().join("messages").join(SEGMENT);
    let mut bytes = fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes.resize(whole + 12, 0);
    fs::write(&path, bytes).unwrap();
    let (status, printed, _) = run(folder.path(), &["ack", "log", "verify", "messages"]);
    assert_eq!(status, Some(0), "{printed}");
    let due = format!("has a torn end at byte {whole}: 12 bytes, all of them zeros\n");
    assert!(printed.ends_with(&due), "{printed}");
    let words = ["--strategy", "best", "--listen", "127.0.0.1:0", "--handler", "file", "messages"];
    let mut serving = Serving::start(folder.path(), &words);
    serving.listens();
    assert_eq!(serving.end("-TERM").0, Some(0));
    assert_eq!(fs::metadata(&path).unwrap().len() as usize, whole);
    let (_, printed, _) = run(folder.path(), &["ack", "log", "info", "messages"]);
    assert!(printed.starts_with("1 segments, ") && printed.contains(" 3 messages"), "{printed}");
}

#[test]
fn confirmed_messages_are_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let dump = |words: &[&str]| run(folder.path(), &[&["ack", "log", "dump"], words].concat());
    let lines = |words: &[&str]| dump(words).1.lines().count();
    assert_eq!(lines(&["messages", "--confirm", "--count", "2"]), 2);
    assert_eq!(lines(&["messages", "--confirm"]), 1);
    assert_eq!(lines(&["messages", "--confirm"]), 0);
    assert_eq!(lines(&["messages"]), 3);
    let output = purlin(folder.path()).args(["ack", "log", "dump", "messages", "--raw"]).output();
    let due = [message(0, b"hello"), message(1, b"world"), message(2, &[0xff; 5])].concat();
    assert_eq!(output.expect("purlin runs").stdout, due);
}

#[test]
fn invalid_log_arguments_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (words, due) in [
        (&["info", "none"][..], "cannot open none"),
        (&["verify", "empty"], "empty has no segments"),
        (&["dump", "empty"], "empty has no segments"),
        (&["dump", "messages.bin"], "cannot open messages.bin"),
        (&["dump", "messages", "--from", "x"], "--from"),
        (&["dump", "messages", "--raw", "--text"], "--text"),
        (&["repair", "messages", "damaged"], "not empty"),
        (&["repair", "messages"], "<NEW>"),
        (&["convert", "none", "new"], "cannot read none"),
        (&["convert", "messages.bin", "messages"], "it has messages already"),
    ] {
        let (status, _, errors) = run(folder.path(), &[&["ack", "log"], words].concat());
        assert_eq!(status, Some(2), "{words:?}: {errors}");
        assert!(errors.lines().count() == 1 && errors.starts_with("purlin: "), "{errors}");
        assert!(errors.contains(due), "{words:?}: {errors}");
    }
    let words = ["ack", "serve", "--handler", "file", "messages.bin"];
    let (status, _, errors) = run(folder.path(), &words);
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("`purlin ack log convert`") && errors.lines().count() == 1, "{errors}");
}
