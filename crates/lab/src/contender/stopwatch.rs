//! Wall time of a sample as measured by the lab, and the part the hypervisor stole.

use std::time::Instant;

use super::answer::Reply;
use crate::host::StealWatch;

/// Stopwatch from request to answer.
pub(super) struct Stopwatch {
    steal: StealWatch,
    began: Instant,
}

impl Stopwatch {
    /// Starts the stopwatch.
    pub(super) fn start() -> Self {
        let steal = StealWatch::begin();
        Self { steal, began: Instant::now() }
    }

    /// Returns the answer with the elapsed time and stolen time.
    pub(super) fn stop(&self, reply: Reply) -> Reply {
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Reply { wall_ns, stolen_ms: self.steal.stolen_ms(), ..reply }
    }
}
