//! Benchmark: cost of ten thousand idle connections and their effect on a busy one.
//!
//! ```sh
//! ulimit -n 20000
//! cargo run --release -p purlin-ack --example idle_crowd -- 10000 5
//! ```
//!
//! A server of the strategy `best` runs in a separate process and discards messages. One connection
//! sends messages of 17 bytes for two seconds, as fast as possible, and verifies that all are
//! acknowledged. It alternates without and with the idle connections, for the given number of
//! rounds. Prints a line per run, and the medians.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use purlin::{Node, Process};
use purlin_ack::server::{Limits, Server};
use purlin_ack::wire::{ACK, Ack, Head, Id, SizeOrder};

type Failure = Box<dyn Error + Send + Sync>;

/// Duration of a run.
const BUSY: Duration = Duration::from_secs(2);
/// Time after which a connection is idle and has freed its buffer.
const REST: Duration = Duration::from_millis(1500);
/// Messages per write.
const BATCH: usize = 16_384;

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve(),
        [] => compare(10_000, 5),
        [crowd] => compare(crowd.parse()?, 5),
        [crowd, rounds] => compare(crowd.parse()?, rounds.parse()?),
        _ => Err("give the number of idle connections, and of rounds".into()),
    }
}

/// Runs the server until its standard input is closed.
fn serve() -> Result<(), Failure> {
    let node = Node::builder().build()?;
    let on = node.clone();
    let anywhere = (Ipv4Addr::UNSPECIFIED, 0).into();
    // All idle connections may come from one address.
    let limits = Limits { per_address: usize::MAX, ..Limits::default() };
    let builder = Server::builder(anywhere).limits(limits);
    let server = node.block_on(async move |_: Process<()>| builder.start(&on).await)?;
    println!("{}", server.local_addr().port());
    io::stdin().read_line(&mut String::new())?;
    node.block_on(async move |_: Process<()>| server.drain().await);
    node.stop_blocking();
    Ok(())
}

fn compare(crowd: usize, rounds: usize) -> Result<(), Failure> {
    let mut server = Command::new(env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let compared = rates(&mut server, crowd, rounds);
    drop(server.stdin.take());
    let ended = server.wait()?;
    compared?;
    if ended.success() { Ok(()) } else { Err("the server has failed".into()) }
}

fn rates(server: &mut Child, crowd: usize, rounds: usize) -> Result<(), Failure> {
    let mut line = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut line)?;
    let port = line.trim().parse()?;
    // Warm-up, not measured.
    busy(port)?;
    let (mut alone, mut crowded) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(shown(server, port, 0)?);
        let before = resident(server)?;
        let clients =
            (0..crowd).map(|number| idle(number, port)).collect::<io::Result<Vec<_>>>()?;
        // CLOCK: the machine's
        thread::sleep(REST);
        let each = resident(server)?.saturating_sub(before) / crowd.max(1) as u64;
        println!("{crowd} idle connections take {each} bytes each");
        crowded.push(shown(server, port, crowd)?);
        drop(clients);
        // CLOCK: the machine's
        thread::sleep(REST);
    }
    let (alone, crowded) = (median(alone), median(crowded));
    println!("median alone {alone:.1} M/s, in the crowd {crowded:.1} M/s: {:.3}", crowded / alone);
    Ok(())
}

fn shown(server: &Child, port: u16, crowd: usize) -> Result<f64, Failure> {
    let rate = busy(port)?;
    let resident = resident(server)? >> 20;
    println!("{crowd:>6} idle: {rate:.1} M/s, {resident} MB resident");
    Ok(rate)
}

/// Opens a connection that sends one message, receives its ack, and stays idle.
fn idle(number: usize, port: u16) -> io::Result<TcpStream> {
    // WHY several addresses: each offers only some tens of thousands of ports.
    let to = Ipv4Addr::new(127, 0, 0, (number % 4) as u8 + 2);
    let mut stream = TcpStream::connect(SocketAddr::from((to, port)))?;
    stream.write_all(&message(0))?;
    stream.read_exact(&mut [0; ACK])?;
    Ok(stream)
}

/// Sends for [`BUSY`] and waits for all acks. Returns millions of messages per second.
fn busy(port: u16) -> Result<f64, Failure> {
    let mut stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let batch: Vec<u8> = (0..BATCH as u64).flat_map(message).collect();
    let began = Instant::now();
    let mut sent = 0;
    while began.elapsed() < BUSY {
        stream.write_all(&batch)?;
        sent += BATCH as u64;
    }
    stream.shutdown(Shutdown::Write)?;
    let mut acks = Vec::new();
    stream.read_to_end(&mut acks)?;
    let took = began.elapsed();
    let (acks, []) = acks.as_chunks::<ACK>() else { return Err("an ack is cut".into()) };
    let acked: u64 = acks.iter().map(|ack| u64::from(Ack::from_bytes(*ack).skipped) + 1).sum();
    if acked != sent {
        return Err(format!("{sent} messages were sent and {acked} acknowledged").into());
    }
    Ok(sent as f64 / took.as_secs_f64() / 1e6)
}

fn message(id: u64) -> Vec<u8> {
    let head = Head { id: Id::from(id), size: 5 }.to_bytes(SizeOrder::Little);
    [&head[..], b"hello"].concat()
}

fn resident(server: &Child) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size =
        line.and_then(|line| line.trim().strip_suffix("kB")).ok_or("no memory is reported")?;
    Ok(size.trim().parse::<u64>()? * 1024)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
