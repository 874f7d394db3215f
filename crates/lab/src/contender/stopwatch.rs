//! How long a sample took as the lab saw it, and what the hypervisor took of that.

use std::time::Instant;

use super::answer::Reply;
use crate::host::StealWatch;

/// Runs from the request to the answer.
pub(super) struct Stopwatch {
    steal: StealWatch,
    began: Instant,
}

impl Stopwatch {
    /// Runs from now on.
    pub(super) fn start() -> Self {
        let steal = StealWatch::begin();
        Self { steal, began: Instant::now() }
    }

    /// The answer, with what it has taken.
    pub(super) fn stop(&self, reply: Reply) -> Reply {
        let wall_ns = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Reply { wall_ns, stolen_ms: self.steal.stolen_ms(), ..reply }
    }
}
