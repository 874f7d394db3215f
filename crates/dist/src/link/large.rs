//! A large message on its way: encoded a portion at a time, as fast as portions are written.
//!
//! It is encoded twice: first only to count the portions, since the first fragment says how
//! many there are, then to send them. So no more than a portion of it lies encoded anywhere,
//! whatever its size.

use std::sync::Arc;

use purlin_term::{Pid, Term};
use tokio::task::yield_now;
use tracing::error;

use crate::control::Control;
use crate::frame::{PORTION, Payload, Signal, Size, Unsendable};
use crate::link::shared::Shared;

/// How many bytes of large messages may be to be written when the next portion is put out: what others send then
/// waits for no more than this and a portion.
///
/// WHY only those bytes: if others sent so much that the queue is never short, a large message would never go on.
const LITTLE: usize = PORTION;

/// A large message on its way, and all that its sender sends meanwhile.
#[derive(Debug)]
pub(super) struct Large {
    pub(super) shared: Arc<Shared>,
    pub(super) sender: Option<Pid>,
    pub(super) control: Control,
    pub(super) payload: Payload<'static>,
}

/// The link has ended.
struct Ended;

impl Large {
    pub(super) async fn run(mut self) {
        loop {
            match self.send().await {
                Ok(Ok(())) => {}
                Ok(Err(unsendable)) => self.complain(unsendable),
                Err(Ended) => return,
            }
            let Some((control, payload)) = self.follow() else { return };
            (self.control, self.payload) = (control, payload);
        }
    }

    async fn send(&self) -> Result<Result<(), Unsendable>, Ended> {
        let count = match self.count().await {
            Ok(count) => count,
            Err(unsendable) => return Ok(Err(unsendable)),
        };
        let mut portions = self.payload.portions();
        let mut portion = Vec::with_capacity(PORTION);
        let mut sequence = 0;
        for left in (1..=count).rev() {
            portion.clear();
            if let Err(error) = portions.write(&mut portion, PORTION) {
                return Ok(Err(error.into()));
            }
            self.room().await?;
            let at = if left == count { None } else { Some(sequence) };
            match self.put_out(at, left, &portion) {
                Ok(told) => sequence = told,
                Err(unsendable) => return Ok(Err(unsendable)),
            }
            self.shared.to_write.notify_one();
            yield_now().await;
        }
        Ok(Ok(()))
    }

    /// Puts out a fragment, the first one if there is no sequence yet.
    fn put_out(&self, at: Option<u64>, left: u64, portion: &[u8]) -> Result<u64, Unsendable> {
        let mut state = self.shared.lock();
        let sequence = match at {
            None => state.out.first(&self.control, left, portion)?,
            Some(sequence) => {
                state.out.next(sequence, left, portion);
                sequence
            }
        };
        state.portions += portion.len();
        Ok(sequence)
    }

    /// How many portions the payload has.
    async fn count(&self) -> Result<u64, Unsendable> {
        let mut portions = self.payload.portions();
        let mut portion = Vec::with_capacity(PORTION);
        let mut count = 0;
        loop {
            portion.clear();
            count += 1;
            if portions.write(&mut portion, PORTION)? {
                return Ok(count);
            }
            yield_now().await;
        }
    }

    /// Waits until little of large messages is to be written.
    async fn room(&self) -> Result<(), Ended> {
        loop {
            let room = self.shared.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            {
                let state = self.shared.lock();
                if state.ended.is_some() {
                    return Err(Ended);
                }
                if state.portions + state.portions_in_flight <= LITTLE {
                    return Ok(());
                }
            }
            room.await;
        }
    }

    /// Puts out what the sender has sent meanwhile, up to the next large message, which comes back. If there is
    /// none, its sender is no longer behind anything.
    fn follow(&self) -> Option<(Control, Payload<'static>)> {
        loop {
            let mut state = self.shared.lock();
            let Some(Signal { control, payload }) = state.behind.get_mut(&self.sender)?.pop_front()
            else {
                state.behind.remove(&self.sender);
                self.shared.tell_whether_crowded(&state);
                break;
            };
            let put = state.out.put(&control, payload.as_ref());
            drop(state);
            match put {
                Ok(Size::Small) => self.shared.to_write.notify_one(),
                Ok(Size::Large) => {
                    return Some((control, payload.unwrap_or(Payload::Term(Term::NIL))));
                }
                Err(unsendable) => self.complain(unsendable),
            }
        }
        self.shared.room.notify_waiters();
        // For the writer, too: if the link is being closed, it waits for this.
        self.shared.to_write.notify_one();
        None
    }

    /// Nobody waits for it any more who could be told.
    fn complain(&self, unsendable: Unsendable) {
        error!(peer = %self.shared.peer.peer, "a message was dropped: {unsendable}");
    }
}
