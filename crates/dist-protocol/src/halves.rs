//! Read half and write half of a TCP socket, for the reader and the writer of a connection.
//!
//! Both do what is possible immediately. A half that has to wait is registered with tokio for the time
//! of the wait, see [`Socket`].
//!
//! *Adaptive spinning.* A peer in lock-step answers sooner than a parked reader is woken, which takes
//! two threads, each waking the next. If the last wait was that short, the next one starts with polling
//! ([`AdaptiveSpin`]). Between two polls the thread yields the processor, so that a peer on the same machine that waits
//! for one can write. Then a read finds more messages, and their answers leave in one write.
//!
//! *Lingering.* A peer that makes a system call per message, as the BEAM does, is read only after a timer
//! ([`LINGER`], [`TRIAL_LINGER`]), if that moves more bytes ([`ReadCoalescer`]) and nothing is written meanwhile: a
//! write ends the linger time, because the peer may answer it. After it, at most [`LINGER_BYTES`] are read. The BEAM's
//! system call is cheap while its window or its congestion window is full, because the bytes join a segment that waits
//! to be sent. If the reader takes the bytes as they arrive, both windows stay open, and each message is sent as one
//! segment.
//!
//! COST: two descriptors and 64 KiB of memory per connection, and a copy of the bytes read. While the reader lingers, a
//! message of a one-way stream, or the first request after one, may arrive up to 3 ms late.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use purlin::AdaptiveSpin;
use purlin_socket::{ReadCoalescer, Socket};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Maximum number of bytes of one read.
const BLOCK: usize = 64 << 10;

/// Linger time before a read, rounded up to the next tick of tokio's timer. WHY a timer: polling for that
/// long would take the processor from the peer on the same machine. WHY not the shortest: the congestion
/// window of the peer grows with the stream, and a measured stream of 50,000 messages was faster with 2 ms.
const LINGER: Duration = Duration::from_millis(2);

/// Linger time in a trial: the shortest there is. WHY: a short stream ends during the trial, and its end is late.
const TRIAL_LINGER: Duration = Duration::from_millis(1);

/// Maximum number of bytes read between two linger times. WHY a maximum: a reader that empties the socket each time keeps
/// the windows open.
const LINGER_BYTES: usize = 2 * BLOCK;

/// Wait until a socket is ready, or linger time.
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

/// Writes of a write half.
#[derive(Default)]
struct Writes {
    count: AtomicU64,
    /// Wakes the read half while it lingers.
    written: Notify,
}

impl Writes {
    fn count(&self) -> u64 {
        // ORDER: relaxed: in `linger`, the lock of `written` orders it; elsewhere, a late value delays one read.
        self.count.load(Ordering::Relaxed)
    }

    fn add(&self) {
        // ORDER: relaxed: see `count`.
        self.count.fetch_add(1, Ordering::Relaxed);
        self.written.notify_waiters();
    }

    /// Waits for `time`, or until there are more than `count` writes.
    async fn linger(&self, time: Duration, count: u64) {
        let mut written = pin!(self.written.notified());
        written.as_mut().enable();
        if self.count() == count {
            // The result states which of the two ended the wait.
            let _ = timeout(time, written).await;
        }
    }
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
    /// Writes of the other half, and their number at the last read.
    writes: Arc<Writes>,
    writes_at_read: u64,
    /// Start of the wait for bytes.
    began: Option<Instant>,
    /// Polls instead of waiting.
    polls: bool,
    /// Bytes that may be read before the next linger time; 0 if the last read emptied the socket.
    left: usize,
    wait: Option<Wait>,
}

impl ReadHalf {
    fn new(socket: Socket, writes: Arc<Writes>) -> Self {
        Self {
            socket,
            block: vec![0; BLOCK],
            spin: AdaptiveSpin::default(),
            coalescer: ReadCoalescer::new(Duration::ZERO),
            origin: Instant::now(),
            writes,
            writes_at_read: 0,
            began: None,
            polls: false,
            left: 0,
            wait: None,
        }
    }

    /// Interrupts the coalescer if anything was written since the last read: the peer may answer it, or wait for what
    /// is written next.
    fn check_writes(&mut self) {
        let writes = self.writes.count();
        if std::mem::replace(&mut self.writes_at_read, writes) != writes {
            let origin = self.origin;
            self.coalescer.interrupt(|| origin.elapsed());
        }
    }

