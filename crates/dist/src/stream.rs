//! What lies below a connection: a socket, or TLS over one.

use std::fmt;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use purlin::Keen;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

/// Bytes both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {
    /// One half to read and one to write, each for a task of its own.
    fn halves(self: Box<Self>) -> Halves;
}

/// A connection to another node, whatever lies below it. COST: a call through a table for each read and write.
pub type Stream = Box<dyn Duplex>;

/// What a connection reads from, and what it writes to.
pub type Halves = (Box<dyn AsyncRead + Unpin + Send>, Box<dyn AsyncWrite + Unpin + Send>);

impl Duplex for TcpStream {
    fn halves(self: Box<Self>) -> Halves {
        // WHY: those of any stream would wait for each other.
        let (read, write) = self.into_split();
        (Box::new(Reading::new(read)), Box::new(write))
    }
}

/// How much is read at once while it asks.
const LITTLE: usize = 4096;

/// Reads from a socket, and asks it again and again where the other node answers soon ([`Keen`]). To be woken takes
/// two threads, of which each wakes the next; whoever asks needs neither.
struct Reading {
    socket: OwnedReadHalf,
    keen: Keen,
    /// When the wait began, if it waits.
    waits: Option<Instant>,
    asks: bool,
    /// What is read while it asks. WHY apart: the caller's buffer would have to be filled with zeros each time.
    little: Vec<u8>,
}

impl Reading {
    fn new(socket: OwnedReadHalf) -> Self {
        Self { socket, keen: Keen::default(), waits: None, asks: false, little: Vec::new() }
    }

    /// Whether something has come. That nothing more will is left to be found by waiting.
    fn ask(&mut self, to: &mut ReadBuf<'_>) -> io::Result<bool> {
        self.little.resize(LITTLE, 0);
        let most = to.remaining().min(LITTLE);
        match (&*SockRef::from(self.socket.as_ref())).read(&mut self.little[..most]) {
            Ok(count) => {
                to.put_slice(&self.little[..count]);
                Ok(count > 0)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for Reading {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let (true, Some(began)) = (this.asks, this.waits) {
            if this.ask(buffer)? {
                this.keen.found();
                (this.asks, this.waits) = (false, None);
                return Poll::Ready(Ok(()));
            }
            if began.elapsed() < Keen::LONGEST {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.asks = false;
        }
        let read = Pin::new(&mut this.socket).poll_read(cx, buffer);
        if read.is_pending() && this.waits.is_none() {
            this.waits = Some(Instant::now());
            this.asks = this.keen.asks();
            if this.asks {
                cx.waker().wake_by_ref();
            }
        }
        ready!(read)?;
        if let Some(began) = this.waits.take() {
            this.keen.woken(began.elapsed());
        }
        Poll::Ready(Ok(()))
    }
}
