//! Reading half of a connection, and all waiting of its process.
//!
//! Owned by the connection process and used only in its turns. A strategy calls
//! [`fill`](Reader::fill) to read into a buffer and [`write`](Reader::write); both return the
//! [close reason](CloseReason) when the connection has ended, whether by the client, the network,
//! the idle timeout or an exit signal. The reader does not interpret the data.
//!
//! *Exit signals.* They are trapped, and read before each read and while there is nothing to read,
//! but never during a write or in the handler: what was read is answered before the connection
//! ends. A request to [give way](CloseReason::GaveWay) to a new connection is ignored if there is
//! data to read. While a write waits for a client that does not read, requests of other connections
//! end it.
//!
//! *Idle timeout.* A message must start within the configured time and be complete within the same
//! time again; otherwise the connection is [closed](CloseReason::IdleTimeout). A client that sends a
//! byte now and then cannot stay connected forever.
//!
//! *Adaptive spinning.* A client in lock-step writes a few microseconds after its answer. If the
//! last wait was that short, the next one starts with polling for at most
//! [`AdaptiveSpin::LONGEST`], yielding to other processes in between: a wakeup by the kernel would
//! take longer than the whole round. Connections with long waits never poll, and unsuccessful
//! polling becomes [ever rarer](AdaptiveSpin).
//!
//! *Lingering.* A client that makes many small writes is read less often, if that [moves more
//! bytes](ReadCoalescer).
//!
//! *Budget.* A buffer grows beyond its first bytes only as far as the [budget](Charge) of the server
//! permits. If a message needs more, the connection waits for bytes, for at most the idle timeout.
//! Connections that wait for their clients meanwhile free larger buffers that they do not need, and
//! the stalled one with an unfinished large message that has been idle longest is
//! [closed](CloseReason::OverBudget).
//!
//! COST: a read that finds data is one system call and a check of the mailbox, plus a clock read
//! for [`Amount::Available`]. A connection idle for [`RELEASE_AFTER`] frees its buffer.

use std::sync::Arc;
use std::time::Duration;

use purlin::{AdaptiveSpin, Exit, ExitReason, Process, receive, yield_now};
use purlin_socket::{LINGERS, ReadCoalescer};
use tokio::io::Interest;

use super::budget::{Charge, FREE};
use super::close_reason::CloseReason;
use super::idle::Idle;
use super::resources::PAUSE;
use super::socket::Socket;
use super::timeout::{now, receive_within, within};
use crate::wire::read_buffer::ReadBuffer;

/// Idle time after which the buffer is freed.
const RELEASE_AFTER: Duration = Duration::from_secs(1);
/// How long a closing connection waits for the client to read everything.
const LINGER: Duration = Duration::from_secs(1);
/// Bytes that a closing connection discards per read.
const UNREAD: usize = 4 << 10;

/// How much to read at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Exactly the bytes the next message is known to need.
    Exact,
    /// Whatever is available.
    Available,
}

/// Socket, mailbox and timeouts of a connection process.
#[derive(Debug)]
pub(crate) struct Reader {
    me: Process<Exit>,
    socket: Socket,
    /// How long a message may take to start, and to complete.
    idle_timeout: Duration,
    idle: Arc<Idle>,
    /// Paid capacity of the buffer.
    charge: Charge,
    /// When a message last started or was completed, on the node's clock. Updated lazily.
    progress_at: Duration,
    /// Whether a message has started or was completed since `progress_at`.
    has_progress: bool,
    /// When the last read with [`Amount::Available`] returned, on the node's clock.
    read_at: Duration,
    spin: AdaptiveSpin,
    coalescer: ReadCoalescer,
}

impl Reader {
    pub(crate) fn new(
        me: Process<Exit>,
        socket: Socket,
        idle_timeout: Duration,
        charge: Charge,
    ) -> Self {
        Self {
            me,
            socket,
            idle_timeout,
            idle: Arc::clone(charge.idle()),
            charge,
            progress_at: now(),
            has_progress: false,
            read_at: Duration::ZERO,
            spin: AdaptiveSpin::default(),
            coalescer: ReadCoalescer::new(now()),
        }
    }

    /// Returns the handle of the connection process.
    pub(crate) fn process(&self) -> &Process<Exit> {
        &self.me
    }

    /// Waits for a future. Returns `None` if it is not ready within `time`. Reads no exit signals.
    pub(crate) async fn within<T>(
        &mut self,
        time: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        within(&mut self.me, time, future).await
    }

    /// Returns the idle state of the connection.
    pub(crate) fn idle(&self) -> &Arc<Idle> {
        &self.idle
    }

    /// Returns a handle to the socket, for another process of the connection.
    pub(crate) fn socket(&self) -> Socket {
        self.socket.clone()
    }

