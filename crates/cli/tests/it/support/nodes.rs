//! Nodes for tests: an epmd on a port of its own, the real `erl`, and `purlin node`.

use std::fmt;
use std::io::Write;
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Output};

use tokio::net::TcpSocket;

use super::running::Running;
use super::{HANG, purlin};

pub(crate) const COOKIE: &str = "monster";

/// A port of all addresses of this machine, which as long as this is there nobody gets who asks for any. Who says
/// that it is to be this one can listen on it.
pub(crate) struct Port {
    number: String,
    /// WHY bound and not listening: the system then gives it to nobody by itself, and lets others that reuse
    /// addresses, as all that listen here do, have it.
    _held: TcpSocket,
}

impl Deref for Port {
    type Target = str;

    fn deref(&self) -> &str {
        &self.number
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

/// A port that nobody has.
pub(crate) fn free_port() -> Port {
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("it is new");
    held.bind((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a port");
    let number = held.local_addr().expect("an address").port().to_string();
    Port { number, _held: held }
}

/// An epmd, OTP's, on this port.
pub(crate) fn epmd(port: &str) -> Running {
    // WHY twice -d: it then says when it listens, on its standard error.
    let mut command = Command::new("sh");
    command.args(["-c", "exec epmd -d -d -address 127.0.0.1 -port \"$1\" 2>&1", "sh", port]);
    let mut epmd = Running::start(&mut command);
    while !epmd.line().contains("main select") {
        assert!(epmd.goes_on(), "epmd ended");
    }
    epmd
}

/// OTP's logger, with standard error in place of standard output.
const LOG_TO_STDERR: &str =
    "[{handler, default, logger_std_h, #{config => #{type => standard_error}}}]";

fn erl(folder: &Path, port: &str, alive: &str) -> Command {
    let name = format!("{alive}@127.0.0.1");
    let mut command = Command::new("erl");
    command
        .args(["+S", "1:1", "+sbwt", "none", "-noinput", "-start_epmd", "false"])
        .args(["-boot", "start_clean", "-name", &name, "-setcookie", COOKIE])
        // WHY: a report on its standard output would be taken for what it was told to print.
        .args(["-kernel", "logger", LOG_TO_STDERR])
        .env("ERL_EPMD_PORT", port)
        .env("HOME", folder);
    command
}

/// A node of the BEAM that is up.
pub(crate) fn beam(folder: &Path, port: &str, alive: &str) -> Running {
    let mut command = erl(folder, port, alive);
    let mut beam = Running::start(command.args(["-eval", "io:format(\"ready~n\")"]));
    assert_eq!(beam.line(), "ready");
    beam
}

/// What a node of the BEAM finds for an expression, in one line each.
pub(crate) fn eval(folder: &Path, port: &str, expressions: &[&str]) -> Vec<String> {
    let mut program = String::new();
    for expression in expressions {
        program += &format!("io:format(\"~0tp~n\", [{expression}]), ");
    }
    program += "halt()";
    let mut command = erl(folder, port, "asks");
    let output = command.args(["-eval", &program]).output().expect("erl is there");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// `purlin node`, which has said this before it was up, and how it can be reached.
pub(crate) fn node(folder: &Path, port: &str, words: &[&str]) -> (Running, Vec<String>) {
    named(folder, port, "ours@127.0.0.1", words)
}

/// A node of that name. What it tells on its standard error is in the file `errors`.
pub(crate) fn named(
    folder: &Path,
    port: &str,
    name: &str,
    words: &[&str],
) -> (Running, Vec<String>) {
    let mut command = purlin(folder);
    let errors = std::fs::File::create(folder.join("errors")).expect("the folder is writable");
    command.args(["node", "--name", name]).args(words).stderr(errors);
    command.env("ERL_EPMD_PORT", port).env("HOME", folder);
    let mut node = Running::start(&mut command);
    let mut said = vec![node.line()];
    while said.last().is_some_and(|line| !line.contains(" is up")) {
        let why = || std::fs::read_to_string(folder.join("errors")).expect("it is there");
        assert!(said.last() != Some(&String::new()), "it ended: {}", why());
        said.push(node.line());
    }
    (node, said)
}

/// What a node has told on its standard error, line by line.
///
/// WHY without hogs: a thread that the machine takes away from a process for 10 ms looks like a process that does
/// not await, so that these lines depend on what else runs.
pub(crate) fn logged(folder: &Path) -> Vec<String> {
    let errors = std::fs::read_to_string(folder.join("errors")).expect("it is there");
    let of_others = errors.lines().filter(|line| !line.contains(" purlin::hog: "));
    of_others.map(str::to_owned).collect()
}

/// `purlin` with these words, to its end. A call waits for its answer as long as a test waits for an event, unless
/// the words say otherwise.
pub(crate) fn run(folder: &Path, port: &str, words: &[&str]) -> Output {
    let mut command = purlin(folder);
    command.args(words);
    if words.first() == Some(&"call") && !words.contains(&"--timeout") {
        command.args(["--timeout", &HANG.as_secs().to_string()]);
    }
    command.env("ERL_EPMD_PORT", port).env("HOME", folder);
    command.output().expect("purlin runs")
}

/// Writes the cookie where `erl` has it.
pub(crate) fn keep_cookie(folder: &Path, cookie: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(".erlang.cookie");
    let mut file = std::fs::File::create(&path).expect("the folder is writable");
    file.write_all(cookie.as_bytes()).expect("the folder is writable");
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&path, permissions).expect("it is ours");
}
