//! One connection to one node, after its handshake.
//!
//! [`Link::start`] takes the stream; from then on whoever has the [`Link`] sends, and what
//! comes goes to a [`Receive`]. Any thread may send. Everything else happens in tasks, of
//! the tokio runtime in which it was started unless it is said where reader and writer run:
//!
//! | task | waits for | does |
//! |---|---|---|
//! | reader | bytes, and for the receiver | takes frames apart, hands signals over in order, a block at a time |
//! | ticker, within it | a quarter of the tick time | ticks if nothing was written; ends a link over which nothing came |
//! | writer | something to write | writes all there is at once |
//! | one per large message | room | encodes a portion, puts it out |
//! | one more | the end | logs it |
//!
//! # Order
//!
//! What one process sends arrives in the order in which it was sent. Frames are made under
//! the lock by whoever sends, so the order of sends is the order of frames. A large payload
//! is made by a task, a portion at a time, and while that is under way whatever the *same*
//! process sends waits behind it. Others go on.
//!
//! # Memory
//!
//! [`Link::send`] waits while more than [`Settings::busy`] bytes are to be written, and
//! while a large message of the same sender is under way. [`Link::signal`] never waits, for
//! answers that the protocol owes, which are small and at most as many as came. A large
//! payload is encoded only as fast as it is written. A receiver that does not take what
//! came stops the reader, and TCP slows the other node.
//!
//! # End
//!
//! A link ends when either side closes it, when nothing came for the tick time, or when
//! what came is not the protocol; one line is logged. What was not written is lost, as on
//! the BEAM; who sends then is told [`Unsent`]. Dropping every [`Link`] does not end it:
//! [`Link::close`] does.
//!
//! COST: a task each for reading, writing and the rest; buffers of some 64 KiB that grow
//! with what they hold.

mod ended;
mod large;
mod reader;
mod shared;
mod ticker;
mod writer;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tracing::{info, warn};

use crate::control::Control;
use crate::flags::Flags;
use crate::frame::{Broken, Limits, Payload, Recipient, Say, Signal, Unread};
use crate::handshake::Established;
use crate::name::NodeName;
use purlin_term::Pid;
use shared::Shared;

pub use ended::{Ended, Unsent};

/// How a link behaves.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// After how long a silence the other node counts as gone, `net_ticktime`: 60 s. It is found out up to a
    /// quarter sooner or later. Both nodes should have the same.
    pub tick_time: Duration,
    /// How many bytes may be to be written before senders wait: 1 MiB.
    pub busy: usize,
    /// What the other node may ask us to keep.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        let limits = Limits::default();
        Self { tick_time: Duration::from_secs(60), busy: 1 << 20, limits }
    }
}

/// What has crossed a link, after the handshake; before encryption, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Bytes read.
    pub bytes_in: u64,
    /// Bytes written.
    pub bytes_out: u64,
    /// Bytes that are to be written.
    pub waiting: usize,
}

/// Gets what the other node says, in order.
pub trait Receive: Send + 'static {
    /// Takes a signal. Nothing more is read until it is done.
    ///
    /// # Errors
    /// Its payload cannot be: the link ends.
    fn signal(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
    ) -> impl Future<Output = Result<(), Broken>> + Send;

    /// Takes a message at once. It is asked before [`Receive::signal`], which gets what this does not take: `None`.
    /// [`Recipient::Same`] is whoever it was asked about last.
    fn message(&mut self, to: Recipient<'_>, message: Unread<'_>) -> Option<Result<(), Broken>> {
        let _ = (to, message);
        None
    }
}

/// What nobody takes any more is dropped.
impl Receive for mpsc::Sender<Signal> {
    async fn signal(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
    ) -> Result<(), Broken> {
        let payload = payload.map(Unread::term).transpose()?;
        let _ = self.send(Signal { control, payload }).await;
        Ok(())
    }
}

/// What reads or writes for a link, until it ends.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection to a node. A clone is the same one.
#[derive(Clone, Debug)]
pub struct Link(Arc<Shared>);

