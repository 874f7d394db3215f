//! State shared by the tasks of a link and its senders.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin_term::Pid;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::frame::{Outgoing, OutgoingControl, Payload, Signal, Size, Unsendable};
use crate::handshake::Established;
use crate::link::ended::{Ended, Unsent};
use crate::link::origin::Origin;
use crate::link::settings::Settings;

/// Maximum number of large messages of this node, in progress or held back, while requests of the peer may start.
const MAX_LARGE: usize = 16;

/// State shared by the tasks of a link and its senders.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) peer: Established,
    pub(super) settings: Settings,
    /// Runtime of the link's tasks.
    pub(super) runtime: Handle,
    state: Mutex<State>,
    /// Wakes the writer.
    pub(super) to_write: Notify,
    /// Wakes senders that wait for capacity.
    pub(super) capacity: Notify,
    /// Wakes tasks that wait for the end.
    over: Notify,
    /// Hint that a sender may have to wait. INVARIANT: whenever the lock is free, it is set if [`State::is_crowded`]
    /// holds.
    crowded: AtomicBool,
    /// Hint that more bytes of answers are queued than [`Settings::answer_limit`].
    owes_too_much: AtomicBool,
    /// Number of reads; `bytes_in` is the number of bytes read.
    pub(super) reads: AtomicU64,
    /// Number of writes that the peer or the system's buffers have taken.
    pub(super) taken: AtomicU64,
    pub(super) bytes_in: AtomicU64,
    /// Number of messages dropped because they were invalid.
    pub(super) dropped: AtomicU64,
    /// Whether the reader waits for the peer, and not for its receiver.
    pub(super) reading: AtomicBool,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) out: Outgoing,
    /// Bytes taken by the writer and not yet written.
    pub(super) in_flight: usize,
    /// Bytes of large messages in the queue; `fragment_bytes_in_flight` counts those taken by the writer.
    pub(super) fragment_bytes: usize,
    pub(super) fragment_bytes_in_flight: usize,
    /// Bytes of answers to the peer in the queue; `answer_bytes_in_flight` counts those taken by the writer.
    pub(super) answer_bytes: usize,
    pub(super) answer_bytes_in_flight: usize,
    /// Number of large messages in progress, and of signals held back, that have not waited for capacity.
    large: usize,
    /// The writer waits for frames.
    pub(super) writer_waits: bool,
    /// Number of writes; `bytes_out` is the number of bytes written.
    pub(super) writes: u64,
    pub(super) bytes_out: u64,
    /// For each sender with a large message in progress, the later signals held back.
    pub(super) held_back: HashMap<Option<Pid>, VecDeque<Held>>,
    pub(super) closing: bool,
    pub(super) ended: Option<Ended>,
}

/// A signal behind a large message of its sender, or a large message.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) origin: Origin,
    pub(super) signal: Signal<Payload<'static>>,
}

impl State {
    /// Number of bytes to be written.
    pub(super) fn waiting(&self) -> usize {
        self.out.waiting() + self.in_flight
    }

    /// Whether any sender has to wait.
    fn is_crowded(&self, high_watermark: usize) -> bool {
        self.waiting() > high_watermark || !self.held_back.is_empty()
    }

    fn owes_too_much(&self, limit: usize) -> bool {
        self.answer_bytes + self.answer_bytes_in_flight > limit
    }

    /// Counts a large message that is in progress or held back.
    fn add_large(&mut self, origin: Origin) {
        self.large += usize::from(origin != Origin::Process);
    }

    /// Undoes [`State::add_large`] for a message that is queued now.
    pub(super) fn remove_large(&mut self, origin: Origin) {
        self.large -= usize::from(origin != Origin::Process);
    }

    /// Queues a signal. If it is small and an answer, its bytes are counted.
    pub(super) fn queue<'a>(
        &mut self,
        origin: Origin,
        control: impl Into<OutgoingControl<'a>>,
        payload: Option<&Payload<'_>>,
    ) -> Result<Size, Unsendable> {
        let before = self.out.waiting();
        let size = self.out.put(control, payload)?;
        if origin == Origin::Peer {
            self.answer_bytes += self.out.waiting() - before;
        }
        Ok(size)
    }
}

impl Shared {
    pub(super) fn new(peer: Established, settings: Settings) -> Self {
        let state = State {
            out: Outgoing::new(peer.flags),
            in_flight: 0,
            fragment_bytes: 0,
            fragment_bytes_in_flight: 0,
            answer_bytes: 0,
            answer_bytes_in_flight: 0,
            large: 0,
            writer_waits: false,
            writes: 0,
            bytes_out: 0,
            held_back: HashMap::new(),
            closing: false,
            ended: None,
        };
        Self {
            peer,
            settings,
            runtime: Handle::current(),
            state: Mutex::new(state),
            to_write: Notify::new(),
            capacity: Notify::new(),
            over: Notify::new(),
            crowded: AtomicBool::new(false),
            owes_too_much: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            reading: AtomicBool::new(false),
        }
    }

