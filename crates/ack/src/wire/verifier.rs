//! Verification of the answers that a client receives. Pure.
//!
//! Each connection has one [`AckVerifier`], owned by the reader. The reader passes in the received
//! bytes, split at any point, and gets back how far the server has acknowledged. The client must
//! number its messages consecutively, from 0 or from the position of its session. The verifier
//! never allocates. An answer that does not follow on the previous one is a [`Gap`], after which
//! the connection must not be used. The verifier does not know which messages were sent: the caller
//! must check that an answered message was sent at all.
//!
//! | constructor | bytes per answer | invariant |
//! |---|---|---|
//! | [`AckVerifier::replies`] | 8 | `previous + 1 == id` |
//! | [`AckVerifier::acks`] | 12 | `previous + skipped + 1 == id` |
//! | [`AckVerifier::session`] | 12, or 16 for a refusal | as for acks; for a refusal `previous + 1 == id` |
//!
//! The first `previous` is −1 as an unsigned 64-bit number.
//!
//! COST: 40 bytes, and one copy of each answer's bytes.

use std::fmt;

use super::encoding::{ACK, Ack, REFUSAL, REFUSED, REPLY, Reason, Refusal};

/// Value of `previous` before the first answer.
const NONE: u64 = u64::MAX;

/// A verified answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The server acknowledges all messages up to and including `id`.
    Acked {
        /// Id of the newest acknowledged message.
        id: u64,
        /// Number of messages acknowledged since the previous answer.
        count: u64,
    },
    /// The server refuses this message. All earlier messages have been answered.
    Refused(Refusal),
}

/// Kind of answers that the client expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expectation {
    Replies,
    Acks,
    Session,
}

/// Verifier of the answers of one connection.
///
/// ```
/// use purlin_ack::verifier::{AckVerifier, Answer};
///
/// # fn main() -> Result<(), purlin_ack::verifier::Gap> {
/// let mut verifier = AckVerifier::acks();
/// for mut bytes in [&b"\x31\0\0\0\0\0\0\0\x31"[..], &b"\0\0\0\x32\0"[..]] {
///     while let Some(answer) = verifier.take(&mut bytes)? {
///         assert_eq!(answer, Answer::Acked { id: 49, count: 50 });
///     }
/// }
/// assert_eq!(verifier.newest(), Some(49));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct AckVerifier {
    kind: Expectation,
    previous: u64,
    /// Bytes of an incomplete answer; the first `have` are filled.
    part: [u8; REFUSAL],
    have: usize,
}

impl AckVerifier {
    /// Returns a verifier for the answers of request-reply.
    #[must_use]
    pub fn replies() -> Self {
        Self::new(Expectation::Replies, None)
    }

    /// Returns a verifier for the acks of all other strategies, outside of a session.
    #[must_use]
    pub fn acks() -> Self {
        Self::new(Expectation::Acks, None)
    }

    /// Returns a verifier for the acks of a connection on which the client resends unanswered
    /// messages. All messages up to and including `newest` have been answered.
    #[must_use]
    pub fn acks_after(newest: Option<u64>) -> Self {
        Self::new(Expectation::Acks, newest)
    }

    /// Returns a verifier for a session in which all messages up to `newest` have been answered.
    #[must_use]
    pub fn session(newest: Option<u64>) -> Self {
        Self::new(Expectation::Session, newest)
    }

    fn new(kind: Expectation, newest: Option<u64>) -> Self {
        Self { kind, previous: newest.unwrap_or(NONE), part: [0; REFUSAL], have: 0 }
    }

    /// Returns the id of the newest answered message.
    #[must_use]
    pub fn newest(&self) -> Option<u64> {
        known(self.previous)
    }

    /// Parses the next answer and advances `bytes` past it. Returns `None` if no complete answer is
    /// left; all bytes have been consumed then.
    ///
    /// # Errors
    /// Returns [`Gap`] if the answer does not follow on the previous one. The state stays as it was
    /// before that answer.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Answer>, Gap> {
        let least = if self.kind == Expectation::Replies { REPLY } else { ACK };
        if !self.have_all(least, bytes) {
            return Ok(None);
        }
        // INVARIANT: replies write only the first eight bytes, so their `skipped` is 0.
        let [ack @ .., _, _, _, _] = self.part;
        let Ack { id, skipped } = Ack::from_bytes(ack);
        let id = id.number();
        let is_refusal = self.kind == Expectation::Session && skipped == REFUSED;
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

    /// Copies bytes until `length` bytes of the answer are present. Returns whether they are.
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

/// An answer that does not follow on the previous one: answers were lost or corrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Id of the newest message answered before.
    pub previous: Option<u64>,
    /// `skipped` field of the answer.
    pub skipped: u32,
    /// Id in the answer.
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

