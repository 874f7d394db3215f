//! Answers as a client reads them, verified. Pure.
//!
//! Belongs to the reader of one connection, which hands over what has come, cut
//! anywhere, and learns how far the server has gone. A client that uses this
//! numbers its messages by ones, from 0 or from where its session stands. Never
//! allocates, and believes nothing: an answer that does not follow on the one
//! before is a [`Gap`], and the connection is of no more use. Whether a message
//! that is answered was sent at all, the caller knows.
//!
//! | what is read | bytes | what must hold |
//! |---|---|---|
//! | [`Checked::replies`] | 8 | `previous + 1 == id` |
//! | [`Checked::acks`] | 12 | `previous + skipped + 1 == id` |
//! | [`Checked::session`] | 12, of a refusal 16 | the same; of a refusal `previous + 1 == id` |
//!
//! The first `previous` is −1, as a number of 64 bits without a sign.
//!
//! COST: 40 bytes; a copy of an answer's bytes.

use std::fmt;

use crate::wire::{ACK, Ack, REFUSAL, REFUSED, REPLY, Reason, Refusal};

/// What `previous` is before the first answer.
const NONE: u64 = u64::MAX;

/// What an answer says, if it follows on the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All messages up to this one are acknowledged.
    Acked {
        /// The newest of them.
        id: u64,
        /// How many they are since the answer before.
        count: u64,
    },
    /// This message is refused; those before it have been answered.
    Refused(Refusal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Replies,
    Acks,
    Session,
}

/// The answers of one connection.
///
/// ```
/// use purlin_ack::checked::{Answer, Checked};
///
/// # fn main() -> Result<(), purlin_ack::checked::Gap> {
/// let mut checked = Checked::acks();
/// for mut bytes in [&b"\x31\0\0\0\0\0\0\0\x31"[..], &b"\0\0\0\x32\0"[..]] {
///     while let Some(answer) = checked.take(&mut bytes)? {
///         assert_eq!(answer, Answer::Acked { id: 49, count: 50 });
///     }
/// }
/// assert_eq!(checked.newest(), Some(49));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Checked {
    kind: Kind,
    previous: u64,
    /// The bytes of an answer that is not whole.
    part: [u8; REFUSAL],
    have: usize,
}

impl Checked {
    /// The answers of request-reply.
    #[must_use]
    pub fn replies() -> Self {
        Self::new(Kind::Replies, None)
    }

    /// The answers of all others, outside of a session.
    #[must_use]
    pub fn acks() -> Self {
        Self::new(Kind::Acks, None)
    }

    /// The same, of a client that sends again what was not answered on another connection: all
    /// messages up to this one have been.
    #[must_use]
    pub fn acks_after(newest: Option<u64>) -> Self {
        Self::new(Kind::Acks, newest)
    }

    /// The answers of a session in which all messages up to this one have been answered.
    #[must_use]
    pub fn session(newest: Option<u64>) -> Self {
        Self::new(Kind::Session, newest)
    }

    fn new(kind: Kind, newest: Option<u64>) -> Self {
        Self { kind, previous: newest.unwrap_or(NONE), part: [0; REFUSAL], have: 0 }
    }

