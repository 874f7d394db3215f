//! Read half and write half of a TCP socket, for the reader and the writer of a connection.
//!
//! Both do what is possible immediately. A half that has to wait is registered with tokio for the time
//! of the wait, see [`Socket`].
//!
//! *Adaptive spinning.* A peer in lock-step answers sooner than a parked reader is woken, which takes
//! two threads, each waking the next. If the last wait was that short, the next one starts with polling
//! ([`AdaptiveSpin`]).
//!
//! *Lingering.* A peer that makes a system call per message, as the BEAM does, is read less often, if
//! that moves more bytes ([`ReadCoalescer`]).
//!
//! COST: two descriptors and 64 KiB of memory per connection, and a copy of the bytes read.

use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use purlin::AdaptiveSpin;
use purlin_socket::{LINGERS, ReadCoalescer, Socket};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

/// Maximum number of bytes of one read.
const BLOCK: usize = 64 << 10;

/// Wait until a socket is ready.
type Wait = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

fn wait(socket: &Socket, interest: Interest) -> Wait {
    let socket = socket.clone();
    Box::pin(async move { socket.ready(interest).await })
}

/// Polls a wait, if there is one. A wait that has ended is removed, also after an error.
fn poll_wait(wait: &mut Option<Wait>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
    let Some(current) = wait else { return Poll::Ready(Ok(())) };
    let result = ready!(current.as_mut().poll(cx));
    *wait = None;
    Poll::Ready(result)
}

/// Read half of a socket.
pub(crate) struct ReadHalf {
    socket: Socket,
    /// Buffer of a read. WHY separate: the caller's buffer would have to be zeroed each time.
    block: Vec<u8>,
    spin: AdaptiveSpin,
    coalescer: ReadCoalescer,
    /// Origin of the times given to the coalescer.
    origin: Instant,
    /// End of the linger time of the current read.
    lingers_until: Option<Instant>,
    /// Start of the wait for bytes.
    began: Option<Instant>,
    /// Polls instead of waiting.
    polls: bool,
    wait: Option<Wait>,
}

impl ReadHalf {
    pub(crate) fn new(socket: Socket) -> Self {
        Self {
            socket,
            block: vec![0; BLOCK],
            spin: AdaptiveSpin::default(),
            coalescer: ReadCoalescer::new(Duration::ZERO),
            origin: Instant::now(),
            lingers_until: None,
            began: None,
            polls: false,
            wait: None,
        }
    }

    /// Whether the read has to linger.
    fn lingers(&mut self) -> bool {
        if self.began.is_some() || !self.coalescer.lingers() {
            return false;
        }
        let now = Instant::now();
        now < *self.lingers_until.get_or_insert(now + LINGERS)
    }

    /// Reads what is available. Returns whether there was anything, or the end of the stream.
    fn take(&mut self, to: &mut ReadBuf<'_>) -> io::Result<bool> {
        let most = to.remaining().min(BLOCK);
        let Some(count) = self.socket.read(&mut self.block[..most])? else { return Ok(false) };
        to.put_slice(&self.block[..count]);
        self.lingers_until = None;
        if let Some(began) = self.began.take() {
            if self.polls {
                self.spin.poll_succeeded();
            } else {
                self.spin.woken_after(began.elapsed());
            }
        }
        self.coalescer.read(count, self.origin.elapsed());
        Ok(true)
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.lingers() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            ready!(poll_wait(&mut this.wait, cx))?;
            if this.take(buffer)? {
                return Poll::Ready(Ok(()));
            }
            if this.began.is_none() {
                this.polls = this.spin.should_poll();
            }
            let began = *this.began.get_or_insert_with(Instant::now);
            if this.polls && began.elapsed() < AdaptiveSpin::LONGEST {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.polls = false;
            let origin = this.origin;
            this.coalescer.woken(|| origin.elapsed());
            this.wait = Some(wait(&this.socket, Interest::READABLE));
        }
    }
}

