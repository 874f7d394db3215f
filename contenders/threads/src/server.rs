//! Blocking TCP server with one thread per connection.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use purlin_contender::Running;

/// Read and write timeout: how long a client may stay idle, or leave its replies unread.
const SILENCE: Duration = Duration::from_secs(5);

/// Connection handler. Returns the number of acknowledged messages, also after an error.
type Serve = fn(&TcpStream) -> u64;

/// A connection, and the thread that serves it.
type Served = (TcpStream, JoinHandle<u64>);

/// Starts a server.
pub(crate) fn start(serve: Serve) -> Result<Running, String> {
    let said = |error: io::Error| format!("the server cannot be started: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    let address = listener.local_addr().map_err(said)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let stop_flag = Arc::clone(&stopped);
    let acceptor = thread::spawn(move || accept(&listener, &stop_flag, serve));
    Ok(Running::new(address, move || stop(address, &stopped, acceptor)))
}

/// Accepts connections until `stopped` is set.
fn accept(listener: &TcpListener, stopped: &AtomicBool, serve: Serve) -> Vec<Served> {
    let mut served = Vec::new();
    for stream in listener.incoming() {
        // ORDER: relaxed, as the store in `stop`: no other data depends on it.
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        if let Ok(stream) = stream
            && let Ok(own) = ready(&stream)
        {
            served.push((
                stream,
                thread::spawn(move || {
                    let received = serve(&own);
                    // WHY: the other handle lives until the server stops and would keep the socket
                    // open.
                    let _ = own.shutdown(Shutdown::Both);
                    received
                }),
            ));
        }
    }
    served
}

fn ready(stream: &TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    stream.try_clone()
}

/// Stops the server. New connections are refused; open connections acknowledge the data they have
/// read.
fn stop(
    address: SocketAddr,
    stopped: &AtomicBool,
    acceptor: JoinHandle<Vec<Served>>,
) -> Result<u64, String> {
    stopped.store(true, Ordering::Relaxed);
    // Wakes the acceptor, which blocks in `accept`.
    TcpStream::connect(address)
        .map_err(|error| format!("the server cannot be stopped: {error}"))?;
    let served = acceptor.join().map_err(|_| "the acceptor has failed")?;
    let mut received = 0;
    for (stream, thread) in served {
        // Fails if the connection is already closed.
        let _ = stream.shutdown(Shutdown::Read);
        received += thread.join().map_err(|_| "a connection has failed")?;
    }
    Ok(received)
}
