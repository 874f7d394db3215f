//! A handler that hands whole blocks to a process, and waits for its word.
//!
//! For each connection at most one block is on its way, so a process that is slow
//! slows its clients down, and its mailbox holds no more blocks than there are
//! connections. COST: a block of memory, a copy, and a call for each batch.

use std::time::Duration;

use purlin::{ExitReason, Pid, Reply};

use super::{Batch, Block, Handler, Unhandled};
use crate::session::Level;

/// Some messages of one connection, for a process, and the right to say what became of them.
///
/// Dropping it says that nobody knows: the connection ends, and nothing of it is acknowledged.
#[derive(Debug)]
pub struct Handed {
    /// The messages.
    pub block: Block,
    reply: Reply<Result<(), Unhandled>>,
}

impl Handed {
    /// They are taken, as far as their [level](Block::level) asks, and are acknowledged now.
    pub fn done(self) {
        self.reply.send(Ok(()));
    }

    /// They, or some of them, are not taken.
    pub fn not_done(self, why: Unhandled) {
        self.reply.send(Err(why));
    }
}

/// Hands messages to a process, which says when they are [done](Handed::done).
///
/// ```
/// use purlin::{Process, spawn};
/// use purlin_ack::handler::{Handed, ToProcess};
/// use purlin_ack::server::Server;
///
/// async fn printer(mut me: Process<Handed>) {
///     loop {
///         let handed = me.receive().await;
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
    patience: Duration,
    offers: Level,
}

impl<M: From<Handed> + Send + 'static> ToProcess<M> {
    /// To that process. It has a minute for each block and is not asked for [`Level::Durable`], unless
    /// said otherwise.
    pub fn new(process: Pid<M>) -> Self {
        Self { process, patience: Duration::from_secs(60), offers: Level::Handled }
    }

    /// How long it may take for a block before the connection is given up.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The process can take messages at this level.
    #[must_use]
    pub fn offering(mut self, level: Level) -> Self {
        self.offers = level;
        self
    }
}

impl<M: From<Handed> + Send + 'static> Handler for ToProcess<M> {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let block = batch.take();
        let done = |reply| M::from(Handed { block, reply });
        match self.process.call_timeout(done, self.patience).await {
            Ok(answer) => answer,
            Err(error) => Err(Unhandled::Failed(ExitReason::error(error))),
        }
    }

    fn offers(&self) -> Level {
        self.offers
    }
}

impl<M: Send + 'static> std::fmt::Debug for ToProcess<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ToProcess").field(&self.process).finish()
    }
}
