//! State shared by the tasks of a link and its senders.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin_term::Pid;
use tokio::sync::Notify;

use crate::frame::{Encoded, Outgoing, OutgoingControl, Payload, Size, Unsendable};
use crate::handshake::Established;
use crate::link::answers::{Answers, OVERHEAD};
use crate::link::ended::{Ended, Unsent};
use crate::link::large::{Held, Sender};
use crate::link::origin::Origin;
use crate::link::settings::Settings;

/// State shared by the tasks of a link and its senders.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) peer: Established,
    pub(super) settings: Settings,
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
    /// Hint that more bytes of answers are owed than [`Settings::answer_limit`].
    owes_too_much: AtomicBool,
    /// Number of reads; `bytes_in` is the number of bytes read.
    pub(super) reads: AtomicU64,
    /// Number of writes that the peer or the system's buffers have taken.
    pub(super) taken: AtomicU64,
    pub(super) bytes_in: AtomicU64,
    /// Bytes of incomplete messages before the signal that the receiver handles.
    pub(super) incomplete: AtomicUsize,
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
    pub(super) answers: Answers,
    /// Messages of local processes wait, because signals of the peer wait for their answers.
    pub(super) paused: bool,
    /// The writer waits for frames.
    pub(super) writer_waits: bool,
    /// Number of writes; `bytes_out` is the number of bytes written.
    pub(super) writes: u64,
    pub(super) bytes_out: u64,
    /// Senders with a large message in progress, in turn.
    pub(super) senders: VecDeque<Sender>,
    /// For each of these senders, the signals held back behind it.
    pub(super) held_back: HashMap<Option<Pid>, VecDeque<Held>>,
    pub(super) closing: bool,
    pub(super) ended: Option<Ended>,
    /// The reader has been dropped: the receiver gets no further signal.
    pub(super) reader_ended: bool,
}

impl State {
    /// Number of bytes to be written.
    pub(super) fn waiting(&self) -> usize {
        self.out.waiting() + self.in_flight
    }

    /// Whether any sender has to wait.
    fn is_crowded(&self, high_watermark: usize) -> bool {
        self.waiting() > high_watermark || !self.held_back.is_empty() || self.paused
    }

    /// Whether a message of a local process with this ordering key must wait. It does not if an answer waits behind it.
    pub(super) fn is_paused(&self, ordering_key: &Option<Pid>) -> bool {
        self.paused && !self.answers.is_behind(ordering_key)
    }

    /// No longer counts a held signal, which has been queued, if it is an answer.
    pub(super) fn release(&mut self, (origin, memory): (Origin, usize)) {
        if origin == Origin::Peer {
            self.answers.release(memory);
        }
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
            self.answers.queued += self.out.waiting() - before;
        }
        Ok(size)
    }
}