    /// The newest message that has been answered.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        known(self.previous)
    }

    /// The next answer in what has come, of which it takes the bytes; nothing if there is no whole
    /// one, with all bytes taken.
    ///
    /// # Errors
    /// The answer does not follow on the one before. The state stays as it was before that answer.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Answer>, Gap> {
        let least = if self.kind == Kind::Replies { REPLY } else { ACK };
        if !self.have_all(least, bytes) {
            return Ok(None);
        }
        // INVARIANT: of replies only the first eight bytes are ever written, and `skipped` is 0.
        let [ack @ .., _, _, _, _] = self.part;
        let Ack { id, skipped } = Ack::from_bytes(ack);
        let id = id.number();
        let is_refusal = self.kind == Kind::Session && skipped == REFUSED;
        if is_refusal && !self.have_all(REFUSAL, bytes) {
            return Ok(None);
        }
        self.have = 0;
        let skipped = if is_refusal { 0 } else { skipped };
        let count = u64::from(skipped) + 1;
        if self.previous.wrapping_add(count) != id {
            return Err(Gap { previous: known(self.previous), skipped, id });
        }
        self.previous = id;
        Ok(Some(if is_refusal {
            let [.., a, b, c, d] = self.part;
            let reason = Reason(u32::from_le_bytes([a, b, c, d]));
            Answer::Refused(Refusal { id, reason })
        } else {
            Answer::Acked { id, count }
        }))
    }

    /// Takes bytes until there are so many of the answer, if there are.
    fn have_all(&mut self, length: usize, bytes: &mut &[u8]) -> bool {
        let missing = length.saturating_sub(self.have).min(bytes.len());
        let (now, later) = bytes.split_at(missing);
        self.part[self.have..self.have + missing].copy_from_slice(now);
        self.have += missing;
        *bytes = later;
        self.have >= length
    }
}

fn known(previous: u64) -> Option<u64> {
    Some(previous).filter(|previous| *previous != NONE)
}

/// An answer that does not follow on the one before: something was lost, or is not what it seems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The newest message that had been answered.
    pub previous: Option<u64>,
    /// What the answer says it skipped.
    pub skipped: u32,
    /// The message that the answer names.
    pub id: u64,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { previous, skipped, id } = *self;
        write!(f, "the server answered {id} with {skipped} skipped ")?;
        match previous {
            Some(previous) => write!(f, "after {previous}")?,
            None => f.write_str("at the beginning")?,
        }
        let due = previous.unwrap_or(NONE).wrapping_add(u64::from(skipped) + 1);
        write!(f, ", where {due} was due")
    }
}

impl std::error::Error for Gap {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Id;

    /// Hands over a stream in pieces that end at the cuts.
    fn read(mut checked: Checked, stream: &[u8], cuts: &[usize]) -> Result<Vec<Answer>, Gap> {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
        cuts.push(stream.len());
        cuts.sort_unstable();
        let (mut start, mut answers) = (0, Vec::new());
        for cut in cuts {
            let mut bytes = &stream[start..cut];
            while let Some(answer) = checked.take(&mut bytes)? {
                answers.push(answer);
            }
            assert!(bytes.is_empty());
            start = cut;
        }
        let newest = answers.last().map(|answer| match answer {
            Answer::Acked { id, .. } | Answer::Refused(Refusal { id, .. }) => *id,
        });
        assert!(newest.is_none() || newest == checked.newest());
        Ok(answers)
    }

    fn ack(id: u64, skipped: u32) -> [u8; ACK] {
        Ack { id: Id::from(id), skipped }.to_bytes()
    }

    #[test]
    fn it_takes_the_room_that_it_is_said_to_take() {
        assert_eq!(size_of::<Checked>(), 40);
    }

    #[test]
    fn an_ack_split_at_any_byte_is_read_once() {
        let stream = [ack(49, 49), ack(50, 0)].concat();
        let due = [Answer::Acked { id: 49, count: 50 }, Answer::Acked { id: 50, count: 1 }];
        for one in 0..=stream.len() {
            for other in one..=stream.len() {
                assert_eq!(read(Checked::acks(), &stream, &[one, other]), Ok(due.to_vec()));
            }
        }
    }

    #[test]
    fn an_ack_that_does_not_follow_is_a_gap_and_changes_nothing() {
        let mut checked = Checked::acks();
        for (bytes, said) in [
            (
                ack(50, 49),
                "the server answered 50 with 49 skipped at the beginning, where 49 was due",
            ),
            (
                ack(u64::MAX, 0),
                "the server answered 18446744073709551615 with 0 skipped at the beginning, where 0 was due",
            ),
        ] {
            let gap = checked.take(&mut &bytes[..]).unwrap_err();
            assert_eq!((gap.to_string().as_str(), checked.newest()), (said, None));
        }
        assert_eq!(checked.take(&mut &ack(9, 9)[..]), Ok(Some(Answer::Acked { id: 9, count: 10 })));
        let gap = checked.take(&mut &ack(9, 0)[..]).unwrap_err();
        assert_eq!(
            gap.to_string(),
            "the server answered 9 with 0 skipped after 9, where 10 was due"
        );
        assert_eq!(checked.newest(), Some(9));
    }

