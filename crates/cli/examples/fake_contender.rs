//! A contender that measures nothing: it answers by arithmetic, or misbehaves where it is told to.
//!
//! It shows how little a program needs to speak the contender protocol, and the
//! tests of `purlin lab` run it in all its faults:
//!
//! ```text
//! purlin lab run -c 'fake=target/debug/examples/fake_contender'
//! fake_contender [--cost K] [--pid-file FILE] [--end-lab FILE] [FAULT | FAULT@EXPERIMENT]…
//! ```
//!
//! A fault strikes at every run, or at those of one experiment. The file of `--end-lab` holds a
//! line such as `KILL 7` for each time that the lab is started: at the seventh run the lab is sent
//! that signal, no answer is given, and the line goes.
//!
//! Its servers and far nodes serve nothing: they tell their client, or the near node, what a message costs,
//! and are told how many there are. It is that client as well, and an epmd that is none.

#[path = "../../lab/tests/it/support/honest.rs"]
mod honest;

use std::io::{self, BufRead, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// What it was told on its command line.
struct Orders {
    cost: u64,
    faults: Vec<String>,
    /// What its idle processes would take.
    held: Vec<Vec<u8>>,
    /// When the lab is to be sent a signal.
    ending: Option<Ending>,
    /// What it serves, for which experiment.
    server: Option<(String, Server)>,
}

/// A server, and how many messages it was told of.
struct Server {
    address: SocketAddr,
    told: JoinHandle<io::Result<u64>>,
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
        let told = thread::spawn(move || {
            loop {
                let (client, _) = listener.accept()?;
                if let Ok(messages) = Self::serve(client, cost) {
                    return Ok(messages);
                }
            }
        });
        Ok(Self { address, told })
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
        if !self.told.is_finished() {
            // The connection ends the accept loop. It fails if the listener has been closed meanwhile.
            let _ = Self::tell(&self.address.to_string(), 0);
        }
        self.told.join().ok().and_then(Result::ok).unwrap_or(0)
    }

    /// Sends the number of messages to a server; returns the cost of one.
    fn tell(address: &str, messages: u64) -> io::Result<u64> {
        let mut server = TcpStream::connect(address)?;
        // WHY before the read: Linux does not reset a connection whose handshake was not complete when the
        // listener was closed. The client finds out when it sends.
        server.write_all(&[GREETING, messages.to_le_bytes()].concat())?;
        let mut cost = [0; 8];
        server.read_exact(&mut cost)?;
        Ok(u64::from_le_bytes(cost))
    }
}

/// A signal for the lab, in so many runs from now.
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

    /// Whether this run is the one.
    fn strikes(&mut self) -> bool {
        self.runs -= 1;
        self.runs == 0
    }

    /// Sends the signal, after the line in the file is gone.
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
                    say("what do you want?")?;
                }
                say(&json!({
                    "name": "fake", "version": "fake 1", "os_pid": process::id(),
                    "experiments": honest::EXPERIMENTS.iter().chain(&honest::SERVED).chain(&honest::PAIRED).filter(|id| orders.offers(id)).collect::<Vec<_>>(),
                    "variants": {"message-size": ["moved", "copied"], "bandwidth": ["moved"]},
                    "notes": ["It measures nothing."],
                }))?;
            }
            Some("run") => answer(&request, &mut orders)?,
            Some("serve") => {
                let server = Server::start(orders.cost)?;
                say(&json!({"address": server.address.to_string()}))?;
                let experiment = request["experiment"].as_str().unwrap_or_default();
                orders.server = Some((experiment.to_owned(), server));
            }
            Some("stop") => {
                let (experiment, server) = orders.server.take().expect("it serves");
                spoilt(&experiment, json!({"received": server.stop()}), &orders)?;
            }
            Some("epmd") => say(&json!({"address": "127.0.0.1:1"}))?,
            Some("quit") => return Ok(()),
            _ => say(&json!({"error": "what is that?"}))?,
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
        cost = Server::tell(address, all("connections") * all("messages"))?;
    }
    if let Some(node) = request["params"]["node"].as_str() {
        cost = Server::tell(node, all("n"))?;
    }
    let answer = honest::honest(experiment, params, cost);
    if experiment == "idle-memory" {
        // Touched, so that it is resident; the lab looks for itself.
        let bytes = params["n"].as_u64().unwrap_or(0) * honest::IDLE_BYTES * orders.cost;
        orders.held.push(vec![1; usize::try_from(bytes).unwrap_or(0)]);
    }
    spoilt(experiment, answer, orders)
}

/// Gives an answer, after what the faults make of it.
fn spoilt(experiment: &str, mut answer: Value, orders: &Orders) -> io::Result<()> {
    for fault in &orders.faults {
        let (fault, place) = fault.split_once('@').unwrap_or((fault, experiment));
        if place == experiment {
            // It goes on reading, so that it ends when nobody is there any more.
            if fault == "hangs" {
                return Ok(());
            }
            strike(fault, &mut answer)?;
        }
    }
    say(&answer)
}

/// Does what the fault is named after.
fn strike(fault: &str, answer: &mut Value) -> io::Result<()> {
    let figure = |answer: &Value, name: &str| answer[name].as_u64().unwrap_or(0);
    match fault {
        "loses" if figure(answer, "received") > 0 => {
            answer["received"] = json!(figure(answer, "received") - 1);
        }
        // There is no message to lose; then it loses the end of its count.
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
        "rambles" => say("Hello, here is your \u{7} answer")?,
        // In one write, so that they arrive together.
        "echoes" => io::stdout().write_all(format!("{answer}\n{answer}\n").as_bytes())?,
        "shouts" => {
            // More than fits into the pipe.
            for line in 0..5_000 {
                eprintln!("this is line {line} of a great many that nobody asked for");
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

fn say(line: &(impl ToString + ?Sized)) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", line.to_string())?;
    out.flush()
}
