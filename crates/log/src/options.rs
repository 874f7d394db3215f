//! Settings of a log.

use std::time::Duration;

/// Settings of a log. The defaults never remove a segment.
#[derive(Clone, Debug)]
pub struct Options {
    /// Length of a segment in bytes beyond which the next one is begun: 64 MiB. A larger batch
    /// fills a segment.
    pub segment_bytes: u64,
    /// Age of a segment at which the next one is begun, if a batch is written.
    pub segment_age: Option<Duration>,
    /// Segments that are removed.
    pub retention: Retention,
    /// Number of clients whose state is remembered: 2^20. Beyond it a commit forgets the least recently
    /// written first, but no client that it has written.
    pub clients: usize,
}

/// Segments that are removed when a new segment is begun. The last two are always kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Total length of all segments in bytes above which the oldest is removed.
    pub bytes: Option<u64>,
    /// Age of the last record of a segment at which it is removed.
    pub age: Option<Duration>,
    /// Whether a segment is kept until the reader has confirmed all its records. Without `bytes` and
    /// `age` a confirmed segment is removed.
    pub confirmed: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            segment_age: None,
            retention: Retention::default(),
            clients: 1 << 20,
        }
    }
}
