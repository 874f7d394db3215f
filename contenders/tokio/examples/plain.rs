//! Plain tokio programs for some experiments of the lab, without the lab's protocol and code.
//!
//! Reference for the lab's tokio column: each function is what a user of tokio writes first.
//! `scripts/plain-programs.sh` runs it alternately with the contender and compares the times.
//!
//! ```sh
//! cargo run --release -p contender-tokio --example plain -- ping-pong 100000
//! ```
//!
//! Runs the experiment twice, the first time to warm up, and prints the nanoseconds per operation
//! of the second run. `TOKIO_WORKER_THREADS` sets the number of workers.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::timeout;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: plain throughput|fan-in|ping-pong|spawn-chain|fork-join|call N";

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let (Some(name), Some(n), None) = (words.next(), words.next(), words.next()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Ok(n @ 1..=1_000_000_000) = n.parse::<u64>() else {
        eprintln!("plain: N is a number from 1 to 1000000000, not {n:?}");
        return ExitCode::from(2);
    };
    let mut elapsed = None;
    for _ in 0..2 {
        // In a spawned task, as most code of a service: `main` does not run on a worker.
        let run = tokio::spawn(experiment(name.clone(), n));
        elapsed = run.await.expect("the experiment does not panic");
    }
    let Some(elapsed) = elapsed else {
        eprintln!("plain: there is no {name:?}; {USAGE}");
        return ExitCode::from(2);
    };
    println!("{:.2}", elapsed.as_nanos() as f64 / n as f64);
    ExitCode::SUCCESS
}

/// Runs an experiment with n operations; returns `None` for an unknown name.
async fn experiment(name: String, n: u64) -> Option<Duration> {
    let start = Instant::now();
    match name.as_str() {
        "throughput" => fan_in(1, n).await,
        "fan-in" => fan_in(64, n).await,
        "ping-pong" => ping_pong(n).await,
        "spawn-chain" => spawn_chain(n).await,
        "fork-join" => fork_join(n).await,
        "call" => call(n).await,
        _ => return None,
    }
    Some(start.elapsed())
}

async fn fan_in(senders: u64, n: u64) {
    let (tx, mut rx) = mpsc::unbounded_channel();
    for sender in 0..senders {
        let tx = tx.clone();
        let share = n / senders + if sender == 0 { n % senders } else { 0 };
        tokio::spawn(async move {
            for i in 0..share {
                tx.send(i).unwrap();
                if i % 64 == 63 {
                    yield_now().await;
                }
            }
        });
    }
    drop(tx);
    let mut received = 0;
    while rx.recv().await.is_some() {
        received += 1;
    }
    assert_eq!(received, n);
}

async fn ping_pong(n: u64) {
    let (ping, mut pings) = mpsc::unbounded_channel();
    let (pong, mut pongs) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(i) = pings.recv().await {
            pong.send(i).unwrap();
        }
    });
    for i in 0..n {
        ping.send(i).unwrap();
        assert_eq!(pongs.recv().await, Some(i));
    }
}

/// Chains of 1000 tasks, one after the other.
async fn spawn_chain(n: u64) {
    fn next(left: u64, done: oneshot::Sender<()>) {
        tokio::spawn(async move {
            if left == 1 {
                done.send(()).unwrap();
            } else {
                next(left - 1, done);
            }
        });
    }
    let mut left = n;
    while left > 0 {
        let length = left.min(1000);
        let (done, last) = oneshot::channel();
        next(length, done);
        last.await.unwrap();
        left -= length;
    }
}

async fn fork_join(n: u64) {
    let tasks: Vec<_> = (0..n).map(|i| tokio::spawn(async move { i })).collect();
    for (i, task) in (0..n).zip(tasks) {
        assert_eq!(task.await.unwrap(), i);
    }
}

async fn call(n: u64) {
    let (requests, mut server) = mpsc::unbounded_channel::<(u64, oneshot::Sender<u64>)>();
    tokio::spawn(async move {
        while let Some((i, reply)) = server.recv().await {
            reply.send(i).unwrap();
        }
    });
    for i in 0..n {
        let (reply, answer) = oneshot::channel();
        requests.send((i, reply)).unwrap();
        let answer = timeout(Duration::from_secs(5), answer).await;
        assert_eq!(answer.unwrap().unwrap(), i);
    }
}
