//! Connection: the process of a client.
//!
//! It answers one request after the other. While it waits for the store or for the client to take a reply, it reads
//! nothing, so a client that sends more than it reads is held by TCP, and costs one reply and the kernel's buffers.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Message, Process, consume_budget, receive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::lines::{BadLine, LineBuffer};
use crate::request::{Request, Stored, found};
use crate::store::{NoAnswer, Store};

/// Time limit for the arrival of the socket, which the acceptor sends after the start.
const HANDOVER: Duration = Duration::from_secs(5);
/// Bytes that are read at a time.
const CHUNK: usize = 1024;

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) limits: Limits,
}

/// Time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Between two lines of the client.
    pub(crate) idle: Duration,
    /// For the client to take a reply.
    pub(crate) write: Duration,
    /// For the client to close the connection after the last line of the gateway.
    pub(crate) drain: Duration,
}

/// Message of a connection.
#[derive(Message)]
pub(crate) enum Mail {
    /// The socket, from the acceptor.
    Socket(TcpStream),
    /// Whether the store can be reached.
    Store(bool),
    /// The supervisor stops the connection, or too many messages wait for it.
    #[from]
    Exit(Exit),
}

/// Process function. An error of the connection ends it like its end by the client.
pub(crate) async fn connection(mut me: Process<Mail>, shared: Arc<Shared>) {
    me.trap_exit(true);
    let socket = receive!(me, {
        Mail::Socket(socket) => socket,
        Mail::Exit(_) => return,
        after HANDOVER => return,
    });
    let mut client = Client { socket, lines: LineBuffer::default(), limits: shared.limits };
    if let Err(error) = serve(&mut me, &mut client, &shared).await {
        tracing::debug!(%error, "a connection was lost");
    }
}

async fn serve(me: &mut Process<Mail>, client: &mut Client, shared: &Shared) -> io::Result<()> {
    let changes = me.pid().map(Mail::Store);
    let mut is_up = shared.store.subscribe(changes).map_err(io::Error::other)?;
    client.send(notice(is_up)).await?;
    let farewell = loop {
        // WHY: with requests that are always ready no other await ends the turn, and no mail is received.
        consume_budget().await;
        tokio::select! {
            // WHY: the end of a request is followed by what happened during it.
            biased;
            mail = me.receive() => match mail {
                Mail::Store(now) if now != is_up => {
                    is_up = now;
                    client.send(notice(is_up)).await?;
                }
                Mail::Store(_) | Mail::Socket(_) => {}
                Mail::Exit(exit) if exit.reason == ExitReason::Shutdown => {
                    break "BYE the gateway stops";
                }
                Mail::Exit(_) => break "BYE too slow",
            },
            line = timeout(shared.limits.idle, client.line()) => match line {
                Ok(line) => match line? {
                    Some(line) => {
                        let reply = answer(line, is_up, &shared.store).await;
                        client.send(&reply).await?;
                    }
                    None => return Ok(()),
                },
                Err(_) => break "BYE idle",
            },
        }
    };
    timeout(shared.limits.drain, client.close(farewell)).await?
}

fn notice(is_up: bool) -> &'static str {
    if is_up { "UP" } else { "DOWN" }
}

/// Returns the reply to a line.
async fn answer(line: Result<String, BadLine>, is_up: bool, store: &Store) -> String {
    let parsed: Result<Request, String> =
        line.map_err(|bad| bad.to_string()).and_then(|line| line.parse());
    let answered = match parsed {
        Err(why) => return format!("ERROR {why}"),
        Ok(Request::Ping) => return "PONG".into(),
        Ok(_) if !is_up => return "REFUSED the store is away: wait for UP".into(),
        Ok(get @ Request::Get(_)) => store.call(get).await.map(found),
        Ok(put @ Request::Put(..)) => store.call(put).await.map(|Stored::Ok| "OK".into()),
    };
    match answered {
        Ok(reply) => reply,
        Err(NoAnswer::NotSent) => "REFUSED the gateway is full: try again later".into(),
        Err(NoAnswer::Unknown(why)) => format!("UNKNOWN {why}"),
    }
}

/// A client's socket, with the lines that have arrived.
struct Client {
    socket: TcpStream,
    lines: LineBuffer,
    limits: Limits,
}

impl Client {
    /// Returns the next line, or `None` if the client has closed its side.
    ///
    /// *Cancellation*: loses nothing.
    async fn line(&mut self) -> io::Result<Option<Result<String, BadLine>>> {
        let mut chunk = [0; CHUNK];
        loop {
            if let Some(line) = self.lines.take_line() {
                return Ok(Some(line));
            }
            match self.socket.read(&mut chunk).await? {
                0 => return Ok(None),
                length => self.lines.add(&chunk[..length]),
            }
        }
    }

    /// Sends a line.
    async fn send(&mut self, line: &str) -> io::Result<()> {
        let line = format!("{line}\n");
        timeout(self.limits.write, self.socket.write_all(line.as_bytes())).await?
    }

    /// Sends the last line, and waits until the client closes its side.
    async fn close(&mut self, line: &str) -> io::Result<()> {
        self.send(line).await?;
        self.socket.shutdown().await?;
        // WHY: a socket that is closed with unread input resets the connection, and the client may lose the last line.
        let mut chunk = [0; CHUNK];
        while self.socket.read(&mut chunk).await? > 0 {}
        Ok(())
    }
}