    #[test]
    fn a_reply_is_eight_bytes_and_answers_one_message() {
        let stream: Vec<u8> = (0..3).flat_map(u64::to_le_bytes).collect();
        let due: Vec<_> = (0..3).map(|id| Answer::Acked { id, count: 1 }).collect();
        for cut in 0..stream.len() {
            assert_eq!(read(Checked::replies(), &stream, &[cut]), Ok(due.clone()));
        }
        assert!(read(Checked::replies(), &stream[8..], &[]).is_err());
    }

    #[test]
    fn a_refusal_answers_one_message_and_is_a_refusal_only_in_a_session() {
        let refusal = Refusal { id: 12, reason: Reason::NO_ROOM };
        let stream = [&ack(11, 1)[..], &refusal.to_bytes(), &ack(13, 0)].concat();
        let due = [
            Answer::Acked { id: 11, count: 2 },
            Answer::Refused(refusal),
            Answer::Acked { id: 13, count: 1 },
        ];
        for cut in 0..stream.len() {
            assert_eq!(read(Checked::session(Some(9)), &stream, &[cut]), Ok(due.to_vec()));
        }
        let overtaking = Refusal { id: 11, ..refusal }.to_bytes();
        assert!(read(Checked::session(Some(9)), &overtaking, &[]).is_err());
        // Outside of a session it is an ack of four thousand million messages, and a gap.
        assert!(read(Checked::acks_after(Some(11)), &refusal.to_bytes(), &[]).is_err());
        let many = ack(u64::from(u32::MAX), u32::MAX);
        assert_eq!(
            read(Checked::acks(), &many, &[]),
            Ok(vec![Answer::Acked { id: u32::MAX.into(), count: 1 << 32 }])
        );
    }

    #[test]
    fn acks_of_another_connection_go_on_behind_what_was_answered() {
        let due = vec![Answer::Acked { id: 12, count: 3 }];
        assert_eq!(read(Checked::acks_after(Some(9)), &ack(12, 2), &[]), Ok(due));
        assert!(read(Checked::acks_after(None), &ack(12, 2), &[]).is_err());
    }

    proptest! {
        #[test]
        fn every_message_is_answered_once_however_the_answers_are_cut(
            first in prop_oneof![Just(NONE), 0..1000u64, Just(NONE - 200)],
            answers in prop::collection::vec((0..5u64, any::<u32>()), 0..20),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let (mut stream, mut due, mut previous) = (Vec::new(), Vec::new(), first);
            for (count, reason) in answers {
                let id = previous.wrapping_add(count.max(1));
                if count == 0 {
                    let refusal = Refusal { id, reason: Reason(reason) };
                    stream.extend(refusal.to_bytes());
                    due.push(Answer::Refused(refusal));
                } else {
                    stream.extend(ack(id, count as u32 - 1));
                    due.push(Answer::Acked { id, count });
                }
                previous = id;
            }
            let session = Checked::session(known(first));
            prop_assert_eq!(read(session, &stream, &cuts), Ok(due));
        }

        #[test]
        fn any_bytes_are_answers_or_a_gap(bytes: Vec<u8>, cuts: Vec<usize>, newest: Option<u64>) {
            for checked in [Checked::replies(), Checked::acks(), Checked::session(newest)] {
                if let Err(gap) = read(checked, &bytes, &cuts) {
                    prop_assert_eq!(gap.to_string().lines().count(), 1);
                }
            }
        }
    }
}
