//! Large messages in progress: the writer adds their fragments to its batches, one of each sender in turn.

use purlin_term::Pid;

use crate::control::Control;
use crate::frame::{Encoded, FRAGMENT_SIZE, Payload, Size, Unsendable};
use crate::link::origin::Origin;
use crate::link::shared::State;

/// Number of bytes of large messages in a batch from which no fragment is added. Frames of other senders then wait for
/// at most this and the header of a fragment.
const BATCH: usize = 2 * FRAGMENT_SIZE;

/// A signal to be sent behind others of its sender: a large message, or a signal held back behind one.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) origin: Origin,
    pub(super) control: Control,
    pub(super) payload: Option<Payload<'static>>,
    /// Its memory, if it is an answer.
    pub(super) memory: usize,
}

/// A sender of held signals, which takes turns with others.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) key: Option<Pid>,
    pub(super) large: Option<Large>,
}

/// A large message of which fragments have to be sent.
#[derive(Debug)]
pub(super) struct Large {
    origin: Origin,
    memory: usize,
    control: Control,
    /// The rest of the payload, and the number of its fragments.
    payload: Encoded,
    left: u64,
    /// Sequence id; `None` before the first fragment.
    sequence: Option<u64>,
}

/// Result of [`State::add_held`].
#[derive(Debug, Default)]
pub(super) struct Added {
    /// A message has been added completely.
    pub(super) has_sent: bool,
    /// Errors of messages that were dropped.
    pub(super) unsendable: Vec<Unsendable>,
}

impl Large {
    fn new(held: Held) -> Result<Self, Unsendable> {
        let Held { origin, control, payload, memory } = held;
        let payload = payload.map_or_else(|| Ok(Encoded::default()), Payload::encoded)?;
        let left = payload.len().div_ceil(FRAGMENT_SIZE) as u64;
        Ok(Self { origin, memory, control, payload, left, sequence: None })
    }
}

impl State {
    /// Adds fragments and held signals to the queue, one of each sender in turn, except paused ones.
    pub(super) fn add_held(&mut self) -> Added {
        let mut added = Added::default();
        let (before, mut paused) = (self.out.waiting(), 0);
        while self.out.waiting() - before < BATCH
            && paused < self.senders.len()
            && let Some(mut sender) = self.senders.pop_front()
        {
            paused += 1;
            if !self.waits(&sender) {
                paused = 0;
                match self.add_next(&mut sender, &mut added) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(unsendable) => added.unsendable.push(unsendable),
                }
            }
            self.senders.push_back(sender);
        }
        added
    }

    /// Whether the next message of the sender is one of a local process, which is paused.
    fn waits(&self, sender: &Sender) -> bool {
        let origin = match &sender.large {
            Some(large) => Some(large.origin),
            None => self.held_back.get(&sender.key).and_then(|held| Some(held.front()?.origin)),
        };
        origin == Some(Origin::Process) && self.is_paused(&sender.key)
    }

    /// Adds the next fragment or signal of a sender. Returns `false` if nothing is left: later signals of the
    /// sender are then no longer held back.
    fn add_next(&mut self, sender: &mut Sender, added: &mut Added) -> Result<bool, Unsendable> {
        if let Some(mut large) = sender.large.take() {
            let fragment = large.payload.split_to(FRAGMENT_SIZE);
            let put = match large.sequence {
                None => self.out.first(&large.control, large.left, fragment).map(Some),
                Some(sequence) => {
                    self.out.next(sequence, large.left, &fragment);
                    Ok(Some(sequence))
                }
            };
            large.left -= 1;
            if large.left == 0 || put.is_err() {
                added.has_sent = true;
                self.release((large.origin, large.memory));
                return put.map(|_| true);
            }
            large.sequence = put?;
            sender.large = Some(large);
            return Ok(true);
        }
        let Some(held) = self.held_back.get_mut(&sender.key).and_then(|held| held.pop_front())
        else {
            self.held_back.remove(&sender.key);
            added.has_sent = true;
            return Ok(false);
        };
        if held.origin == Origin::Peer {
            self.answers.no_longer_behind(&sender.key);
        }
        let (origin, memory) = (held.origin, held.memory);
        let put = self.queue(origin, &held.control, held.payload.as_ref());
        if put == Ok(Size::Large) {
            sender.large = Some(Large::new(held)?);
            return Ok(true);
        }
        added.has_sent = true;
        self.release((origin, memory));
        put.map(|_| true)
    }
}
