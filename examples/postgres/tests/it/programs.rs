//! Programs started by a test, which end with it, even if the test is killed.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use purlin_polling::HANG;
use socket2::{Domain, Socket, Type};

/// Script that runs the arguments after the first one as a program, and sends it the signal that is
/// the first one when its own standard input is closed, which happens when the test ends in any
/// way. The program prints its process id first.
const TETHER: &str = "ulimit -c 0
    signal=$1
    shift
    sh -c 'echo \"pid $$\"; exec \"$@\"' sh \"$@\" &
    exec >/dev/null 2>&1
    cat
    kill -s \"$signal\" $!
    wait $!";

/// A program that does not read its standard input. Dropping it ends the program.
pub(crate) struct Tethered {
    tether: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    pid: u32,
}

impl Tethered {
    /// Starts the program after the command has been changed by `set`. `signal` ends the program.
    pub(crate) fn start(program: &[&str], signal: &str, set: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", TETHER, "sh", signal]).args(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        set(&mut command);
        let mut tether = command.spawn().expect("there is a shell");
        let stdin = tether.stdin.take();
        let output = BufReader::new(tether.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        // Reads on when nobody wants the lines, so that the program never waits for a reader.
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut started = Self { tether, stdin, lines, pid: 0 };
        let pid = started.said("pid ").expect("the shell prints it");
        started.pid = pid.parse().expect("a number");
        started
    }

    /// Returns the id of the program's process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
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

    /// Ends the program and waits for its end.
    pub(crate) fn end(&mut self) {
        drop(self.stdin.take());
        let _ = self.tether.wait();
    }
}

impl Drop for Tethered {
    fn drop(&mut self) {
        self.end();
    }
}

/// Starts the server of the example.
pub(crate) fn start_server(address: SocketAddr, database: &str) -> Tethered {
    let program = [env!("CARGO_BIN_EXE_postgres_server"), &address.to_string(), database];
    let server = Tethered::start(&program, "KILL", |_| ());
    server.said("listening on ").expect("it starts");
    server
}

/// Kills processes by `kill -9`. They may have ended already.
pub(crate) fn kill_9(processes: &[u32]) {
    let processes: Vec<String> = processes.iter().map(u32::to_string).collect();
    let mut command = Command::new("kill");
    command.arg("-9").args(processes).stderr(Stdio::null());
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
