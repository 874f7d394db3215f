//! Handler that sends blocks to a process and waits for its reply.
//!
//! Each connection has at most one block in flight. A slow process therefore slows its clients
//! down, and its mailbox holds at most one block per connection.
//!
//! *Timeout.* A block that the process has not begun when the connection stops waiting is
//! *abandoned*: [`begin`](HandedBatch::begin) returns `false`, and the messages that the client
//! resends are handled once. A block that was begun has the timeout once more to be finished.
//!
//! INVARIANT: a block is begun or abandoned, never both.
//!
//! COST: two allocations, a copy, a call and a timer per batch.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use purlin::{ExitReason, Pid, Reply};
use tokio::time::timeout;

use super::{Batch, Block, Handler, Unhandled};
use crate::wire::session::Level;

/// A block of messages sent to a process, with the handle for the reply.
///
/// Dropping it without a reply ends the connection, and no message of the block is acknowledged.
#[derive(Debug)]
pub struct HandedBatch {
    /// The messages.
    pub block: Block,
    state: Arc<AtomicU8>,
    reply: Reply<Result<(), Unhandled>>,
}

/// States of a block.
const QUEUED: u8 = 0;
const BEGUN: u8 = 1;
const ABANDONED: u8 = 2;

/// Moves a queued block to another state. Returns the state before.
fn advance(state: &AtomicU8, to: u8) -> u8 {
    // ORDER: relaxed: the messages are not published by the state, but by the mailbox.
    let moved = state.compare_exchange(QUEUED, to, Ordering::Relaxed, Ordering::Relaxed);
    moved.unwrap_or_else(|before| before)
}

impl HandedBatch {
    /// Claims the block, before the process handles its messages. Returns `false` if the connection
    /// has stopped waiting for it: drop the block then. The client sends its messages again, and a
    /// process that handled this block too would handle them twice.
    #[must_use]
    pub fn begin(&mut self) -> bool {
        advance(&self.state, BEGUN) != ABANDONED
    }

    /// Acknowledges the messages. The process has taken responsibility up to their
    /// [level](Block::level).
    pub fn done(self) {
        self.reply.send(Ok(()));
    }

    /// Reports that the messages, or some of them, were not handled.
    pub fn not_done(self, why: Unhandled) {
        self.reply.send(Err(why));
    }
}

/// Sends messages to a process, which replies with [`HandedBatch::done`].
///
/// In a session each message is handled *once, unless* the process has begun its block and then
/// takes longer than the [timeout](Self::timeout), or the connection is killed meanwhile: because
/// the client has reconnected and [`Limits::drain`](crate::server::Limits::drain) has passed since,
/// or because the server stops. The block is then finished, and the messages are handled again when
/// the client resends them. Without [`HandedBatch::begin`] the process also handles the blocks of
/// connections that have stopped waiting, and their messages twice.
///
/// ```
/// use purlin::{Process, spawn};
/// use purlin_ack::handler::{HandedBatch, ToProcess};
/// use purlin_ack::server::Server;
///
/// async fn printer(mut me: Process<HandedBatch>) {
///     loop {
///         let mut handed = me.receive().await;
///         if !handed.begin() {
///             continue;
///         }
///         for frame in handed.block.frames() {
///             println!("{}: {} bytes", frame.id, frame.payload.len());
///         }
///         handed.done();
///     }
/// }
///
/// # #[purlin::main] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let node = purlin::Node::current().expect("this is a process");
/// let printer = spawn(printer);
/// let server = Server::builder(([127, 0, 0, 1], 0).into())
///     .handler(move |_peer| ToProcess::new(printer.clone()))
///     .start(&node)
///     .await?;
/// # server.drain().await;
/// # Ok(())
/// # }
/// ```
pub struct ToProcess<M> {
    process: Pid<M>,
    timeout: Duration,
    offers: Level,
}

impl<M: From<HandedBatch> + Send + 'static> ToProcess<M> {
    /// Creates a handler that sends to `process`. By default the process has 60 s per block, and
    /// the handler offers [`Level::Handled`].
    pub fn new(process: Pid<M>) -> Self {
        Self { process, timeout: Duration::from_secs(60), offers: Level::Handled }
    }

    /// Sets the timeout after which the connection ends: for a block to be begun, and then for it
    /// to be finished.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the highest level the process supports.
    #[must_use]
    pub fn offering(mut self, level: Level) -> Self {
        self.offers = level;
        self
    }
}

impl<M: From<HandedBatch> + Send + 'static> Handler for ToProcess<M> {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let block = batch.take();
        let state = Arc::new(AtomicU8::new(QUEUED));
        let abandon = Abandon(Arc::clone(&state));
        let done = |reply| M::from(HandedBatch { block, state, reply });
        let mut call = pin!(self.process.call_timeout(done, Duration::MAX));
        let mut answer = timeout(self.timeout, &mut call).await;
        if answer.is_err() && advance(&abandon.0, ABANDONED) == BEGUN {
            answer = timeout(self.timeout, &mut call).await;
        }
        match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => Err(Unhandled::Failed(ExitReason::error(error))),
            Err(_) => Err(Unhandled::Failed(ExitReason::error(TimedOut(self.timeout)))),
        }
    }

    fn offers(&self) -> Level {
        self.offers
    }
}

/// Abandons the block, unless it was begun, when the connection stops waiting in any way.
struct Abandon(Arc<AtomicU8>);

impl Drop for Abandon {
    fn drop(&mut self) {
        advance(&self.0, ABANDONED);
    }
}

/// Error of a process that has not replied in time.
#[derive(Debug)]
struct TimedOut(Duration);

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the process has not handled a block within {:?}", self.0)
    }
}

impl std::error::Error for TimedOut {}

impl<M: Send + 'static> fmt::Debug for ToProcess<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToProcess").field(&self.process).finish()
    }
}