    /// Feeds a stream to the verifier in pieces that end at the cuts.
    fn read(mut verifier: AckVerifier, stream: &[u8], cuts: &[usize]) -> Result<Vec<Answer>, Gap> {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
        cuts.push(stream.len());
        cuts.sort_unstable();
        let (mut start, mut answers) = (0, Vec::new());
        for cut in cuts {
            let mut bytes = &stream[start..cut];
            while let Some(answer) = verifier.take(&mut bytes)? {
                answers.push(answer);
            }
            assert!(bytes.is_empty());
            start = cut;
        }
        let newest = answers.last().map(|answer| match answer {
            Answer::Acked { id, .. } | Answer::Refused(Refusal { id, .. }) => *id,
        });
        assert!(newest.is_none() || newest == verifier.newest());
        Ok(answers)
    }

    fn ack(id: u64, skipped: u32) -> [u8; ACK] {
        Ack { id: Id::from(id), skipped }.to_bytes()
    }

    #[test]
    fn verifier_is_40_bytes() {
        assert_eq!(size_of::<AckVerifier>(), 40);
    }

    #[test]
    fn an_ack_split_at_any_byte_is_read_once() {
        let stream = [ack(49, 49), ack(50, 0)].concat();
        let due = [Answer::Acked { id: 49, count: 50 }, Answer::Acked { id: 50, count: 1 }];
        for one in 0..=stream.len() {
            for other in one..=stream.len() {
                assert_eq!(read(AckVerifier::acks(), &stream, &[one, other]), Ok(due.to_vec()));
            }
        }
    }

    #[test]
    fn ack_out_of_sequence_returns_gap_and_keeps_state() {
        let mut verifier = AckVerifier::acks();
        for (bytes, text) in [
            (
                ack(50, 49),
                "the server answered 50 with 49 skipped at the beginning, where 49 was due",
            ),
            (
                ack(u64::MAX, 0),
                "the server answered 18446744073709551615 with 0 skipped at the beginning, where 0 was due",
            ),
        ] {
            let gap = verifier.take(&mut &bytes[..]).unwrap_err();
            assert_eq!((gap.to_string().as_str(), verifier.newest()), (text, None));
        }
        assert_eq!(
            verifier.take(&mut &ack(9, 9)[..]),
            Ok(Some(Answer::Acked { id: 9, count: 10 }))
        );
        let gap = verifier.take(&mut &ack(9, 0)[..]).unwrap_err();
        assert_eq!(
            gap.to_string(),
            "the server answered 9 with 0 skipped after 9, where 10 was due"
        );
        assert_eq!(verifier.newest(), Some(9));
    }

    #[test]
    fn a_reply_is_eight_bytes_and_answers_one_message() {
        let stream: Vec<u8> = (0..3).flat_map(u64::to_le_bytes).collect();
        let due: Vec<_> = (0..3).map(|id| Answer::Acked { id, count: 1 }).collect();
        for cut in 0..stream.len() {
            assert_eq!(read(AckVerifier::replies(), &stream, &[cut]), Ok(due.clone()));
        }
        assert!(read(AckVerifier::replies(), &stream[8..], &[]).is_err());
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
            assert_eq!(read(AckVerifier::session(Some(9)), &stream, &[cut]), Ok(due.to_vec()));
        }
        let overtaking = Refusal { id: 11, ..refusal }.to_bytes();
        assert!(read(AckVerifier::session(Some(9)), &overtaking, &[]).is_err());
        // Outside of a session a refusal parses as an ack of 2^32 messages, and is a gap.
        assert!(read(AckVerifier::acks_after(Some(11)), &refusal.to_bytes(), &[]).is_err());
        let many = ack(u64::from(u32::MAX), u32::MAX);
        assert_eq!(
            read(AckVerifier::acks(), &many, &[]),
            Ok(vec![Answer::Acked { id: u32::MAX.into(), count: 1 << 32 }])
        );
    }

    #[test]
    fn acks_after_reconnect_continue_from_newest_answer() {
        let due = vec![Answer::Acked { id: 12, count: 3 }];
        assert_eq!(read(AckVerifier::acks_after(Some(9)), &ack(12, 2), &[]), Ok(due));
        assert!(read(AckVerifier::acks_after(None), &ack(12, 2), &[]).is_err());
    }

    proptest! {
        #[test]
        fn every_message_is_answered_once_for_any_split(
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
            let session = AckVerifier::session(known(first));
            prop_assert_eq!(read(session, &stream, &cuts), Ok(due));
        }

        #[test]
        fn any_bytes_are_answers_or_a_gap(bytes: Vec<u8>, cuts: Vec<usize>, newest: Option<u64>) {
            for verifier in [AckVerifier::replies(), AckVerifier::acks(), AckVerifier::session(newest)] {
                if let Err(gap) = read(verifier, &bytes, &cuts) {
                    prop_assert_eq!(gap.to_string().lines().count(), 1);
                }
            }
        }
    }
}
