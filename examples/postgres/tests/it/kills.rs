//! Server, clients and database are killed at random moments while messages are sent. In the end
//! the database has each message once, and in between every acknowledged one.
//!
//! `PURLIN_KILLS` sets the number of kills, `PURLIN_SEED` repeats a run.

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use fastrand::Rng;
use purlin_polling::HANG;

use crate::database::{Database, database};
use crate::programs::{Program, Reaper, free_port, kill};
use crate::server::start_server;

const CLIENTS: usize = 2;
/// Lines that a client has and that are not answered.
const AHEAD: u64 = 500;
/// Every line with this remainder by 100 is not UTF-8, and is refused.
const REFUSED: u64 = 42;

/// A line of a client's output, or the end of it.
struct Event {
    client: usize,
    /// Number of the process, counted over all clients.
    process: usize,
    line: Option<String>,
}

/// A client, over all its processes.
struct Client {
    outbox: PathBuf,
    process: usize,
    child: Child,
    _reaper: Reaper,
    stdin: Option<ChildStdin>,
    /// For each line that the client holds, or that was written to the process that is running now:
    /// the number of the process to which it was written. A line is these two numbers.
    lines: Vec<usize>,
    /// Lower bound of the number of answered messages.
    answered: u64,
    refused: BTreeSet<u64>,
    done: bool,
    killed: bool,
}

struct World {
    database: Database,
    server: Program,
    address: SocketAddr,
    clients: Vec<Client>,
    processes: usize,
    sender: Sender<Event>,
    events: Receiver<Event>,
}

