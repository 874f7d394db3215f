//! Programs started by a test, which end with it, even if the test is killed.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use purlin_polling::HANG;
use socket2::{Domain, Socket, Type};

/// A program whose output is read. Dropping it ends the program.
pub(crate) struct Program {
    child: Child,
    signal: &'static str,
    lines: Receiver<String>,
    _reaper: Reaper,
}

impl Program {
    /// Starts a program that this signal ends.
    pub(crate) fn start(command: &mut Command, signal: &'static str) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("it is there");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        // Reads all lines, also those that the test does not use, so that the program never blocks.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let reaper = Reaper::of(&child, signal);
        Self { child, signal, lines, _reaper: reaper }
    }

    /// Returns the id of the process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains this text and returns the rest of the line. Returns `None` if
    /// the program ends without it.
    pub(crate) fn said(&self, text: &str) -> Option<String> {
        loop {
            // CLOCK: a guard against hanging.
            let line = match self.lines.recv_timeout(HANG) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(error) => panic!("waiting for '{text}': {error}"),
            };
            if let Some((_, rest)) = line.split_once(text) {
                return Some(rest.to_owned());
            }
        }
    }

    /// Ends the program and waits for its end. Returns its status.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        // WHY only then: the system may have given the id of a program that has ended to another.
        if let Ok(None) = self.child.try_wait() {
            kill(self.signal, &[self.pid()]);
        }
        self.child.wait().ok()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Process that sends a signal to another if the test ends without dropping it.
pub(crate) struct Reaper(Child);

impl Reaper {
    /// Starts the reaper of a process.
    pub(crate) fn of(child: &Child, signal: &str) -> Self {
        // Its standard input is closed when the test ends in any way.
        let mut reaper = Command::new("sh");
        reaper.args(["-c", "cat >/dev/null; kill -s \"$0\" \"$1\"", signal]);
        reaper.arg(child.id().to_string());
        Self(reaper.stdin(Stdio::piped()).spawn().expect("there is a shell"))
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal to processes, which may have ended already.
pub(crate) fn kill(signal: &str, processes: &[u32]) {
    let processes = processes.iter().map(u32::to_string);
    let mut command = Command::new("kill");
    command.args(["-s", signal]).args(processes).stderr(Stdio::null());
    command.status().expect("there is a kill");
}

/// Returns the children of a process.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=", "-o", "ppid="]).output();
    let listed = String::from_utf8(listed.expect("there is a ps").stdout).expect("numbers");
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u32>());
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    };
    let all = listed.lines().filter_map(pair);
    all.filter(|(_, parent)| *parent == of).map(|(pid, _)| pid).collect()
}

/// Reserves a port for the server while it is down.
///
/// WHY bound and not listening: the kernel assigns the port to no other socket, and a server that
/// sets `SO_REUSEADDR` can still listen on it.
pub(crate) fn free_port() -> (SocketAddr, Socket) {
    let held = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    held.set_reuse_address(true).expect("it is new");
    held.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a port is free");
    let address = held.local_addr().expect("it is bound").as_socket().expect("it is of IP");
    (address, held)
}