    /// Reads what is available. Returns whether there was anything, or the end of the stream.
    fn take(&mut self, to: &mut ReadBuf<'_>) -> io::Result<bool> {
        let most = to.remaining().min(BLOCK);
        let Some(count) = self.socket.read(&mut self.block[..most])? else { return Ok(false) };
        to.put_slice(&self.block[..count]);
        self.left = if count < most { 0 } else { self.left.saturating_sub(count) };
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
        if this.wait.is_none() && this.began.is_none() {
            this.check_writes();
            if this.left == 0 && this.coalescer.lingers() {
                this.left = LINGER_BYTES;
                let time = if this.coalescer.has_succeeded() { LINGER } else { TRIAL_LINGER };
                let (writes, count) = (Arc::clone(&this.writes), this.writes_at_read);
                this.wait = Some(Box::pin(async move {
                    writes.linger(time, count).await;
                    Ok(())
                }));
            }
        }
        loop {
            ready!(poll_wait(&mut this.wait, cx))?;
            if this.take(buffer)? {
                return Poll::Ready(Ok(()));
            }
            let has_polled = this.began.is_some();
            if !has_polled {
                this.polls = this.spin.should_poll();
            }
            let began = *this.began.get_or_insert_with(Instant::now);
            if this.polls && began.elapsed() < AdaptiveSpin::LONGEST {
                // WHY not at the first poll: the recipients of the last read, and the writer, run before the second.
                if has_polled {
                    thread::yield_now();
                }
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.polls = false;
            let origin = this.origin;
            this.coalescer.interrupt(|| origin.elapsed());
            this.wait = Some(wait(&this.socket, Interest::READABLE));
        }
    }
}

/// Write half of a socket. Dropping it shuts down the write side, so that the peer reads the end of the stream while
/// the read half still exists.
pub(crate) struct WriteHalf {
    socket: Socket,
    /// Its writes, for the read half.
    writes: Arc<Writes>,
    wait: Option<Wait>,
}

/// Splits a socket. The write half has a duplicated descriptor. WHY: tokio registers a descriptor once, and both
/// halves may wait. WHY now: at the limit of open files the new connection fails, and not an established one that first
/// has to wait.
///
/// # Errors
/// No descriptor is left.
pub(crate) fn halves(socket: Socket) -> io::Result<(ReadHalf, WriteHalf)> {
    let writes = Arc::<Writes>::default();
    let write = WriteHalf { socket: socket.duplicate()?, writes: Arc::clone(&writes), wait: None };
    Ok((ReadHalf::new(socket, writes), write))
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        // WHY the result is ignored: the connection may have ended.
        let _ = self.socket.stream().shutdown(Shutdown::Write);
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            ready!(poll_wait(&mut this.wait, cx))?;
            if let Some(count) = this.socket.write_vectored(parts)? {
                this.writes.add();
                return Poll::Ready(Ok(count));
            }
            this.wait = Some(wait(&this.socket, Interest::WRITABLE));
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
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
            halves(socket).expect("a descriptor is left")
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
        let mut fails = ReadHalf::new(waits.socket.clone(), Arc::default());
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

    #[tokio::test]
    async fn read_lingers_again_after_its_bytes_or_when_the_socket_is_empty() {
        for (sent, reads) in [(BLOCK / 2, 1), (BLOCK + 1, 2), (4 * BLOCK, 2)] {
            let [(mut read, _write), (_far, mut writes)] = pair();
            tokio::spawn(async move { writes.write_all(&vec![0; sent]).await });
            while !read.coalescer.lingers() {
                read.coalescer.read(1, Duration::ZERO);
            }
            let mut block = vec![0; BLOCK];
            for _ in 0..reads {
                assert!(read.read(&mut block).await.expect("it goes on") > 0);
            }
            assert_eq!(read.left, 0);
        }
    }

    #[tokio::test]
    async fn read_lingers_only_if_nothing_was_written_since_the_last_one() {
        let [(mut read, mut write), (_far, mut writes)] = pair();
        writes.write_all(b"a").await.expect("it reads");
        let begin_trial = |read: &mut ReadHalf| {
            while !read.coalescer.lingers() {
                read.coalescer.read(1, Duration::ZERO);
            }
        };
        begin_trial(&mut read);
        poll_fn(|cx| {
            let mut room = [0; 8];
            assert!(Pin::new(&mut read).poll_read(cx, &mut ReadBuf::new(&mut room)).is_pending());
            assert!(read.coalescer.lingers() && read.began.is_none());
            Poll::Ready(())
        })
        .await;
        // A write ends the linger time.
        write.write_all(b"b").await.expect("it reads");
        poll_fn(|cx| {
            let mut room = [0; 8];
            assert!(Pin::new(&mut read).poll_read(cx, &mut ReadBuf::new(&mut room)).is_ready());
            Poll::Ready(())
        })
        .await;
        begin_trial(&mut read);
        write.write_all(b"b").await.expect("it reads");
        writes.write_all(b"c").await.expect("it reads");
        assert_eq!(read.read(&mut [0; 8]).await.expect("it goes on"), 1);
        assert!(!read.coalescer.lingers());
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