    /// Reads once into the buffer, or waits for data. `needed` is the number of bytes missing from
    /// the next message.
    pub(crate) async fn fill(
        &mut self,
        buffer: &mut ReadBuffer,
        needed: usize,
        amount: Amount,
    ) -> Result<(), CloseReason> {
        // WHY: a connection without a buffer was idle; the buffer is allocated once data arrives.
        let had_buffer = buffer.capacity() > 0;
        self.check_exit_signal(buffer)?;
        if amount == Amount::Available && self.coalescer.lingers() {
            let until = now().saturating_add(LINGERS);
            while now() < until {
                yield_now().await;
            }
        }
        if self.must_pay(buffer, needed) {
            self.pay(buffer, needed).await?;
            self.idle.works();
        }
        // WHY also if the buffer has just been freed: with TLS, decrypted data may be left although the
        // socket has none.
        if had_buffer && self.take(buffer, needed, amount)? {
            return Ok(());
        }
        let began = now();
        self.update_progress_at(began);
        let polls = self.spin.should_poll();
        while polls && now().saturating_sub(began) < AdaptiveSpin::LONGEST {
            yield_now().await;
            self.check_exit_signal(buffer)?;
            if self.take(buffer, needed, amount)? {
                self.spin.poll_succeeded();
                return Ok(());
            }
        }
        let silent = self.progress_at.saturating_add(self.idle_timeout);
        let mut until = silent.min(began.saturating_add(RELEASE_AFTER));
        if self.charge.is_wanted(began) {
            self.free(buffer);
        }
        loop {
            self.idle.waits(self.progress_at);
            self.coalescer.restart(now);
            let waited = match self.wait(until).await {
                Err(CloseReason::OverBudget) if self.free(buffer) => continue,
                waited => waited,
            };
            if let Ok(true) | Err(CloseReason::GaveWay) = waited {
                // WHY again: the buffer may have been freed.
                if self.must_pay(buffer, needed) {
                    self.pay(buffer, needed).await?;
                }
                if self.take(buffer, needed, amount)? {
                    self.idle.works();
                    self.spin.woken_after(now().saturating_sub(began));
                    return Ok(());
                }
                // WHY again: with TLS, the beginning of a record takes memory.
                until = silent.min(now().saturating_add(RELEASE_AFTER));
            }
            if !waited? {
                if until == silent {
                    return Err(CloseReason::IdleTimeout);
                }
                buffer.release();
                self.charge.lower(buffer.capacity());
                self.socket.rest();
                until = silent;
            }
        }
    }

    /// Frees the buffer and the charge, unless the free bytes are too few for the beginning of a message
    /// in it. Returns whether no unfinished message has a charge, in any process of the connection.
    fn free(&mut self, buffer: &mut ReadBuffer) -> bool {
        if self.charge.capacity() > FREE && buffer.waiting().len() < FREE {
            buffer.release();
            self.charge.lower(buffer.capacity());
        }
        self.charge.capacity() == FREE && !self.idle.is_in_message()
    }

    /// Whether the next read needs more capacity than is paid for.
    fn must_pay(&self, buffer: &ReadBuffer, needed: usize) -> bool {
        buffer.demand(needed) > self.charge.capacity()
    }

    /// Charges the budget for the capacity of the next read, or only for that of the next message.
    /// Waits for bytes if necessary, and counts as idle meanwhile.
    async fn pay(&mut self, buffer: &mut ReadBuffer, needed: usize) -> Result<(), CloseReason> {
        if self.charge.try_raise_ahead(buffer.demand(needed)) {
            return Ok(());
        }
        buffer.economize(self.charge.capacity());
        if self.charge.try_raise(buffer.demand(needed)) {
            return Ok(());
        }
        let (budget, began) = (Arc::clone(self.charge.budget()), now());
        loop {
            // WHY before the attempt: bytes that are returned from here on end the wait.
            let returned = budget.returned();
            if self.charge.try_raise(buffer.demand(needed)) {
                budget.pass_on();
                return Ok(());
            }
            budget.make_room();
            self.update_progress_at(began);
            self.idle.waits(self.progress_at);
            tokio::select! {
                biased;
                exit = receive_within(&mut self.me, PAUSE) => {
                    if let Some(exit) = exit {
                        return Err(exit.into());
                    }
                }
                () = returned => {}
            }
            if now().saturating_sub(began) >= self.idle_timeout {
                return Err(CloseReason::OverBudget);
            }
        }
    }

    /// Returns when the last read with [`Amount::Available`] returned, on the node's clock.
    pub(crate) fn read_at(&self) -> Duration {
        self.read_at
    }

