//! Message counters, and an estimate of mailbox depth for mailboxes that do not report it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of messages a process has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of messages sent.
    pub sent: u64,
    /// Number of messages received.
    pub received: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

/// Estimate of the number of queued messages between one sender and one receiver.
///
/// The sender publishes its count every 1024 messages, and the receiver reads it as often. The
/// estimate may be too low by the messages sent since.
///
/// COST: one comparison per message, and one shared word accessed every 1024 messages.
#[derive(Clone, Debug, Default)]
pub struct Depth {
    sent: Arc<AtomicU64>,
    peak: u64,
}

impl Depth {
    /// Number of messages between two updates.
    const EVERY: u64 = 1024;

    /// Publishes the number of messages sent so far.
    pub fn sent(&self, sent: u64) {
        if sent.is_multiple_of(Self::EVERY) {
            // ORDER: relaxed: the count may be stale, and no other data depends on it.
            self.sent.store(sent, Ordering::Relaxed);
        }
    }

    /// Updates the estimate from the number of messages received so far.
    pub fn received(&mut self, received: u64) {
        if received % Self::EVERY == 1 {
            let waiting = self.sent.load(Ordering::Relaxed).saturating_sub(received);
            self.peak = self.peak.max(waiting);
        }
    }

    /// Returns the maximum number of queued messages the receiver observed.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_exact_up_to_messages_sent_since_the_last_update() {
        let sender = Depth::default();
        let mut receiver = sender.clone();
        (1..=5000).for_each(|sent| sender.sent(sent));
        (1..=5000).for_each(|received| receiver.received(received));
        assert_eq!(receiver.peak(), 4096 - 1);
        assert_eq!(sender.peak(), 0);
    }
}
