//! Measures the cost of observation: a round trip between two processes while many others wait, alternately without a
//! watcher and with one that requests what the page requests.
//!
//! ```sh
//! cargo run --release -p purlin-observer --example cost -- [PROCESSES] [ROUNDS] [SECONDS]
//! ```
//!
//! The defaults are a million processes, five rounds and ten seconds. With a million processes the sampler walks once
//! in nine seconds, so a shorter time may contain no walk.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, io, process, thread};

use purlin::{Node, Pid, Process, SpawnOptions, spawn};
use purlin_observer::{Observed, Observer};

const TOKEN: &str = "this-node-is-only-measured";
/// Round trips between two clock readings.
const BLOCK: u64 = 10_000;

struct Asked {
    processes: usize,
    rounds: usize,
    seconds: u64,
}

fn main() {
    let Some(asked) = asked() else {
        eprintln!("error: give up to three whole numbers above 0: PROCESSES ROUNDS SECONDS");
        process::exit(2);
    };
    if let Err(problem) = run(&asked) {
        eprintln!("error: {problem}");
        process::exit(1);
    }
}

fn asked() -> Option<Asked> {
    let mut numbers = [1_000_000, 5, 10];
    let given: Vec<String> = env::args().skip(1).collect();
    for (at, text) in given.iter().enumerate() {
        *numbers.get_mut(at)? = text.parse().ok().filter(|number| *number > 0)?;
    }
    let [processes, rounds, seconds] = numbers;
    Some(Asked { processes, rounds, seconds: seconds as u64 })
}

fn run(asked: &Asked) -> Result<(), Box<dyn std::error::Error>> {
    let observer = Observer::at(([127, 0, 0, 1], 0).into()).token(TOKEN).silent();
    let node = Node::builder().name("measured").observer(observer.clone()).build()?;
    let address = observer.local_addr().ok_or("the page is not there")?;
    for _ in 0..asked.processes {
        SpawnOptions::new()
            .spawn_on(&node, async |mut me: Process<()>| me.receive().await)
            .map_err(|_| "the node has no room for so many processes")?;
    }
    let time = Duration::from_secs(asked.seconds);
    let (mut closed, mut open, mut pages) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=asked.rounds {
        closed.push(round_trip(&node, time));
        let eye = Eye::open(address)?;
        open.push(round_trip(&node, time));
        pages.extend(eye.close()?);
        let (before, now) = (closed[round - 1], open[round - 1]);
        println!("round {round}: {before:.1} ns a round trip, watched {now:.1}");
    }
    let [before, now] = [&mut closed, &mut open].map(|times| median(times));
    let slower = (now / before - 1.0) * 100.0;
    println!("medians: {before:.1} ns, watched {now:.1}: {slower:+.1} %");
    if !pages.is_empty() {
        let max = pages.iter().copied().fold(0.0, f64::max);
        println!("{} pages: median {:.1} ms, max {max:.1}", pages.len(), median(&mut pages));
    }
    node.stop_blocking();
    Ok(())
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Returns the mean round-trip time between two processes over `time`, in nanoseconds.
fn round_trip(node: &Node, time: Duration) -> f64 {
    node.block_on(async move |mut me: Process<()>| {
        let own = me.pid();
        let partner: Pid<()> = spawn(async move |mut me: Process<()>| {
            loop {
                me.receive().await;
                own.send(());
            }
        });
        let (mut trips, begin) = (0, Instant::now());
        while begin.elapsed() < time {
            for _ in 0..BLOCK {
                partner.send(());
                me.receive().await;
            }
            trips += BLOCK;
        }
        let took = begin.elapsed();
        partner.exit(purlin::ExitReason::Killed);
        took.as_nanos() as f64 / trips as f64
    })
}

/// A watcher that acts as the page does: it reads the event stream and requests a page of the table each second.
struct Eye {
    live: TcpStream,
    follows: thread::JoinHandle<io::Result<()>>,
    stop: mpsc::Sender<()>,
    asks: thread::JoinHandle<io::Result<Vec<f64>>>,
}

impl Eye {
    /// Connects and waits for the first answers.
    fn open(address: SocketAddr) -> io::Result<Self> {
        let live = ask(address, "/api/live")?;
        let mut events = BufReader::new(live.try_clone()?);
        events.read_line(&mut String::new())?;
        let follows = thread::spawn(move || io::copy(&mut events, &mut io::sink()).map(drop));
        page(address)?;
        let (stop, stopped) = mpsc::channel();
        let asks = thread::spawn(move || {
            let mut times = Vec::new();
            while stopped.recv_timeout(Duration::from_secs(1))
                == Err(mpsc::RecvTimeoutError::Timeout)
            {
                let begin = Instant::now();
                page(address)?;
                times.push(begin.elapsed().as_secs_f64() * 1000.0);
            }
            Ok(times)
        });
        Ok(Self { live, follows, stop, asks })
    }

    /// Disconnects and returns the response time of each page in milliseconds.
    fn close(self) -> io::Result<Vec<f64>> {
        drop(self.stop);
        self.live.shutdown(Shutdown::Both)?;
        self.follows.join().expect("it does not panic")?;
        self.asks.join().expect("it does not panic")
    }
}

fn page(address: SocketAddr) -> io::Result<()> {
    let mut answer = Vec::new();
    ask(address, "/api/processes?sort=mailbox&order=desc&limit=100")?.read_to_end(&mut answer)?;
    match answer.starts_with(b"HTTP/1.1 200 ") {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&answer).into_owned())),
    }
}

fn ask(address: SocketAddr, path: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    let fields =
        format!("Host: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n");
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{fields}\r\n").as_bytes())?;
    Ok(stream)
}