    /// Records that a message was completed.
    pub(crate) fn message_completed(&mut self) {
        // WHY no clock read: the time matters only for the next wait, which reads the clock.
        self.has_progress = true;
    }

    fn update_progress_at(&mut self, now: Duration) {
        if std::mem::take(&mut self.has_progress) {
            self.progress_at = now;
            self.idle.is_not_new();
        }
    }

    /// Writes all bytes and flushes. Fails if the client makes no room for the idle timeout.
    ///
    /// After a failure nothing more may be written: half an ack may have been sent.
    pub(crate) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), CloseReason> {
        while !self.socket.write(&mut bytes).map_err(CloseReason::lost)? {
            self.update_progress_at(now());
            self.idle.waits(self.progress_at);
            let (me, idle_timeout) = (&mut self.me, self.idle_timeout);
            tokio::select! {
                biased;
                ready = self.socket.ready(Interest::WRITABLE) => ready.map_err(CloseReason::lost)?,
                end = async { receive!(me, {
                    exit if is_request(&exit) => CloseReason::from(exit),
                    after idle_timeout => CloseReason::SlowReader,
                }) } => return Err(end),
            }
            self.idle.works();
        }
        Ok(())
    }

    /// Closes the connection once the client has read everything, or after a timeout.
    ///
    /// WHY it continues to read: closing a socket with unread data resets the connection, and the
    /// client may lose acks it has not read.
    pub(crate) async fn close(mut self) {
        self.socket.give_up_after(self.idle_timeout);
        self.idle.waits(self.progress_at);
        // WHY: the strategy has returned, and its buffer is freed.
        self.charge.lower(0);
        let until = now().saturating_add(LINGER);
        loop {
            match self.socket.finish() {
                Ok(true) => break,
                Ok(false) if self.ready_by(until, Interest::WRITABLE).await => {}
                Ok(false) | Err(_) => return,
            }
        }
        let mut unread = vec![0; UNREAD];
        loop {
            match self.socket.read(&mut unread) {
                Ok(Some(0)) | Err(_) => return,
                Ok(Some(_)) if now() < until => yield_now().await,
                Ok(None) if self.ready_by(until, Interest::READABLE).await => {}
                Ok(_) => return,
            }
        }
    }

    /// Waits until the socket is ready. Returns `false` after the deadline, on errors, and if the
    /// connection has to give way.
    async fn ready_by(&mut self, until: Duration, interest: Interest) -> bool {
        let (me, left) = (&mut self.me, until.saturating_sub(now()));
        tokio::select! {
            biased;
            ready = self.socket.ready(interest) => ready.is_ok(),
            () = async { receive!(me, { exit if is_request(&exit) => {}, after left => {} }) } => false,
        }
    }

    /// Reads what is available. Returns whether there was anything.
    fn take(
        &mut self,
        buffer: &mut ReadBuffer,
        needed: usize,
        amount: Amount,
    ) -> Result<bool, CloseReason> {
        let spare = buffer.spare_within(needed, self.charge.capacity());
        let most = match amount {
            Amount::Exact => needed.clamp(1, spare.len()),
            Amount::Available => spare.len(),
        };
        match self.socket.read(&mut spare[..most])? {
            None => Ok(false),
            Some(0) => Err(CloseReason::Closed),
            Some(count) => {
                self.has_progress |= buffer.waiting().is_empty();
                buffer.filled(count);
                self.charge.lower(buffer.capacity());
                if amount == Amount::Available {
                    self.read_at = now();
                    self.coalescer.read(count, self.read_at);
                }
                Ok(true)
            }
        }
    }

    /// Waits for data to read. Returns `false` if the deadline passes first.
    async fn wait(&mut self, until: Duration) -> Result<bool, CloseReason> {
        let left = until.saturating_sub(now());
        let exit = tokio::select! {
            biased;
            exit = receive_within(&mut self.me, left) => exit,
            ready = self.socket.ready(Interest::READABLE) => {
                return ready.map(|()| true).map_err(CloseReason::lost);
            }
        };
        exit.map_or(Ok(false), |exit| Err(exit.into()))
    }

    /// Checks the mailbox for an exit signal.
    fn check_exit_signal(&mut self, buffer: &mut ReadBuffer) -> Result<(), CloseReason> {
        let Some(exit) = self.me.try_receive() else { return Ok(()) };
        match exit.into() {
            CloseReason::GaveWay => Ok(()),
            CloseReason::OverBudget if self.free(buffer) => Ok(()),
            end => Err(end),
        }
    }
}

/// Whether an exit signal is a request of another connection or an acceptor of the server.
fn is_request(exit: &Exit) -> bool {
    matches!(&exit.reason, ExitReason::ShutdownWith(why) if why.downcast_ref::<CloseReason>().is_some())
}

#[cfg(test)]
mod tests;
