//! Ack servers: `ack-request-reply` to `ack-best`, and `ack-sync-or-async`.
//!
//! An accept loop, and a task per connection in a `JoinSet`. A strategy is a function that reads
//! from a connection, writes acks, and returns the number of acknowledged messages when the
//! connection has ended.
//!
//! ```text
//! acks ─┬─ direct     one task: request-reply, sync-ack, best
//!       ├─ collected  reader, collector and ticker: throttle, head-rest
//!       ├─ blocks     reader and responder: async-ack
//!       └─ each       reader, one task for all connections, writer: best, each message handled
//! ```

mod blocks;
mod buffer;
mod collected;
mod connection;
mod direct;
mod each;
mod wire;

use std::net::Ipv4Addr;
use std::pin::Pin;
use std::time::Duration;

use purlin_contender::{Running, Serve};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use connection::{Reader, Writer};

/// Pause after a failed accept, which mostly means that no descriptor is free.
const PAUSE: Duration = Duration::from_millis(10);

/// A connection that is being served. Resolves to the number of acknowledged messages.
type Serving = Pin<Box<dyn Future<Output = u64> + Send>>;

/// Starts a server on this runtime, or on a separate one if a number of cores is requested.
pub(crate) fn start(runtime: &Runtime, asked: Serve) -> Result<Running, String> {
    let own = asked.cores.map(of_cores).transpose()?;
    let on = own.as_ref().unwrap_or(runtime).handle().clone();
    let serve = strategy(asked, &on)?;
    let said = |error: std::io::Error| format!("the server cannot be started: {error}");
    let listener = on.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).map_err(said)?;
    let address = listener.local_addr().map_err(said)?;
    let (stop, stopped) = watch::channel(());
    let accepting = on.spawn(accept(listener, stopped, serve));
    Ok(Running::new(address, move || {
        drop(stop);
        let received = on.block_on(accepting);
        drop(own);
        received.map_err(|error| format!("the server has failed: {error}"))
    }))
}

/// Starts a runtime with this number of workers.
fn of_cores(cores: u64) -> Result<Runtime, String> {
    let workers = usize::try_from(cores).map_err(|error| error.to_string())?;
    crate::runtime_of(Some(workers))
}

/// Returns the function that serves a connection.
fn strategy(
    asked: Serve,
    on: &Handle,
) -> Result<Box<dyn Fn(Reader, Writer) -> Serving + Send>, String> {
    Ok(match (asked.strategy, asked.each) {
        ("request-reply", _) => Box::new(|r, w| Box::pin(direct::request_reply(r, w))),
        ("throttle", _) => Box::new(|r, w| Box::pin(collected::throttle(r, w))),
        ("head-rest", _) => Box::new(|r, w| Box::pin(collected::head_rest(r, w))),
        ("sync-ack", _) => Box::new(|r, w| Box::pin(direct::sync_ack(r, w, direct::USUAL))),
        ("async-ack", _) => Box::new(|r, w| Box::pin(blocks::async_ack(r, w))),
        ("best", false) => Box::new(|r, w| Box::pin(direct::sync_ack(r, w, direct::LARGE))),
        ("best", true) => {
            let taker = each::start(on);
            Box::new(move |r, w| Box::pin(each::best(r, w, taker.clone())))
        }
        (other, _) => return Err(format!("this contender does not serve {other}")),
    })
}

/// Accepts connections until the server is stopped. Returns the number of acknowledged messages
/// after all connections have ended.
async fn accept(
    listener: TcpListener,
    mut stopped: watch::Receiver<()>,
    serve: impl Fn(Reader, Writer) -> Serving,
) -> u64 {
    let mut serving = JoinSet::new();
    let mut received = 0;
    loop {
        tokio::select! {
            _ = stopped.changed() => break,
            accepted = listener.accept() => match accepted.and_then(|(stream, _)| ready(stream)) {
                Ok(stream) => {
                    let (read, write) = stream.into_split();
                    serving.spawn(serve(Reader::new(read, stopped.clone()), Writer::new(write)));
                }
                Err(_) => sleep(PAUSE).await,
            },
            Some(ended) = serving.join_next() => received += ended.unwrap_or(0),
        }
    }
    drop(listener);
    while let Some(ended) = serving.join_next().await {
        received += ended.unwrap_or(0);
    }
    received
}

fn ready(stream: TcpStream) -> std::io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}