impl Link {
    /// Begins to talk with the node that a handshake over `stream` has established. Must be called within a
    /// tokio runtime.
    pub fn start<S, R>(stream: S, peer: Established, settings: Settings, receive: R) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
        R: Receive,
    {
        Self::start_on(tokio::io::split(stream), peer, settings, receive, |task| {
            tokio::spawn(task);
        })
    }

    /// [`Link::start`] of a stream in halves, whose reader and writer run where `spawn` puts them; the link ends with
    /// either. Must be called within a tokio runtime, too.
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
        spawn(Box::pin(self::read(read, Over(Arc::clone(&shared)), receive)));
        spawn(Box::pin(self::write(write, Over(Arc::clone(&shared)))));
        tokio::spawn(tell_of_end(Arc::clone(&shared)));
        Self(shared)
    }

    /// Who is at the other end.
    #[must_use]
    pub fn peer(&self) -> &NodeName {
        &self.0.peer.peer
    }

    /// Which node of that name it is.
    #[must_use]
    pub fn creation(&self) -> u32 {
        self.0.peer.creation
    }

    /// What both nodes can do.
    #[must_use]
    pub fn flags(&self) -> Flags {
        self.0.peer.flags
    }

    /// Sends, when there is room. Once it waits no longer, the signal is on its way.
    ///
    /// # Errors
    /// The link has ended, or the signal cannot be sent. Cancelled, it has sent nothing.
    pub async fn send(&self, signal: Signal) -> Result<(), Unsent> {
        self.room(signal.control.sender()).await;
        self.signal(signal)
    }

    /// Whether [`Link::send`] would not wait, behind that line; also if the link has ended.
    #[must_use]
    pub fn has_room(&self, line: Option<&Pid>) -> bool {
        self.0.has_room(line)
    }

    /// Waits until there is room.
    pub async fn room(&self, line: Option<&Pid>) {
        // WHY first without: to begin to wait takes longer than to send.
        while !self.has_room(line) {
            let room = self.0.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            if !self.has_room(line) {
                room.await;
            }
        }
    }

    /// Sends at once, whatever waits already: for answers that are owed. Any thread may call it.
    ///
    /// # Errors
    /// The link has ended, or the signal cannot be sent.
    pub fn signal(&self, signal: Signal) -> Result<(), Unsent> {
        let Signal { control, payload } = signal;
        self.signal_behind(control.sender(), &control, payload.map(Payload::Term))
    }

    /// [`Link::signal`], but in order with what was sent behind the same `line`, whoever sends it.
    ///
    /// # Errors
    /// As [`Link::signal`].
    pub fn signal_behind<'a>(
        &self,
        line: Option<&Pid>,
        control: impl Into<Say<'a>>,
        payload: Option<Payload<'_>>,
    ) -> Result<(), Unsent> {
        if let Some(large) = Shared::put(&self.0, line, control.into(), payload)? {
            self.0.runtime.spawn(large.run());
        }
        Ok(())
    }

    /// How many bytes are to be written.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().waiting()
    }

    /// What has crossed it so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        let state = self.0.lock();
        let (bytes_out, waiting) = (state.bytes_out, state.waiting());
        // ORDER: relaxed, as it is counted.
        Traffic { bytes_in: self.0.bytes_in.load(Ordering::Relaxed), bytes_out, waiting }
    }

    /// Ends the link, after what was sent before is written; if it cannot be, within half of the tick time.
    /// Nothing more is sent.
    pub fn close(&self) {
        self.0.lock().closing = true;
        self.0.to_write.notify_one();
    }

    /// Why it has ended, when it has.
    pub async fn ended(&self) -> Ended {
        self.0.over().await
    }
}

/// The reader and the ticker.
async fn read<S: AsyncRead + Unpin, R: Receive>(stream: S, over: Over, receive: R) {
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

async fn tell_of_end(shared: Arc<Shared>) {
    let ended = shared.over().await;
    let peer = &shared.peer.peer;
    match &ended {
        Ended::ByUs | Ended::ByPeer => info!(%peer, "disconnected: {ended}"),
        Ended::Silent | Ended::Io(_) | Ended::Broken(_) => warn!(%peer, "disconnected: {ended}"),
    }
}

/// Ends a link, whatever ended its tasks: a receiver that panics, and a runtime that is dropped, too.
struct Over(Arc<Shared>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.end(Ended::ByUs);
    }
}
