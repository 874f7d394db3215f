//! One connection to one node, after the handshake.
//!
//! [`Link::start`] takes the stream. From then on the owners of the [`Link`] send, and incoming
//! signals go to a [`Receive`]. Any thread may send. Everything else happens in tasks of the tokio
//! runtime in which it was started; the reader and the writer can also run elsewhere:
//!
//! | task | waits for | does |
//! |---|---|---|
//! | reader | bytes, and the receiver | decodes frames and passes signals on in order, one block at a time |
//! | ticker, within the reader | a quarter of the tick time | sends ticks on an idle link; ends a silent link |
//! | writer | frames | writes all queued frames and the next fragments of large messages in one batch |
//! | end task | the end | logs it |
//!
//! # Order
//!
//! The signals of one process arrive in the order in which they were sent. The sender encodes its
//! frame under the lock, so the order of sends is the order of frames. A large payload is encoded by its
//! sender without the lock; the writer takes its fragments, those of several senders in turn. Meanwhile later signals of
//! the *same* process are held back; those of other processes are not.
//!
//! # Memory
//!
//! [`Link::send`] waits while more than [`Settings::high_watermark`] bytes are queued, and while a
//! large message of the same sender is in progress. [`Link::signal_behind`] never waits. Answers to the peer
//! ([`Origin::Peer`]) are counted wherever they wait: queued, in progress as large messages, held back behind one, or
//! deferred by the sender ([`Link::defer`]). While their bytes exceed [`Settings::answer_limit`]
//! ([`Link::owes_too_much`]), the receiver holds signals that need an answer, and passes on all others: two nodes that
//! owe each other much both continue to read. While it holds many signals, it lets messages of local processes
//! wait ([`Link::pause`]), so that the peer, if it does the same, receives only answers and what was queued before. An answer
//! behind messages of a local process does not wait for the end of the pause.
//!
//! A large message is encoded once, when it is sent, and its fragments are slices of the encoding; long binaries of a term
//! are shared and not encoded. A receiver that does not accept signals stops the reader, and TCP flow control slows the peer.
//!
//! # End
//!
//! A link ends when either side closes it, when nothing is received for the tick time, when the peer reads
//! nothing for the tick time although bytes are waiting for it, or on a protocol error; one line is logged. Unwritten
//! frames are lost, as on the BEAM; later senders receive [`Unsent`]. Signals that were read and not yet passed on are
//! lost, too: when [`Link::ended`] returns, the receiver has returned from its last signal. Dropping every [`Link`] does
//! not end it: [`Link::close`] does.
//!
//! COST: one task each for reading, writing and the end; buffers of about 64 KiB that grow with
//! their content.

mod answers;
mod ended;
mod large;
mod origin;
mod reader;
mod settings;
mod shared;
mod ticker;
mod writer;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncRead, AsyncWrite};
use tracing::{info, warn};

use crate::flags::Flags;
use crate::frame::{Encoded, OutgoingControl, Payload, Signal, Unsendable};
use crate::handshake::Established;
use crate::name::NodeName;
use answers::OVERHEAD;
use purlin_term::Pid;
use shared::{Shared, notified_until};

pub use answers::DeferredAnswer;
pub use ended::{Ended, Unsent};
pub use origin::Origin;
pub use reader::Receive;
pub use settings::Settings;

/// Traffic of a link after the handshake, counted before encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Bytes queued for writing.
    pub waiting: usize,
    /// Incoming messages that were dropped, because they were invalid or exceeded a limit.
    pub dropped: u64,
}

/// The reader or writer of a link, which runs until the link ends.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection to a node. Clones refer to the same connection.
#[derive(Clone, Debug)]
pub struct Link(Arc<Shared>);

impl Link {
    /// Starts the link to the peer of a completed handshake over `stream`. Must be called within a tokio runtime.
    pub fn start<S, R>(stream: S, peer: Established, settings: Settings, receive: R) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
        R: Receive,
    {
        Self::start_on(tokio::io::split(stream), peer, settings, receive, |task| {
            tokio::spawn(task);
        })
    }

