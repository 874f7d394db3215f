//! Task that sends one large message: encodes one fragment at a time, as fast as fragments are written.
//!
//! The payload is encoded twice: first to count the fragments, because the first fragment contains
//! their number, then to send them. So at most one encoded fragment is in memory, whatever the size
//! of the payload.

use std::sync::Arc;

use purlin_term::Pid;
use tokio::task::yield_now;
use tracing::error;

use crate::control::Control;
use crate::frame::{FRAGMENT_SIZE, Payload, Size, Unsendable};
use crate::link::origin::Origin;
use crate::link::shared::{Held, Shared, notified_until};

/// Low watermark for bytes of large messages in the queue: below it the next fragment is added. Frames of other senders
/// then wait for at most this and one fragment.
///
/// WHY only bytes of large messages: if other senders kept the queue long, a large message would never advance.
const LOW_WATERMARK: usize = FRAGMENT_SIZE;

/// A large message in progress, followed by later signals of its sender.
#[derive(Debug)]
pub(super) struct Large {
    shared: Arc<Shared>,
    sender: Option<Pid>,
    origin: Origin,
    memory: usize,
    control: Control,
    payload: Payload<'static>,
}

/// The link has ended.
struct Ended;

impl Large {
    pub(super) fn new(shared: &Arc<Shared>, sender: Option<Pid>, held: Held) -> Self {
        let (origin, memory, control, payload) = held.parts();
        Self { shared: Arc::clone(shared), sender, origin, memory, control, payload }
    }

    pub(super) async fn run(mut self) {
        loop {
            match self.send().await {
                Ok(Ok(())) => {}
                Ok(Err(unsendable)) => self.complain(unsendable),
                Err(Ended) => return,
            }
            let Some(next) = self.follow() else { return };
            (self.origin, self.memory, self.control, self.payload) = next.parts();
        }
    }

    async fn send(&self) -> Result<Result<(), Unsendable>, Ended> {
        let count = match self.count().await {
            Ok(count) => count,
            Err(unsendable) => return Ok(Err(unsendable)),
        };
        let mut portions = self.payload.fragments();
        let mut portion = Vec::with_capacity(FRAGMENT_SIZE);
        let mut sequence = 0;
        for left in (1..=count).rev() {
            portion.clear();
            if let Err(error) = portions.write(&mut portion, FRAGMENT_SIZE) {
                return Ok(Err(error.into()));
            }
            self.wait_for_low_watermark().await?;
            let at = if left == count { None } else { Some(sequence) };
            match self.put_out(at, left, &portion) {
                Ok(next) => sequence = next,
                Err(unsendable) => return Ok(Err(unsendable)),
            }
            self.shared.to_write.notify_one();
            yield_now().await;
        }
        Ok(Ok(()))
    }

    /// Adds a fragment to the queue; the first one if `at` is `None`. Returns the sequence id.
    fn put_out(&self, at: Option<u64>, left: u64, portion: &[u8]) -> Result<u64, Unsendable> {
        let mut state = self.shared.lock();
        let sequence = match at {
            None => state.out.first(&self.control, left, portion)?,
            Some(sequence) => {
                state.out.next(sequence, left, portion);
                sequence
            }
        };
        state.fragment_bytes += portion.len();
        Ok(sequence)
    }

    /// Number of fragments of the payload.
    async fn count(&self) -> Result<u64, Unsendable> {
        let mut portions = self.payload.fragments();
        let mut portion = Vec::with_capacity(FRAGMENT_SIZE);
        let mut count = 0;
        loop {
            portion.clear();
            count += 1;
            if portions.write(&mut portion, FRAGMENT_SIZE)? {
                return Ok(count);
            }
            yield_now().await;
        }
    }

    /// Waits until the queue holds few bytes of large messages and, for one of a local process, until those may be sent.
    async fn wait_for_low_watermark(&self) -> Result<(), Ended> {
        let is_low = || {
            let state = self.shared.lock();
            let waiting = state.fragment_bytes + state.fragment_bytes_in_flight;
            match state.ended {
                Some(_) => Some(Err(Ended)),
                None if self.origin == Origin::Process && state.is_paused(&self.sender) => None,
                None => (waiting <= LOW_WATERMARK).then_some(Ok(())),
            }
        };
        notified_until(&self.shared.capacity, is_low).await
    }

    /// Adds the signals that the sender has sent meanwhile, up to the next large message, which is returned. Returns
    /// `None` if there is no more; signals of the sender are then no longer held back.
    fn follow(&self) -> Option<Held> {
        let mut done = (self.origin, self.memory);
        loop {
            let mut state = self.shared.lock();
            let behind = state.held_back.get_mut(&self.sender)?.pop_front();
            state.release(done);
            let Some(held) = behind else {
                state.held_back.remove(&self.sender);
                self.shared.update_crowded(&state);
                break;
            };
            let Held { origin, signal, memory } = &held;
            if *origin == Origin::Peer {
                state.answers.no_longer_behind(&self.sender);
            }
            let put = state.queue(*origin, &signal.control, signal.payload.as_ref());
            self.shared.update_crowded(&state);
            drop(state);
            done = (*origin, *memory);
            match put {
                Ok(Size::Small) => self.shared.to_write.notify_one(),
                Ok(Size::Large) => return Some(held),
                Err(unsendable) => self.complain(unsendable),
            }
        }
        self.shared.capacity.notify_waiters();
        // Also for the writer: if the link is closing, it waits for this.
        self.shared.to_write.notify_one();
        None
    }

    /// Logs the error, because the sender no longer waits for a result.
    fn complain(&self, unsendable: Unsendable) {
        error!(peer = %self.shared.peer.peer, "a message was dropped: {unsendable}");
    }
}