/// Write half of a socket. Dropping it shuts down the write side, so that the peer reads the end of the stream while
/// the read half still exists.
pub(crate) struct WriteHalf {
    socket: Socket,
    wait: Option<Wait>,
}

impl WriteHalf {
    /// Creates the write half of the socket that the read half uses, with a duplicated descriptor. WHY: tokio registers a
    /// descriptor once, and both halves may wait. WHY now: at the limit of open files the new connection fails, and not
    /// an established one that first has to wait.
    ///
    /// # Errors
    /// No descriptor is left.
    pub(crate) fn new(socket: &Socket) -> io::Result<Self> {
        Ok(Self { socket: socket.duplicate()?, wait: None })
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        // WHY the result is ignored: the connection may have ended.
        let _ = self.socket.stream().shutdown(Shutdown::Write);
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            ready!(poll_wait(&mut this.wait, cx))?;
            if let Some(count) = this.socket.write(bytes)? {
                return Poll::Ready(Ok(count));
            }
            this.wait = Some(wait(&this.socket, Interest::WRITABLE));
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.socket.stream().shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::net::{TcpListener, TcpStream};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    fn pair() -> [(ReadHalf, WriteHalf); 2] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let near = TcpStream::connect(listener.local_addr().expect("an address"));
        let (far, _) = listener.accept().expect("it has called");
        [near.expect("it listens"), far].map(|stream| {
            let socket = Socket::new(stream).expect("the options are allowed");
            let write = WriteHalf::new(&socket).expect("a descriptor is left");
            (ReadHalf::new(socket), write)
        })
    }

    // Lock-step exchange, in which both sides poll: bytes of any size arrive unchanged, and end of file is seen.
    #[tokio::test]
    async fn polled_reads_deliver_all_bytes_in_order_and_end_of_file() {
        let [mut near, mut far] = pair();
        let echo = tokio::spawn(async move {
            let mut block = vec![0; 3 * BLOCK];
            loop {
                match far.0.read(&mut block).await.expect("it goes on") {
                    0 => return,
                    count => far.1.write_all(&block[..count]).await.expect("it reads"),
                }
            }
        });
        for round in 0..300_usize {
            let sent: Vec<u8> =
                (0..1 + round * 701 % (2 * BLOCK)).map(|at| (at + round) as u8).collect();
            near.1.write_all(&sent).await.expect("it reads");
            let mut came = vec![0; sent.len()];
            near.0.read_exact(&mut came).await.expect("it answers");
            assert!(came == sent, "round {round}");
        }
        drop(near.1);
        echo.await.expect("it has seen the end");
        assert_eq!(near.0.read(&mut [0; 8]).await.expect("an end"), 0);
    }

    // A second wait on the same descriptor fails.
    #[tokio::test]
    async fn failed_wait_is_an_error_at_each_poll() {
        let [(mut waits, _write), _far] = pair();
        let mut fails = ReadHalf::new(waits.socket.clone());
        poll_fn(|cx| {
            let mut room = [0; 8];
            assert!(Pin::new(&mut waits).poll_read(cx, &mut ReadBuf::new(&mut room)).is_pending());
            if waits.wait.is_some() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        for _ in 0..2 {
            assert!(fails.read(&mut [0; 8]).await.is_err());
        }
    }

    // More than the buffers of the system hold, in both directions at the same time: each half waits.
    #[tokio::test]
    async fn both_halves_of_a_socket_wait_at_the_same_time() {
        const BYTES: usize = 32 << 20;
        let [near, far] = pair();
        let sides = [near, far].map(|(mut read, mut write)| {
            let writes = tokio::spawn(async move {
                write.write_all(&vec![7; BYTES]).await.expect("the peer reads");
                write
            });
            let reads = tokio::spawn(async move {
                let mut came = vec![0; BYTES];
                read.read_exact(&mut came).await.expect("the peer writes");
                assert!(came.iter().all(|byte| *byte == 7));
            });
            (writes, reads)
        });
        for (writes, reads) in sides {
            drop(writes.await.expect("it has written all"));
            reads.await.expect("it has read all");
        }
    }
}
