//! A contender that measures nothing: it computes its answers, or misbehaves on request.
//!
//! It shows how little a program needs to implement the contender protocol, and the tests of `purlin lab` run it with
//! all its faults:
//!
//! ```text
//! purlin lab run -c 'fake=target/debug/examples/fake_contender'
//! fake_contender [--cost K] [--pid-file FILE] [--end-lab FILE] [FAULT | FAULT@EXPERIMENT]…
//! ```
//!
//! A fault applies to every run, or to the runs of one experiment. The file of `--end-lab` holds one line per start of
//! the lab, such as `KILL 7`: at the seventh run the contender sends the lab that signal, gives no answer, and removes
//! the line.
//!
//! Its servers and remote nodes do no work: they send the cost of a message to their client, or to the local node, and
//! receive the number of messages. It also acts as that client, and as a stub of epmd.

#[path = "../../lab/tests/it/support/honest.rs"]
mod honest;

use std::io::{self, BufRead, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// Command-line options.
struct Orders {
    cost: u64,
    faults: Vec<String>,
    /// Memory of the simulated idle processes.
    held: Vec<Vec<u8>>,
    /// When to send the lab a signal.
    ending: Option<Ending>,
    /// The running server and its experiment.
    server: Option<(String, Server)>,
}

/// A server, and the thread that returns the number of messages it was sent.
struct Server {
    address: SocketAddr,
    thread: JoinHandle<io::Result<u64>>,
}

/// What the client sends before the number of messages.
///
/// WHY: a client of another test reconnects to the port of a closed server, and the kernel may assign that port again.
const GREETING: [u8; 8] = *b"messages";
/// Read timeout of a connection. WHY real time: it bounds the time that an unrelated client takes.
const SILENCE: Duration = Duration::from_secs(10);

impl Server {
    fn start(cost: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let thread = thread::spawn(move || {
            loop {
                let (client, _) = listener.accept()?;
                if let Ok(messages) = Self::serve(client, cost) {
                    return Ok(messages);
                }
            }
        });
        Ok(Self { address, thread })
    }

    /// Returns the number of messages that the client sends.
    fn serve(mut client: TcpStream, cost: u64) -> io::Result<u64> {
        client.set_read_timeout(Some(SILENCE))?;
        client.write_all(&cost.to_le_bytes())?;
        let (mut greeting, mut messages) = ([0; 8], [0; 8]);
        client.read_exact(&mut greeting)?;
        client.read_exact(&mut messages)?;
        if greeting == GREETING {
            Ok(u64::from_le_bytes(messages))
        } else {
            Err(io::Error::other("a client of another server"))
        }
    }

    fn stop(self) -> u64 {
        // WHY not if it has ended: the kernel may have assigned the port to a server of another test.
        if !self.thread.is_finished() {
            // The connection ends the accept loop. It fails if the listener has been closed meanwhile.
            let _ = Self::send(&self.address.to_string(), 0);
        }
        self.thread.join().ok().and_then(Result::ok).unwrap_or(0)
    }

    /// Sends the number of messages to a server; returns the cost of one.
    fn send(address: &str, messages: u64) -> io::Result<u64> {
        let mut server = TcpStream::connect(address)?;
        // WHY before the read: Linux does not reset a connection whose handshake was not complete when the
        // listener was closed. The client finds out when it sends.
        server.write_all(&[GREETING, messages.to_le_bytes()].concat())?;
        let mut cost = [0; 8];
        server.read_exact(&mut cost)?;
        Ok(u64::from_le_bytes(cost))
    }
}

/// A signal to the lab after this number of runs.
struct Ending {
    signal: String,
    runs: u64,
    file: String,
}

impl Ending {
    fn read(file: String) -> Option<Self> {
        let text = std::fs::read_to_string(&file).ok()?;
        let (signal, runs) = text.lines().next()?.split_once(' ')?;
        Some(Self { signal: signal.to_owned(), runs: runs.parse().ok()?, file })
    }

    /// Counts a run. Returns whether the signal is due.
    fn strikes(&mut self) -> bool {
        self.runs -= 1;
        self.runs == 0
    }

    /// Removes the line from the file, then sends the signal.
    #[cfg(unix)]
    fn send(&self) -> io::Result<()> {
        let text = std::fs::read_to_string(&self.file)?;
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
        std::fs::write(&self.file, rest)?;
        let lab = std::os::unix::process::parent_id().to_string();
        process::Command::new("kill").args(["-s", &self.signal, &lab]).status().map(drop)
    }

    #[cfg(not(unix))]
    fn send(&self) -> io::Result<()> {
        Err(io::Error::other(format!("there is no {} here to send for {}", self.signal, self.file)))
    }
}

impl Orders {
    fn offers(&self, experiment: &str) -> bool {
        !self.faults.iter().any(|fault| fault.strip_prefix("lacks@") == Some(experiment))
    }
}

fn main() -> io::Result<()> {
    let mut orders =
        Orders { cost: 1, faults: Vec::new(), held: Vec::new(), ending: None, server: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--cost" => orders.cost = words.next().and_then(|cost| cost.parse().ok()).unwrap_or(1),
            "--pid-file" => {
                let file = words.next().unwrap_or_default();
                std::fs::write(file, process::id().to_string())?;
            }
            "--end-lab" => orders.ending = words.next().and_then(Ending::read),
            fault => orders.faults.push(fault.to_owned()),
        }
    }
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?).unwrap_or_default();
        match request["op"].as_str() {
            Some("hello") => {
                if orders.faults.iter().any(|fault| fault == "rude") {
                    print_line("what do you want?")?;
                }
                print_line(&json!({
                    "name": "fake", "version": "fake 1", "os_pid": process::id(),
                    "experiments": honest::EXPERIMENTS.iter().chain(&honest::SERVED).chain(&honest::PAIRED).filter(|id| orders.offers(id)).collect::<Vec<_>>(),
                    "variants": {"signals": ["off_heap", "on_heap"]},
                    "notes": ["It measures nothing."],
                }))?;
            }
            Some("run") => answer(&request, &mut orders)?,
            Some("serve") => {
                let server = Server::start(orders.cost)?;
                print_line(&json!({"address": server.address.to_string()}))?;
                let experiment = request["experiment"].as_str().unwrap_or_default();
                orders.server = Some((experiment.to_owned(), server));
            }
            Some("stop") => {
                let (experiment, server) = orders.server.take().expect("it serves");
                spoilt(&experiment, json!({"received": server.stop()}), &orders)?;
            }
            Some("epmd") => print_line(&json!({"address": "127.0.0.1:1"}))?,
            Some("quit") => return Ok(()),
            _ => print_line(&json!({"error": "what is that?"}))?,
        }
    }
    Ok(())
}

