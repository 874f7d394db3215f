//! Messages that were never received, counted by cause (M4, B3).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use purlin_raw::DropCounters;

/// Numbers of messages that were never received, by cause (M4, B3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drops {
    /// Sent by this node's processes and timers to processes that had ended, or still waiting when
    /// a process of this node ended that had not set [`on_unread`](crate::Process::on_unread).
    pub ended: u64,
    /// Sent to an alias that had been removed, or whose process ended before it took them out.
    pub alias: u64,
    /// Rejected by a full mailbox, from senders that did not ask for them back.
    pub rejected: u64,
    /// Dropped by a full mailbox that drops the newest message.
    pub newest: u64,
    /// Dropped by a full mailbox that drops the oldest message.
    pub oldest: u64,
}

impl Drops {
    /// Returns the total.
    pub fn all(&self) -> u64 {
        let Self { ended, alias, rejected, newest, oldest } = self;
        ended + alias + rejected + newest + oldest
    }
}

/// Counters of messages that were never received, by cause (M4, B3).
#[derive(Debug, Default)]
pub(crate) struct DropCounts {
    /// Messages whose receiver had ended, or ended while they waited.
    ended: AtomicU64,
    /// Messages to an alias that had been removed.
    alias: AtomicU64,
    /// Messages dropped or rejected by a full mailbox.
    pub(crate) at_bound: Arc<DropCounters>,
}

impl DropCounts {
    pub(crate) fn ended(&self, messages: u64) {
        self.ended.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn alias(&self) {
        self.alias.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads the counters.
    pub(crate) fn read(&self) -> Drops {
        Drops {
            ended: self.ended.load(Ordering::Relaxed),
            alias: self.alias.load(Ordering::Relaxed),
            rejected: self.at_bound.rejected.load(Ordering::Relaxed),
            newest: self.at_bound.newest.load(Ordering::Relaxed),
            oldest: self.at_bound.oldest.load(Ordering::Relaxed),
        }
    }
}