impl Shared {
    pub(super) fn new(peer: Established, settings: Settings) -> Self {
        let state = State {
            out: Outgoing::new(peer.flags),
            in_flight: 0,
            answers: Answers::default(),
            paused: false,
            writer_waits: false,
            writes: 0,
            bytes_out: 0,
            senders: VecDeque::new(),
            held_back: HashMap::new(),
            closing: false,
            ended: None,
            reader_ended: false,
        };
        Self {
            peer,
            settings,
            state: Mutex::new(state),
            to_write: Notify::new(),
            capacity: Notify::new(),
            over: Notify::new(),
            crowded: AtomicBool::new(false),
            owes_too_much: AtomicBool::new(false),
            reads: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            incomplete: AtomicUsize::new(0),
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
        let owes_too_much = state.answers.owed() > self.settings.answer_limit;
        self.owes_too_much.store(owes_too_much, Ordering::Relaxed);
    }

    /// Whether more bytes of answers are owed than the limit.
    #[inline]
    pub(super) fn owes_too_much(&self) -> bool {
        // ORDER: relaxed: a receiver that reads an old value takes some more signals.
        self.owes_too_much.load(Ordering::Relaxed)
    }

    /// Whether more bytes of answers are owed than [`Settings::suspend_limit`].
    #[cold]
    pub(super) fn owes_more_than_suspends(&self) -> bool {
        self.lock().answers.owed() > self.settings.suspend_limit
    }

    /// Whether a sender need not wait. Also `true` if the link has ended, so that the sender gets the error.
    #[inline]
    pub(super) fn has_room(&self, sender: Option<&Pid>) -> bool {
        !self.crowded.load(Ordering::Relaxed) || self.has_room_now(sender)
    }

    fn has_room_now(&self, sender: Option<&Pid>) -> bool {
        let (state, key) = (self.lock(), sender.cloned());
        let is_free = state.waiting() <= self.settings.high_watermark && !state.paused;
        let has_room =
            (is_free || state.answers.is_behind(&key)) && !state.held_back.contains_key(&key);
        state.ended.is_some() || has_room
    }

    /// Queues a signal, or holds it back behind its sender's large message.
    pub(super) fn put(
        &self,
        origin: Origin,
        sender: Option<&Pid>,
        control: OutgoingControl<'_>,
        payload: Option<Payload<'_>>,
    ) -> Result<(), Unsent> {
        let message = control.control;
        if message.has_payload() != payload.is_some() {
            return Err(Unsendable::Payload.into());
        }
        let mut state = self.open()?;
        let is_behind =
            !state.held_back.is_empty() && state.held_back.contains_key(&sender.cloned());
        if !is_behind && state.queue(origin, control, payload.as_ref())? == Size::Small {
            self.has_queued(state);
            return Ok(());
        }
        // WHY without the lock: it may be large.
        drop(state);
        let payload = payload.map(Payload::encoded).transpose().map_err(Unsendable::from)?;
        let memory = OVERHEAD + payload.as_ref().map_or(0, Encoded::len);
        let (control, payload) = (message.clone(), payload.map(Payload::Encoded));
        let held = Held { origin, control, payload, memory };
        let mut state = self.open()?;
        if origin == Origin::Peer {
            state.answers.store(memory);
            state.answers.wait_behind(sender.cloned());
        }
        match state.held_back.get_mut(&sender.cloned()) {
            Some(behind) => behind.push_back(held),
            None => {
                state.held_back.insert(sender.cloned(), VecDeque::from([held]));
                state.senders.push_back(Sender { key: sender.cloned(), large: None });
            }
        }
        self.update_crowded(&state);
        let paused = state.paused;
        self.is_to_write(state);
        if paused {
            // The answer may wait behind a message of a local process.
            self.capacity.notify_waiters();
        }
        Ok(())
    }

    /// Updates the hints after a small signal was queued, and wakes the writer.
    fn has_queued(&self, state: MutexGuard<'_, State>) {
        if state.is_crowded(self.settings.high_watermark)
            || state.answers.owed() > self.settings.answer_limit
        {
            self.update_crowded(&state);
        }
        self.is_to_write(state);
    }

    /// The state of a link that accepts signals.
    fn open(&self) -> Result<MutexGuard<'_, State>, Unsent> {
        let state = self.lock();
        match &state.ended {
            Some(ended) => Err(Unsent::Ended(ended.clone())),
            None if state.closing => Err(Unsent::Ended(Ended::ByUs)),
            None => Ok(state),
        }
    }

    /// Makes messages of local processes wait, or lets them continue.
    pub(super) fn pause(&self, paused: bool) {
        let mut state = self.lock();
        state.paused = paused && !state.closing;
        self.update_crowded(&state);
        self.is_to_write(state);
        self.capacity.notify_waiters();
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

    /// Waits for the end, and until the receiver gets no further signal. Returns the reason of the end.
    pub(super) async fn quiet(&self) -> Ended {
        let ended = || {
            let state = self.lock();
            if state.reader_ended { state.ended.clone() } else { None }
        };
        notified_until(&self.over, ended).await
    }

    /// Ends the link with its reader.
    pub(super) fn end_reader(&self) {
        self.lock().reader_ended = true;
        self.end(Ended::ByUs);
    }

    /// Ends the link, unless it has ended; queued frames are lost.
    pub(super) fn end(&self, ended: Ended) {
        let mut state = self.lock();
        state.ended.get_or_insert(ended);
        let behind = (std::mem::take(&mut state.senders), std::mem::take(&mut state.held_back));
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