fn answer(request: &Value, orders: &mut Orders) -> io::Result<()> {
    if let Some(ending) = orders.ending.as_mut().filter(|ending| ending.runs > 0)
        && ending.strikes()
    {
        return ending.send();
    }
    let experiment = request["experiment"].as_str().unwrap_or_default();
    let empty = serde_json::Map::new();
    let params = request["params"].as_object().unwrap_or(&empty);
    let mut cost = orders.cost;
    let all = |name: &str| request["params"][name].as_u64().unwrap_or(0);
    if let Some(address) = request["params"]["address"].as_str() {
        cost = Server::send(address, all("connections") * all("messages"))?;
    }
    if let Some(node) = request["params"]["node"].as_str() {
        cost = Server::send(node, all("n"))?;
    }
    let answer = honest::honest(experiment, params, cost);
    if experiment == "idle-memory" {
        // Written to, so that it is resident; the lab measures it from outside.
        let bytes = params["n"].as_u64().unwrap_or(0) * honest::IDLE_BYTES * orders.cost;
        orders.held.push(vec![1; usize::try_from(bytes).unwrap_or(0)]);
    }
    spoilt(experiment, answer, orders)
}

/// Prints an answer after applying the faults.
fn spoilt(experiment: &str, mut answer: Value, orders: &Orders) -> io::Result<()> {
    for fault in &orders.faults {
        let (fault, place) = fault.split_once('@').unwrap_or((fault, experiment));
        if place == experiment {
            // It keeps reading, so that it ends when its standard input is closed.
            if fault == "hangs" {
                return Ok(());
            }
            strike(fault, &mut answer)?;
        }
    }
    print_line(&answer)
}

/// Applies a fault to an answer.
fn strike(fault: &str, answer: &mut Value) -> io::Result<()> {
    let figure = |answer: &Value, name: &str| answer[name].as_u64().unwrap_or(0);
    match fault {
        "loses" if figure(answer, "received") > 0 => {
            answer["received"] = json!(figure(answer, "received") - 1);
        }
        // There is no message to lose, so it loses the end of its countdown.
        "loses" if answer.get("left").is_some() => answer["left"] = json!(1),
        "starves" if answer.get("starved").is_some() => {
            answer["starved"] = json!(1);
            (answer["ops"], answer["received"]) = (json!(0), json!(0));
        }
        "skips" => answer["ops"] = json!(figure(answer, "ops").wrapping_sub(1) >> 1),
        "invents" if answer.get("sent").is_none() => {
            answer["received"] = json!(figure(answer, "received") + 1);
        }
        "invents" => answer["sent"] = json!(figure(answer, "sent") + 1),
        "is-negative" => answer["elapsed_ns"] = json!(-1),
        "is-text" => answer["elapsed_ns"] = json!("soon"),
        "is-list" => *answer = json!([1, 2]),
        "refuses" => *answer = json!({"error": "I would rather not\nreally"}),
        "rambles" => print_line("Hello, here is your \u{7} answer")?,
        // In one write, so that both arrive together.
        "echoes" => io::stdout().write_all(format!("{answer}\n{answer}\n").as_bytes())?,
        "shouts" => {
            // More than the pipe holds.
            for line in 0..5_000 {
                eprintln!("this is line {line} of a great many that were not asked for");
            }
        }
        "dies" => {
            eprintln!("first words");
            eprintln!("I have had enough");
            process::exit(3);
        }
        "breaks-off" => {
            print!("{{\"elapsed_ns\":");
            io::stdout().flush()?;
            process::exit(0);
        }
        "never-ends" => {
            let much = vec![b'x'; 1 << 16];
            for _ in 0..32 {
                io::stdout().write_all(&much)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn print_line(line: &(impl ToString + ?Sized)) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", line.to_string())?;
    out.flush()
}
