//! Listens, starts a thread for each connection, and ends all of them.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use purlin_contender::Running;

/// How long a client may be silent, or not read what it is sent.
const SILENCE: Duration = Duration::from_secs(5);

/// What serves a connection: gives how many messages it acknowledged, however it ended.
type Serve = fn(&TcpStream) -> u64;

/// One that is served, and the thread that serves it.
type Served = (TcpStream, JoinHandle<u64>);

/// Starts a server.
pub(crate) fn start(serve: Serve) -> Result<Running, String> {
    let said = |error: io::Error| format!("the server cannot be started: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(said)?;
    let address = listener.local_addr().map_err(said)?;
    let stopped = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stopped);
    let acceptor = thread::spawn(move || accept(&listener, &told, serve));
    Ok(Running::new(address, move || stop(address, &stopped, acceptor)))
}

/// Accepts until it is told to stop.
fn accept(listener: &TcpListener, stopped: &AtomicBool, serve: Serve) -> Vec<Served> {
    let mut served = Vec::new();
    for stream in listener.incoming() {
        // ORDER: with the store in `stop`; it carries nothing else.
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
                    // WHY: the other handle is kept until the server stops, and would keep it open.
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

/// Ends all of it: nobody is let in any more, and who is there may finish what was read.
fn stop(
    address: SocketAddr,
    stopped: &AtomicBool,
    acceptor: JoinHandle<Vec<Served>>,
) -> Result<u64, String> {
    stopped.store(true, Ordering::Relaxed);
    // The acceptor waits for somebody.
    TcpStream::connect(address)
        .map_err(|error| format!("the server cannot be stopped: {error}"))?;
    let served = acceptor.join().map_err(|_| "the acceptor has failed")?;
    let mut received = 0;
    for (stream, thread) in served {
        // A connection that is closed already is none to be closed.
        let _ = stream.shutdown(Shutdown::Read);
        received += thread.join().map_err(|_| "a connection has failed")?;
    }
    Ok(received)
}
