//! Configuration of a link.

use std::time::Duration;

use crate::frame::Limits;

/// Configuration of a link.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Silence after which the peer counts as disconnected, `net_ticktime`: 60 s. It is detected up to a quarter of
    /// this time early or late. Both nodes should use the same value.
    pub tick_time: Duration,
    /// High watermark: the number of queued bytes beyond which senders wait; 1 MiB.
    pub high_watermark: usize,
    /// Number of bytes of answers to the peer, without the largest one, beyond which its signals that need an answer are
    /// held: 32 MiB. A peer that sends requests and does not read is slowed down by this.
    pub answer_limit: usize,
    /// Number of such bytes beyond which a process that answers calls of the peer is suspended, as one that sends over a
    /// busy connection of a BEAM: 256 MiB. Calls that are in its mailbox already are not held.
    pub suspend_limit: usize,
    /// Limits on memory that the peer can occupy.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            tick_time: Duration::from_secs(60),
            high_watermark: 1 << 20,
            answer_limit: 32 << 20,
            suspend_limit: 256 << 20,
            limits,
        }
    }
}
