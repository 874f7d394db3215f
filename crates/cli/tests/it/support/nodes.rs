//! Test support: an epmd on a private port, `erl`, and `purlin node`.

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

/// A port reserved on all addresses of this machine while this exists. The system assigns it to no program that asks
/// for any port; a program that names the port can listen on it.
pub(crate) struct Port {
    number: String,
    /// WHY bound and not listening: the system then assigns the port to no other program, but lets programs that set
    /// `SO_REUSEADDR`, as all in these tests do, listen on it.
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

/// Reserves a free port.
pub(crate) fn free_port() -> Port {
    let held = TcpSocket::new_v4().expect("a socket");
    held.set_reuseaddr(true).expect("it is new");
    held.bind((Ipv4Addr::UNSPECIFIED, 0).into()).expect("a port");
    let number = held.local_addr().expect("an address").port().to_string();
    Port { number, _held: held }
}

/// Starts OTP's epmd on this port.
pub(crate) fn epmd(port: &str) -> Running {
    // WHY `-d` twice: epmd then logs to standard error when it listens.
    let mut command = Command::new("sh");
    command.args(["-c", "exec epmd -d -d -address 127.0.0.1 -port \"$1\" 2>&1", "sh", port]);
    let mut epmd = Running::start(&mut command);
    while !epmd.line().contains("main select") {
        assert!(epmd.goes_on(), "epmd ended");
    }
    epmd
}

/// Configuration of OTP's logger: standard error instead of standard output.
const LOG_TO_STDERR: &str =
    "[{handler, default, logger_std_h, #{config => #{type => standard_error}}}]";

fn erl(folder: &Path, port: &str, form: &str, name: &str) -> Command {
    let mut command = Command::new("erl");
    command
        .args(["+S", "1:1", "+sbwt", "none", "-noinput", "-start_epmd", "false"])
        .args(["-boot", "start_clean", form, name, "-setcookie", COOKIE])
        // WHY: a report on standard output would be taken for an answer.
        .args(["-kernel", "logger", LOG_TO_STDERR])
        .env("ERL_EPMD_PORT", port)
        .env("HOME", folder);
    command
}

/// Starts a BEAM node.
pub(crate) fn beam(folder: &Path, port: &str, alive: &str) -> Running {
    start_beam(erl(folder, port, "-name", &format!("{alive}@127.0.0.1")))
}

/// Starts a BEAM node with that short name.
pub(crate) fn short_beam(folder: &Path, port: &str, name: &str) -> Running {
    start_beam(erl(folder, port, "-sname", name))
}

fn start_beam(mut command: Command) -> Running {
    let mut beam = Running::start(command.args(["-eval", "io:format(\"ready~n\")"]));
    assert_eq!(beam.line(), "ready");
    beam
}

/// Evaluates expressions on a BEAM node. Returns each value as one line.
pub(crate) fn eval(folder: &Path, port: &str, expressions: &[&str]) -> Vec<String> {
    let mut program = String::new();
    for expression in expressions {
        program += &format!("io:format(\"~0tp~n\", [{expression}]), ");
    }
    program += "halt()";
    let mut command = erl(folder, port, "-name", "asks@127.0.0.1");
    let output = command.args(["-eval", &program]).output().expect("erl is there");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Starts `purlin node`. Returns it with the lines it printed until it was up.
pub(crate) fn node(folder: &Path, port: &str, words: &[&str]) -> (Running, Vec<String>) {
    named(folder, port, "ours@127.0.0.1", words)
}

/// Starts a node with that name. Its standard error is in the file `errors`.
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

/// Returns the lines a node has logged to standard error.
///
/// WHY without hogs: a process preempted by the operating system for 10 ms looks like one that does not await, so these
/// lines depend on the load of the machine.
pub(crate) fn logged(folder: &Path) -> Vec<String> {
    let errors = std::fs::read_to_string(folder.join("errors")).expect("it is there");
    let of_others = errors.lines().filter(|line| !line.contains(" purlin::stalled: "));
    of_others.map(str::to_owned).collect()
}

/// Runs `purlin` with these arguments to its end. A call waits for its answer as long as a test waits for an event,
/// unless the arguments set a timeout.
pub(crate) fn run(folder: &Path, port: &str, words: &[&str]) -> Output {
    let mut command = purlin(folder);
    command.args(words);
    if words.first() == Some(&"call") && !words.contains(&"--timeout") {
        command.args(["--timeout", &HANG.as_secs().to_string()]);
    }
    command.env("ERL_EPMD_PORT", port).env("HOME", folder);
    command.output().expect("purlin runs")
}

/// Writes the cookie file that `erl` reads.
pub(crate) fn keep_cookie(folder: &Path, cookie: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(".erlang.cookie");
    let mut file = std::fs::File::create(&path).expect("the folder is writable");
    file.write_all(cookie.as_bytes()).expect("the folder is writable");
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(&path, permissions).expect("it is ours");
}