    /// No user code runs under the lock, so a panic cannot leave the state inconsistent.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the hints that senders and the receiver read without the lock.
    pub(super) fn update_crowded(&self, state: &State) {
        // ORDER: relaxed: a reader that needs certainty takes the lock; one that reads an old value sends one more
        // signal.
        self.crowded.store(state.is_crowded(self.settings.high_watermark), Ordering::Relaxed);
        let owes_too_much = state.owes_too_much(self.settings.answer_limit);
        self.owes_too_much.store(owes_too_much, Ordering::Relaxed);
    }

    /// Whether more bytes of answers are queued than the limit.
    #[inline]
    pub(super) fn owes_too_much(&self) -> bool {
        // ORDER: relaxed: a receiver that reads an old value takes some more signals.
        self.owes_too_much.load(Ordering::Relaxed)
    }

    /// Whether the answer to a request of the peer could be sent soon. Also `true` if the link has ended.
    pub(super) fn has_room_for_answers(&self) -> bool {
        let state = self.lock();
        let has_room = state.waiting() <= self.settings.high_watermark && state.large < MAX_LARGE;
        state.ended.is_some() || has_room
    }

    /// Whether a sender need not wait. Also `true` if the link has ended, so that the sender gets the error.
    #[inline]
    pub(super) fn has_room(&self, sender: Option<&Pid>) -> bool {
        !self.crowded.load(Ordering::Relaxed) || self.has_room_now(sender)
    }

    fn has_room_now(&self, sender: Option<&Pid>) -> bool {
        let state = self.lock();
        let is_behind =
            || !state.held_back.is_empty() && state.held_back.contains_key(&sender.cloned());
        state.ended.is_some() || (state.waiting() <= self.settings.high_watermark && !is_behind())
    }

    /// Queues a signal, or holds it back behind its sender's large message. Returns the signal if it is large itself.
    pub(super) fn put(
        &self,
        origin: Origin,
        sender: Option<&Pid>,
        control: OutgoingControl<'_>,
        payload: Option<Payload<'_>>,
    ) -> Result<Option<Held>, Unsent> {
        let message = control.control;
        if message.has_payload() != payload.is_some() {
            return Err(Unsendable::Payload.into());
        }
        let mut state = self.lock();
        if let Some(ended) = &state.ended {
            return Err(Unsent::Ended(ended.clone()));
        }
        if state.closing {
            return Err(Unsent::Ended(Ended::ByUs));
        }
        let owned = |payload: Option<Payload<'_>>| Signal {
            control: message.clone(),
            payload: payload.map(Payload::into_owned),
        };
        if !state.held_back.is_empty()
            && let Some(behind) = state.held_back.get_mut(&sender.cloned())
        {
            behind.push_back(Held { origin, signal: owned(payload) });
            state.add_large(origin);
            return Ok(None);
        }
        match state.queue(origin, control, payload.as_ref())? {
            Size::Small => {
                if state.is_crowded(self.settings.high_watermark)
                    || state.owes_too_much(self.settings.answer_limit)
                {
                    self.update_crowded(&state);
                }
                self.is_to_write(state);
                Ok(None)
            }
            Size::Large => {
                state.held_back.insert(sender.cloned(), VecDeque::new());
                state.add_large(origin);
                self.update_crowded(&state);
                Ok(Some(Held { origin, signal: owned(payload) }))
            }
        }
    }

    /// Wakes the writer for new frames, or because the link is closing.
    pub(super) fn is_to_write(&self, mut state: MutexGuard<'_, State>) {
        // WHY the flag: most frames are queued while the writer is writing.
        let waits = std::mem::take(&mut state.writer_waits);
        drop(state);
        if waits {
            self.to_write.notify_one();
        }
    }

    /// Counts a read.
    pub(super) fn has_read(&self, bytes: usize) {
        // ORDER: relaxed: counters that order nothing else.
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Waits for the end and returns its reason.
    pub(super) async fn over(&self) -> Ended {
        notified_until(&self.over, || self.lock().ended.clone()).await
    }

    /// Ends the link, unless it has ended; queued frames are lost.
    pub(super) fn end(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        let behind = std::mem::take(&mut state.held_back);
        let out = std::mem::replace(&mut state.out, Outgoing::new(self.peer.flags));
        drop(state);
        drop((behind, out));
        self.capacity.notify_waiters();
        self.over.notify_waiters();
    }
}

/// Waits for notifications until `result` returns a result.
pub(super) async fn notified_until<T>(notify: &Notify, result: impl Fn() -> Option<T>) -> T {
    loop {
        let notified = notify.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if let Some(result) = result() {
            return result;
        }
        notified.await;
    }
}
