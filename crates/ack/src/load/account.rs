//! What a connection of a load has begun to send and what of it is answered. Pure: time is a value.
//!
//! Belongs to one connection, and believes no answer: each has to follow on the one
//! before and be to something that was begun.
//!
//! INVARIANT: each answered message is in the histogram once, with the time from
//! when its write was begun to when the answer was read.
//!
//! COST: of a write 24 bytes until it is answered; of a read of answers what [`Tally::add`] costs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::tally::{Answered, Tally};
use crate::checked::{Answer, Checked};
use crate::client::Lost;
use crate::client::outbox::NotSent;

#[derive(Debug)]
pub(super) struct Account {
    checked: Checked,
    /// The first message that has not been begun.
    next: u64,
    /// The first that is not answered.
    first: u64,
    /// Writes of which something is not answered.
    begun: VecDeque<Begun>,
    tally: Arc<Tally>,
}

/// A write, up to this message.
#[derive(Clone, Copy, Debug)]
struct Begun {
    end: u64,
    at: Instant,
}

impl Account {
    /// Goes on where the answers do.
    pub(super) fn new(checked: Checked, tally: Arc<Tally>) -> Self {
        let next = checked.newest().map_or(0, |newest| newest + 1);
        Self { checked, next, first: next, begun: VecDeque::new(), tally }
    }

    /// The first message that has not been begun.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The first message that is not answered.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// A write of so many messages is begun.
    pub(super) fn begin(&mut self, messages: u64, now: Instant) {
        self.next += messages;
        self.begun.push_back(Begun { end: self.next, at: now });
    }

    /// Verifies answers, and counts them; whether a whole one was among them.
    pub(super) fn answered(&mut self, mut bytes: &[u8], now: Instant) -> Result<bool, Lost> {
        let before = self.first;
        let mut answered = Answered::default();
        while let Some(answer) = self.checked.take(&mut bytes)? {
            let id = match answer {
                Answer::Acked { id, .. } => id,
                Answer::Refused(refusal) => {
                    answered.refused += 1;
                    refusal.id
                }
            };
            if id >= self.next {
                return Err(NotSent { id }.into());
            }
            answered.answers += 1;
            self.first = id + 1;
        }
        answered.messages = self.first - before;
        self.tally.add(answered, waits(&mut self.begun, before..self.first, now));
        Ok(answered.answers > 0)
    }
}

/// How many of these messages have waited, and for how long. Takes away what is answered.
fn waits(
    begun: &mut VecDeque<Begun>,
    mut answered: Range<u64>,
    now: Instant,
) -> impl Iterator<Item = (u64, Duration)> {
    std::iter::from_fn(move || {
        if answered.is_empty() {
            return None;
        }
        let &Begun { end, at } = begun.front()?;
        let count = answered.end.min(end) - answered.start;
        answered.start += count;
        if answered.start == end {
            begun.pop_front();
        }
        Some((count, now.saturating_duration_since(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Ack, Id};

    #[test]
    fn each_answered_message_has_waited_since_its_write_was_begun() {
        // WHY: an `Instant` can be had in no other way; all that counts is how far others are from it.
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let begun = [(3, 0), (6, 10), (9, 20)].map(|(end, millis)| Begun { end, at: at(millis) });
        let mut begun = VecDeque::from(begun);
        let mut waits = |answered, millis| {
            let waits = waits(&mut begun, answered, at(millis));
            waits.map(|(count, wait)| (count, wait.as_millis())).collect::<Vec<_>>()
        };
        assert_eq!(waits(0..2, 5), [(2, 5)]);
        assert_eq!(waits(2..7, 30), [(1, 30), (3, 20), (1, 10)]);
        assert_eq!(waits(7..7, 40), []);
        assert_eq!(waits(7..9, 50), [(2, 30)]);
        assert!(begun.is_empty());
    }

    #[test]
    fn an_answer_to_what_was_not_begun_is_not_believed() {
        // WHY: as above.
        let now = Instant::now();
        let mut account = Account::new(Checked::acks(), Arc::new(Tally::new()));
        account.begin(50, now);
        let ack = |id: u64, skipped| Ack { id: Id::from(id), skipped }.to_bytes();
        let fifty = ack(49, 49);
        assert!(!account.answered(&fifty[..5], now).unwrap());
        assert!(account.answered(&fifty[5..], now).unwrap());
        assert_eq!((account.first(), account.next()), (50, 50));
        let lost = account.answered(&ack(50, 0), now).unwrap_err().to_string();
        assert_eq!(lost, "the server answered message 50, which has not been sent");
        assert_eq!(account.tally.answered().messages, 50);
    }
}
