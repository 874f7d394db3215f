//! What processes count, and how deep a mailbox was that does not tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a process has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

/// How many messages wait between one sender and one receiver whose mailbox does not tell.
///
/// The sender leaves word now and then of how many it has sent, and the receiver looks as often.
/// What it finds may be too small by what the sender has sent since.
///
/// COST: a comparison for each message, and a word that both use once in 1024.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    sent: Arc<AtomicU64>,
    peak: u64,
}

impl Depth {
    /// From one word to the next.
    const EVERY: u64 = 1024;

    /// The sender has sent so many by now.
    pub fn sent(&self, sent: u64) {
        if sent.is_multiple_of(Self::EVERY) {
            // ORDER: relaxed: a figure that may be late, and nothing hangs on it.
            self.sent.store(sent, Ordering::Relaxed);
        }
    }

    /// The receiver has received so many by now.
    pub fn received(&mut self, received: u64) {
        if received % Self::EVERY == 1 {
            let waiting = self.sent.load(Ordering::Relaxed).saturating_sub(received);
            self.peak = self.peak.max(waiting);
        }
    }

    /// The most messages that the receiver has seen to wait.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_seen_to_within_what_was_sent_since_the_last_word() {
        let sender = Depth::default();
        let mut receiver = sender.clone();
        (1..=5000).for_each(|sent| sender.sent(sent));
        (1..=5000).for_each(|received| receiver.received(received));
        assert_eq!(receiver.peak(), 4096 - 1);
        assert_eq!(sender.peak(), 0);
    }
}
