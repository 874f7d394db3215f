//! Ack servers: `ack-request-reply` to `ack-best`.
//!
//! An accept loop and a coroutine per connection. A strategy is a function that reads from a
//! connection, writes acks, and returns the number of acknowledged messages when the connection has
//! ended.

mod buffer;
mod collected;
mod connection;
mod direct;
mod each;
mod responder;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use may::coroutine::{JoinHandle, sleep};
use may::go;
use may::net::TcpListener;
use purlin_contender::{Running, Serve};

use connection::Connection;

/// Pause after a failed accept, which mostly means that no descriptor is free.
const PAUSE: Duration = Duration::from_millis(10);

/// Serves a connection.
type Strategy = Box<dyn Fn(Connection) -> u64 + Send + Sync>;

/// Starts a server.
pub(crate) fn start(asked: Serve) -> Result<Running, String> {
    if asked.cores.is_some() {
        return Err("the number of workers is set when the program starts; use --workers".into());
    }
    let strategy = strategy(asked)?;
    let said = |error: io::Error| format!("the server cannot be started: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    let address = listener.local_addr().map_err(said)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let stop_flag = Arc::clone(&stopped);
    let accepting = go!(move || accept(&listener, &stop_flag, Arc::new(strategy)));
    Ok(Running::new(address, move || stop(address, &stopped, accepting)))
}

fn strategy(asked: Serve) -> Result<Strategy, String> {
    Ok(match (asked.strategy, asked.each) {
        ("request-reply", _) => Box::new(direct::request_reply),
        ("throttle", _) => Box::new(collected::throttle),
        ("head-rest", _) => Box::new(collected::head_rest),
        ("sync-ack", _) => Box::new(|connection| direct::sync_ack(connection, direct::USUAL)),
        ("async-ack", _) => Box::new(responder::async_ack),
        ("best", false) => Box::new(|connection| direct::sync_ack(connection, direct::LARGE)),
        ("best", true) => {
            let taker = each::start();
            Box::new(move |connection| each::best(connection, &taker.clone()))
        }
        (other, _) => return Err(format!("this contender does not serve {other}")),
    })
}

/// Accepts connections until `stopped` is set.
fn accept(
    listener: &TcpListener,
    stopped: &Arc<AtomicBool>,
    strategy: Arc<Strategy>,
) -> Vec<JoinHandle<u64>> {
    let mut serving = Vec::new();
    loop {
        let accepted = listener.accept();
        // ORDER: relaxed, as all accesses to the flag: no other data depends on it.
        if stopped.load(Ordering::Relaxed) {
            return serving;
        }
        match accepted.and_then(|(stream, _)| Connection::new(stream, stopped)) {
            Ok(connection) => {
                let strategy = Arc::clone(&strategy);
                serving.push(go!(move || strategy(connection)));
            }
            Err(_) => sleep(PAUSE),
        }
    }
}

/// Stops the server. Open connections acknowledge the data they have read.
fn stop(
    address: SocketAddr,
    stopped: &AtomicBool,
    accepting: JoinHandle<Vec<JoinHandle<u64>>>,
) -> Result<u64, String> {
    stopped.store(true, Ordering::Relaxed);
    // Wakes the accept loop.
    std::net::TcpStream::connect(address)
        .map_err(|error| format!("the server cannot be stopped: {error}"))?;
    let serving = accepting.join().map_err(|_| "the accept loop has failed")?;
    let mut received = 0;
    for connection in serving {
        received += connection.join().map_err(|_| "a connection has failed")?;
    }
    Ok(received)
}