    /// Like [`Link::start`], for a split stream whose reader and writer are run by `spawn`. The link ends when either
    /// of them ends. Must also be called within a tokio runtime.
    pub fn start_on<R, W, V>(
        (read, write): (R, W),
        peer: Established,
        settings: Settings,
        receive: V,
        spawn: impl Fn(Task),
    ) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
        V: Receive,
    {
        let shared = Arc::new(Shared::new(peer, settings));
        spawn(Box::pin(self::read(read, ReaderOver(Arc::clone(&shared)), receive)));
        spawn(Box::pin(self::write(write, Over(Arc::clone(&shared)))));
        tokio::spawn(log_end(Arc::clone(&shared)));
        Self(shared)
    }

    /// The peer's name.
    #[inline]
    #[must_use]
    pub fn peer(&self) -> &NodeName {
        &self.0.peer.peer
    }

    /// The peer's creation.
    #[must_use]
    pub fn creation(&self) -> u32 {
        self.0.peer.creation
    }

    /// The flags that both nodes have.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.0.peer.flags
    }

    /// Sends a signal, after waiting for capacity. When it returns, the signal is queued.
    ///
    /// # Errors
    /// The link has ended, or the signal cannot be sent.
    ///
    /// *Cancellation*: nothing has been sent.
    pub async fn send(&self, signal: Signal) -> Result<(), Unsent> {
        self.wait_for_capacity(signal.control.sender()).await;
        self.signal(signal)
    }

    /// Whether [`Link::send`] with this ordering key would not wait; also `true` if the link has ended.
    #[inline]
    #[must_use]
    pub fn has_capacity(&self, ordering_key: Option<&Pid>) -> bool {
        self.0.has_room(ordering_key)
    }

    /// Waits for capacity.
    pub async fn wait_for_capacity(&self, ordering_key: Option<&Pid>) {
        // WHY checked first: registering a waiter takes longer than sending.
        if !self.has_capacity(ordering_key) {
            let has_capacity = || self.has_capacity(ordering_key).then_some(());
            notified_until(&self.0.capacity, has_capacity).await;
        }
    }

    /// Sends a signal without waiting for capacity. Any thread may call it.
    ///
    /// # Errors
    /// The link has ended, or the signal cannot be sent.
    pub fn signal(&self, signal: Signal) -> Result<(), Unsent> {
        let Signal { control, payload } = signal;
        let payload = payload.map(Payload::Term);
        self.signal_behind(Origin::Process, control.sender(), &control, payload)
    }

    /// Like [`Link::signal`], in order with all signals sent with the same ordering key, by any sender.
    ///
    /// # Errors
    /// As [`Link::signal`].
    pub fn signal_behind<'a>(
        &self,
        origin: Origin,
        ordering_key: Option<&Pid>,
        control: impl Into<OutgoingControl<'a>>,
        payload: Option<Payload<'_>>,
    ) -> Result<(), Unsent> {
        self.0.put(origin, ordering_key, control.into(), payload)
    }

    /// Whether more bytes of answers ([`Origin::Peer`]) wait for the peer than [`Settings::answer_limit`], without the
    /// largest one. A receiver then holds further signals that need an answer.
    #[inline]
    #[must_use]
    pub fn owes_too_much(&self) -> bool {
        self.0.owes_too_much()
    }

    /// Whether they are more than [`Settings::suspend_limit`], too. A process that answers is then suspended.
    #[inline]
    #[must_use]
    pub fn suspends(&self) -> bool {
        self.owes_too_much() && self.0.owes_more_than_suspends()
    }

    /// Waits until [`Link::owes_too_much`] is `false`. Returns `false` if the link has ended.
    pub async fn wait_for_answers(&self) -> bool {
        let is_over = || match &self.0.lock().ended {
            Some(_) => Some(false),
            None => (!self.owes_too_much()).then_some(true),
        };
        notified_until(&self.0.capacity, is_over).await
    }

    /// Lets messages of local processes wait as long as `paused`, because signals of the peer are held. Those that an
    /// answer waits behind do not wait.
    pub fn pause(&self, paused: bool) {
        self.0.pause(paused);
    }

    /// Counts an answer that is sent behind messages with this ordering key, until the returned value is dropped.
    /// Returns it with the payload, encoded.
    ///
    /// # Errors
    /// The payload cannot be encoded.
    pub fn defer(
        &self,
        ordering_key: Option<&Pid>,
        payload: Option<Payload<'_>>,
    ) -> Result<(DeferredAnswer, Option<Payload<'static>>), Unsendable> {
        let payload = payload.map(Payload::encoded).transpose()?;
        let memory = OVERHEAD + payload.as_ref().map_or(0, Encoded::len);
        let payload = payload.map(Payload::Encoded);
        let mut state = self.0.lock();
        state.answers.store(memory);
        state.answers.wait_behind(ordering_key.cloned());
        self.0.update_crowded(&state);
        self.0.is_to_write(state);
        self.0.capacity.notify_waiters();
        let (shared, ordering_key) = (Arc::clone(&self.0), ordering_key.cloned());
        Ok((DeferredAnswer { shared, ordering_key, memory }, payload))
    }

    /// Number of bytes that had been received of incomplete large messages before the last signal, for
    /// [`Receive::signal`]. They are bounded by [`Limits::fragments`](crate::frame::Limits::fragments).
    #[must_use]
    pub fn incomplete(&self) -> usize {
        self.0.incomplete.load(Ordering::Relaxed)
    }

    /// Counts an incoming message that the receiver has dropped after it had accepted it.
    pub fn count_dropped(&self) {
        // ORDER: relaxed: a counter.
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Traffic so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let state = self.0.lock();
        let (bytes_out, waiting) = (state.bytes_out, state.waiting());
        // ORDER: relaxed: counters.
        let [bytes_in, dropped] =
            [&self.0.bytes_in, &self.0.dropped].map(|counter| counter.load(Ordering::Relaxed));
        Traffic { bytes_in, bytes_out, waiting, dropped }
    }

    /// Closes the link after all queued signals are written, or after half of the tick time if they cannot be. Later
    /// sends fail.
    pub fn close(&self) {
        self.0.lock().closing = true;
        // A paused large message is sent before the end.
        self.0.pause(false);
        self.0.to_write.notify_one();
    }

    /// Ends the link immediately. Queued signals are lost.
    pub fn abort(&self) {
        self.0.end(Ended::ByUs);
    }

    /// Waits for the end of the link and returns its reason. The receiver gets no signal afterwards.
    pub async fn ended(&self) -> Ended {
        self.0.quiet().await
    }
}

