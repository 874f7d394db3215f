//! Tests of `purlin observe` on a node in the test.

#![cfg(unix)]

use std::future::pending;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use crate::support::{line, purlin, refusing};
use purlin::{Node, Pid, Process};
use purlin_observer::{Observed, Observer};

/// A name that would clear the terminal, ring the bell and reverse the line.
const HOSTILE: &str = "evil\u{1b}[2J\u{7}\u{202e}\r\n";

/// An observed node.
struct Seen {
    node: Node,
    observer: Observer,
}

impl Seen {
    fn start() -> Self {
        let observer = Observer::at(([127, 0, 0, 1], 0).into()).silent();
        let node = Node::builder().name("zanzibar").workers(2).observer(observer.clone()).build();
        Self { node: node.expect("the node starts"), observer }
    }

    fn url(&self) -> String {
        self.observer.url().expect("the page is there").to_owned()
    }

    fn host(&self) -> String {
        self.observer.local_addr().expect("the page is there").to_string()
    }

    /// Spawns a process with that name and number of messages, which never receives.
    fn lazy(&self, name: &str, messages: u8) -> Pid<u8> {
        let pid = self.node.spawn(async |_: Process<u8>| pending::<()>().await);
        self.node.register(name, &pid).expect("the name is free");
        (0..messages).for_each(|number| pid.send(number));
        pid
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.node.stop_blocking();
    }
}

fn observe(words: &[&str]) -> Output {
    observe_with(words, None)
}

fn observe_with(words: &[&str], token: Option<&str>) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut command = purlin(folder.path());
    command.arg("observe").args(words).env_remove("PURLIN_OBSERVER_TOKEN");
    if let Some(token) = token {
        command.env("PURLIN_OBSERVER_TOKEN", token);
    }
    command.output().expect("purlin runs")
}

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""));
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

/// Returns the names in the table's rows, in order.
fn names(text: &str) -> Vec<&str> {
    let rows = text.lines().skip_while(|line| !line.starts_with("PID")).skip(1);
    rows.filter_map(|row| row.split_whitespace().nth(1)).collect()
}

#[test]
fn one_table_is_printed_sorted_and_filtered() {
    let seen = Seen::start();
    seen.lazy("few", 3);
    seen.lazy("many", 200);
    seen.lazy("none", 0);
    let sorted = |words: &[&str]| {
        let url = seen.url();
        let words: Vec<_> = words.iter().copied().chain([url.as_str()]).collect();
        printed(&observe(&words))
    };
    let text = sorted(&["--sort", "mailbox"]);
    assert!(text.starts_with("zanzibar  up "), "{text}");
    assert_eq!(names(&text), ["many", "few", "none"], "{text}");
    let row = text.lines().find(|line| line.contains("many")).expect("it is there");
    assert!(row.split_whitespace().any(|cell| cell == "200"), "{row}");
    assert_eq!(names(&sorted(&["--sort", "mailbox", "--ascending"])), ["none", "few", "many"]);
    assert_eq!(names(&sorted(&["--filter", "an"])), ["many"]);
    let text = sorted(&["--once", "--rows", "1", "--sort", "mailbox"]);
    assert!(names(&text)[0] == "many" && text.ends_with("and 2 more\n"), "{text}");
}

#[test]
fn json_has_the_overview_the_processes_and_the_warnings() {
    let seen = Seen::start();
    seen.lazy("few", 3);
    seen.lazy(HOSTILE, 200);
    let text = printed(&observe(&["--json", "--sort", "mailbox", "--rows", "1", &seen.url()]));
    assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["overview"]["node"], "zanzibar");
    let rows = json["processes"]["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), &rows[0]["mailbox"]), (1, &200.into()));
    assert!(json["processes"]["total"].as_u64() >= Some(2) && json["warnings"].is_array());
}

#[test]
fn the_token_is_read_from_the_address_the_option_or_the_environment() {
    let seen = Seen::start();
    let (url, host) = (seen.url(), seen.host());
    let token = url.split_once("#token=").expect("it has one").1;
    printed(&observe(&[&url]));
    printed(&observe(&[&host, "--token", token]));
    printed(&observe_with(&[&host], Some(token)));
    let none = line(&observe(&[&host]), 2);
    assert!(none.contains("no token: give the whole URL"), "{none}");
    // Some tokens begin with a hyphen.
    for other in ["wrong", "-wrong"] {
        let wrong = line(&observe(&[&host, "--token", other]), 2);
        assert!(wrong.contains(&format!("the token is not that of the node at {host}")), "{wrong}");
        assert!(!wrong.contains(token));
    }
}

#[test]
fn process_names_cannot_control_the_terminal() {
    let seen = Seen::start();
    seen.lazy(HOSTILE, 1);
    let text = printed(&observe(&[&seen.url(), "--sort", "mailbox"]));
    let is_plain = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
    assert!(text.chars().all(is_plain), "{text:?}");
    assert!(text.contains("evil\\u{1b}[2J\\u{7}"), "{text}");
}

