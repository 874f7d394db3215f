//! Byte stream below a connection: a socket, or TLS over one.

use std::fmt;
use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use purlin::AdaptiveSpin;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;

use crate::connect::Lengths;

/// How connections between nodes are made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Transport {
    /// TCP.
    #[default]
    Tcp,
    /// TLS over TCP, Erlang's `-proto_dist inet_tls`.
    #[cfg(feature = "tls")]
    Tls(crate::tls::Tls),
}

impl Transport {
    /// Makes a stream of the socket of an outgoing connection to a node on `host`. Returns it with the width of the
    /// length field of its handshake frames.
    ///
    /// # Errors
    /// The TLS handshake failed.
    ///
    /// *Cancellation*: dropping the future closes the connection, here and below.
    pub async fn call(&self, host: &str, socket: TcpStream) -> io::Result<(Stream, Lengths)> {
        // Only TLS needs the name of the host.
        let _ = host;
        match self {
            Self::Tcp => Ok((Box::new(socket), Lengths::Two)),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Ok((tls.call(host, socket).await?, Lengths::Four)),
        }
    }

    /// Like [`Transport::call`], for an incoming connection.
    ///
    /// # Errors
    /// The TLS handshake failed.
    pub async fn answer(&self, socket: TcpStream) -> io::Result<(Stream, Lengths)> {
        match self {
            Self::Tcp => Ok((Box::new(socket), Lengths::Two)),
            #[cfg(feature = "tls")]
            Self::Tls(tls) => Ok((tls.answer(socket).await?, Lengths::Four)),
        }
    }
}

/// A bidirectional byte stream.
pub trait Duplex: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {
    /// Splits the stream into a read half and a write half, each for a separate task.
    fn halves(self: Box<Self>) -> Halves;
}

/// The byte stream of a connection. COST: a virtual call for each read and write.
pub type Stream = Box<dyn Duplex>;

/// Read half and write half of a stream.
pub type Halves = (Box<dyn AsyncRead + Unpin + Send>, Box<dyn AsyncWrite + Unpin + Send>);

impl Duplex for TcpStream {
    fn halves(self: Box<Self>) -> Halves {
        // WHY: the halves of `tokio::io::split` share a lock.
        let (read, write) = self.into_split();
        (Box::new(PollingReader::new(read)), Box::new(write))
    }
}

/// Maximum number of bytes of one read while polling.
const POLLED_READ: usize = 4096;

/// Read half of a socket that polls instead of parking when the peer tends to answer soon ([`AdaptiveSpin`]). Waking a
/// parked task takes two threads, each waking the next; polling takes neither.
struct PollingReader {
    socket: OwnedReadHalf,
    spin: AdaptiveSpin,
    /// Start of the current wait, or `None`.
    waits: Option<Instant>,
    asks: bool,
    /// Buffer for reads while polling. WHY separate: the caller's buffer would have to be zeroed each time.
    little: Vec<u8>,
}

impl PollingReader {
    fn new(socket: OwnedReadHalf) -> Self {
        Self { socket, spin: AdaptiveSpin::default(), waits: None, asks: false, little: Vec::new() }
    }

    /// Reads without waiting. Returns whether bytes were read. End of file counts as none and is found by the next
    /// wait.
    fn ask(&mut self, to: &mut ReadBuf<'_>) -> io::Result<bool> {
        self.little.resize(POLLED_READ, 0);
        let most = to.remaining().min(POLLED_READ);
        match (&*SockRef::from(self.socket.as_ref())).read(&mut self.little[..most]) {
            Ok(count) => {
                to.put_slice(&self.little[..count]);
                Ok(count > 0)
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for PollingReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let (true, Some(began)) = (this.asks, this.waits) {
            if this.ask(buffer)? {
                this.spin.poll_succeeded();
                (this.asks, this.waits) = (false, None);
                return Poll::Ready(Ok(()));
            }
            if began.elapsed() < AdaptiveSpin::LONGEST {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.asks = false;
        }
        let read = Pin::new(&mut this.socket).poll_read(cx, buffer);
        if read.is_pending() && this.waits.is_none() {
            this.waits = Some(Instant::now());
            this.asks = this.spin.should_poll();
            if this.asks {
                cx.waker().wake_by_ref();
            }
        }
        ready!(read)?;
        if let Some(began) = this.waits.take() {
            this.spin.woken_after(began.elapsed());
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> [Halves; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("an address")).await;
        let (far, _) = listener.accept().await.expect("it has called");
        [Box::new(near.expect("it listens")).halves(), Box::new(far).halves()]
    }

    // Lock-step exchange, in which both sides poll: bytes of any size arrive unchanged, and end of file is seen.
    #[tokio::test]
    async fn polled_reads_deliver_all_bytes_in_order_and_end_of_file() {
        let [mut near, mut far] = pair().await;
        let echo = tokio::spawn(async move {
            let mut block = vec![0; 3 * POLLED_READ];
            loop {
                match far.0.read(&mut block).await.expect("it goes on") {
                    0 => return,
                    count => far.1.write_all(&block[..count]).await.expect("it reads"),
                }
            }
        });
        for round in 0..300_usize {
            let sent: Vec<u8> =
                (0..1 + round * 7 % (2 * POLLED_READ)).map(|at| (at + round) as u8).collect();
            near.1.write_all(&sent).await.expect("it reads");
            let mut came = vec![0; sent.len()];
            near.0.read_exact(&mut came).await.expect("it answers");
            assert!(came == sent, "round {round}");
        }
        drop(near.1);
        echo.await.expect("it has seen the end");
        assert_eq!(near.0.read(&mut [0; 8]).await.expect("an end"), 0);
    }
}