/// Runs the reader and the ticker.
async fn read<S: AsyncRead + Unpin, R: Receive>(stream: S, over: ReaderOver, receive: R) {
    let shared = &*over.0;
    let ended = tokio::select! {
        ended = reader::run(stream, shared, receive) => ended,
        ended = ticker::run(shared) => ended,
        _ = shared.over() => return,
    };
    over.0.end(ended);
}

async fn write<S: AsyncWrite + Unpin>(stream: S, over: Over) {
    let shared = &*over.0;
    let ended = tokio::select! {
        ended = writer::run(stream, shared) => ended,
        _ = shared.over() => return,
    };
    over.0.end(ended);
}

async fn log_end(shared: Arc<Shared>) {
    let ended = shared.over().await;
    let peer = &shared.peer.peer;
    match &ended {
        Ended::ByUs | Ended::ByPeer => info!(%peer, "disconnected: {ended}"),
        Ended::IdleTimeout | Ended::SlowReader | Ended::Io(_) | Ended::Broken(_) => {
            warn!(%peer, "disconnected: {ended}")
        }
    }
}

/// Ends the link when dropped, however its task ended: also by a panic of the receiver, or when the runtime is dropped.
struct Over(Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.end(Ended::ByUs);
    }
}

/// Like [`Over`], for the reader, which is dropped before.
struct ReaderOver(Arc<Shared>);

impl Drop for ReaderOver {
    fn drop(&mut self) {
        self.0.end_reader();
    }
}