#[test]
fn an_unreachable_node_and_another_server_are_reported_in_one_line() {
    let (_held, gone) = refusing();
    let error = line(&observe(&[&gone, "--token", "x"]), 2);
    assert!(error.contains(&format!("no node can be observed at {gone}")), "{error}");
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = other.local_addr().unwrap().to_string();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = other.accept().expect("it comes");
        let _ = stream.read(&mut [0; 4096]);
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).expect("it reads");
    });
    let error = line(&observe(&[&host, "--token", "x"]), 2);
    assert!(error.contains("is not the page of a node"), "{error}");
    answering.join().expect("it has answered");
    for (place, due) in
        [("nonsense", "is not the address of a page"), ("https://a:1", "does not support TLS")]
    {
        let error = line(&observe(&[place, "--token", "x"]), 2);
        assert!(error.contains(due), "{error}");
    }
}

/// Runs `purlin observe` in a terminal, provided by `script`, and returns everything it has written. Calls `act` once
/// the first text is on the screen, and quits once the second one is.
fn in_a_terminal(url: &str, first: &str, second: &str, act: impl FnOnce()) -> String {
    let command = format!("exec {} observe '{url}'", env!("CARGO_BIN_EXE_purlin"));
    let mut script = Command::new("script")
        .args(["-qefc", &format!("stty rows 30 cols 160; {command}"), "/dev/null"])
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script is there");
    let mut written = Vec::new();
    let mut out = script.stdout.take().expect("it is piped");
    let mut input = script.stdin.take().expect("it is piped");
    let mut act = Some(act);
    let mut left = false;
    let mut block = [0; 4096];
    while let Ok(count @ 1..) = out.read(&mut block) {
        written.extend_from_slice(&block[..count]);
        let text = String::from_utf8_lossy(&written);
        if text.contains(first)
            && let Some(act) = act.take()
        {
            act();
        }
        if act.is_none() && !left && text.contains(second) {
            input.write_all(b"q").expect("it reads keys");
            left = true;
        }
    }
    assert_eq!(script.wait().expect("it ends").code(), Some(0));
    String::from_utf8_lossy(&written).into_owned()
}

#[test]
fn the_interactive_mode_follows_the_node_and_restores_the_terminal() {
    let seen = Seen::start();
    seen.lazy("counter", 9);
    seen.lazy(HOSTILE, 1);
    let written = in_a_terminal(&seen.url(), "counter", "FUNCTION", || {});
    assert!(written.contains("zanzibar") && written.contains("FUNCTION"), "{written:?}");
    // The alternate screen is entered and left.
    assert!(written.contains("\u{1b}[?1049h") && written.contains("\u{1b}[?1049l"), "{written:?}");
    assert!(!written.contains("evil\u{1b}") && !written.contains('\u{7}'), "{written:?}");
}

#[test]
fn the_end_of_the_node_is_shown_on_the_screen() {
    let seen = Seen::start();
    seen.lazy("counter", 9);
    let (node, url) = (seen.node.clone(), seen.url());
    let error = in_a_terminal(&url, "counter", "trying again", || drop(node.stop_blocking()));
    assert!(error.contains("no node can be observed"), "{error:?}");
}

#[test]
fn a_signal_ends_the_interactive_mode_and_restores_the_terminal() {
    let seen = Seen::start();
    seen.lazy("counter", 9);
    for signal in ["-TERM", "-INT", "-HUP"] {
        // The process id is the same after `exec`.
        let observe = "sh -c 'echo \"pid $$.\"; exec \"$PURLIN\" observe \"$PAGE\"'";
        let words = format!("stty rows 30 cols 160; {observe}; echo \"status $?\"; stty -a");
        let mut script = Command::new("script")
            .args(["-qefc", &words, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env("PURLIN", env!("CARGO_BIN_EXE_purlin"))
            .env("PAGE", seen.url())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script is there");
        let mut out = script.stdout.take().expect("it is piped");
        let (mut written, mut block, mut sent) = (Vec::new(), [0; 4096], false);
        while let Ok(count @ 1..) = out.read(&mut block) {
            written.extend_from_slice(&block[..count]);
            let text = String::from_utf8_lossy(&written);
            if !sent && text.contains("counter") {
                let (_, id) = text.split_once("pid ").expect("it is printed first");
                let (id, _) = id.split_once('.').expect("the line ends");
                let kill = Command::new("kill").args([signal, id]).status();
                assert!(kill.expect("kill runs").success());
                sent = true;
            }
        }
        script.wait().expect("it ends");
        let text = String::from_utf8_lossy(&written);
        let (_, after) = text.split_once("\u{1b}[?1049l").unwrap_or_else(|| panic!("{text:?}"));
        let (_, after) = after.split_once("status ").expect("the shell goes on");
        assert!(after.starts_with("130"), "{signal}: {after:?}");
        assert!(after.contains(" icanon") && after.contains(" echo "), "{signal}: {after:?}");
    }
}