#[test]
fn database_has_each_message_once_after_random_kills() {
    let Some(database) = database() else { return };
    let number = |name| env::var(name).ok().map(|value| value.parse().expect("a number"));
    let kills = number("PURLIN_KILLS").unwrap_or(6);
    let seed = number("PURLIN_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("PURLIN_KILLS={kills} PURLIN_SEED={seed}");
    let mut random = Rng::with_seed(seed);
    let folder = tempfile::tempdir().expect("a folder");
    let (address, _port) = free_port();
    let (sender, events) = channel();
    let (clients, processes) = (Vec::new(), 0);
    let server = start_server(address, &database.connection());
    let mut world = World { database, server, address, clients, processes, sender, events };
    for client in 0..CLIENTS {
        let outbox = folder.path().join(format!("outbox-{client}"));
        let started = world.start_client(client, outbox);
        world.clients.push(started);
    }

    let mut victims: Vec<usize> = Vec::new();
    for _ in 0..kills {
        let answers = random.u32(1..20);
        (0..answers).for_each(|_| world.until_answered());
        if victims.is_empty() {
            victims = vec![0, 1, 2];
            random.shuffle(&mut victims);
        }
        match victims.pop() {
            Some(0) => world.kill_server(),
            Some(1) => world.kill_client(random.usize(..CLIENTS)),
            _ => world.database.kill_and_restart(),
        }
        world.check_answered();
    }
    world.finish();
    world.check_all();
}

impl World {
    fn kill_server(&mut self) {
        kill("KILL", &[self.server.pid()]);
        self.server.end();
        self.server = start_server(self.address, &self.database.connection());
    }

    fn start_client(&mut self, client: usize, outbox: PathBuf) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postgres_client"));
        command.arg(self.address.to_string()).arg(&outbox);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (stdin, output) = (child.stdin.take(), child.stdout.take().expect("it is piped"));
        let (process, sender) = (self.processes, self.sender.clone());
        self.processes += 1;
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines.map(Some).chain([None]) {
                // The test may have failed.
                let _ = sender.send(Event { client, process, line });
            }
        });
        let reaper = Reaper::of(&child, "KILL");
        let (lines, answered) = (Vec::new(), 0);
        let (refused, done, killed) = (BTreeSet::new(), false, false);
        Client {
            outbox,
            process,
            child,
            _reaper: reaper,
            stdin,
            lines,
            answered,
            refused,
            done,
            killed,
        }
    }

    fn kill_client(&mut self, client: usize) {
        let killed = &mut self.clients[client];
        killed.killed = true;
        killed.child.kill().expect("it can be killed");
        killed.child.wait().expect("it is killed");
        // What it has printed counts.
        while self.clients[client].stdin.is_some() {
            self.handle_event();
        }
        let outbox = self.clients[client].outbox.clone();
        let started = self.start_client(client, outbox);
        let mut before = std::mem::replace(&mut self.clients[client], started);
        let now = &mut self.clients[client];
        (now.lines, now.answered) = (std::mem::take(&mut before.lines), before.answered);
        now.refused = std::mem::take(&mut before.refused);
    }

    /// Waits until a client has printed that messages are answered.
    fn until_answered(&mut self) {
        let answered =
            |world: &Self| world.clients.iter().map(|client| client.answered).sum::<u64>();
        let before = answered(self);
        while answered(self) == before {
            self.handle_event();
        }
    }

    fn handle_event(&mut self) {
        // CLOCK: a guard against hanging.
        let event = self.events.recv_timeout(HANG).expect("a client prints something");
        let client = &mut self.clients[event.client];
        assert_eq!(event.process, client.process, "all lines of a killed client are read first");
        let Some(line) = event.line else {
            assert!(client.killed || client.done, "client {} has ended", event.client);
            client.stdin = None;
            return;
        };
        let (what, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let number = rest.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        match what {
            "holds" => {
                assert!(number >= client.answered, "the outbox has all answered messages");
                // It has not read the others, and others are written in their place.
                client.lines.truncate(number as usize);
                assert_eq!(client.lines.len() as u64, number, "it holds what was written to it");
            }
            "answered" => client.answered = client.answered.max(number + 1),
            "refused" => {
                client.refused.insert(number);
            }
            "done" => client.done = true,
            _ => panic!("client {}: '{line}'", event.client),
        }
        client.write();
    }

    /// Checks that the database has all messages that are answered.
    fn check_answered(&self) {
        let stored = self.database.query("select newest + 1 from positions");
        let stored: u64 = stored.iter().map(|row| row.parse::<u64>().expect("a number")).sum();
        let answered: u64 = self.clients.iter().map(|client| client.answered).sum();
        assert!(stored >= answered, "{answered} are answered, and {stored} are stored");
    }

    /// Ends the input of all clients, and waits until they have ended in order.
    fn finish(&mut self) {
        self.clients.iter_mut().for_each(|client| drop(client.stdin.take()));
        while self.clients.iter().any(|client| !client.done) {
            self.handle_event();
        }
        for client in &mut self.clients {
            assert!(client.child.wait().expect("it ends").success());
        }
    }

    fn check_all(&self) {
        for (number, client) in self.clients.iter().enumerate() {
            let outbox = std::fs::read_to_string(&client.outbox).expect("it is there");
            let (id, epoch) = outbox.trim().split_once(' ').expect("only its first line is left");
            assert_eq!(epoch, "2", "all messages of epoch 1 are answered");
            let of_client = format!("where client = '\\x{id}' and epoch = 1 order by number");
            let due = 0..client.lines.len() as u64;
            let messages = format!("select number, payload from messages {of_client}");
            let stored = due.clone().filter(|number| number % 100 != REFUSED);
            let line = |number| format!("{number}|{number} {}", client.lines[number as usize]);
            let stored: Vec<_> = stored.map(line).collect();
            assert!(
                self.database.query(&messages) == stored,
                "client {number}: each once, in order"
            );
            let refusals = format!("select number from refusals {of_client}");
            let refused: BTreeSet<u64> = due.filter(|number| number % 100 == REFUSED).collect();
            let rows = self.database.query(&refusals);
            assert!(
                rows.iter()
                    .map(|row| row.parse::<u64>().expect("a number"))
                    .eq(refused.iter().copied())
            );
            assert_eq!(client.refused, refused, "client {number} was told every refusal");
            assert_eq!(client.answered, client.lines.len() as u64);
        }
        let others = self.database.query("select count(*) from messages where epoch <> 1");
        assert_eq!(others, ["0"]);
        println!(
            "{} messages",
            self.clients.iter().map(|client| client.lines.len()).sum::<usize>()
        );
    }
}

impl Client {
    /// Writes lines until as many as [`AHEAD`] are not answered.
    fn write(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        let mut lines = Vec::new();
        for number in self.lines.len() as u64..self.answered + AHEAD {
            if number % 100 == REFUSED {
                lines.push(0xff);
            }
            lines.extend(format!("{number} {}\n", self.process).into_bytes());
            self.lines.push(self.process);
        }
        // A killed client reads no more.
        let _ = stdin.write_all(&lines);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The test may have failed; otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
