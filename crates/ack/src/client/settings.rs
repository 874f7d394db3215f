//! Configuration of a connection task.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::backoff::Backoff;
use super::error::Refused;
use crate::tls::client::Tls;

/// Configuration of a connection task.
pub(super) struct Settings {
    pub(super) address: String,
    pub(super) tls: Option<Tls>,
    pub(super) linger: Duration,
    pub(super) connect: Duration,
    pub(super) answer_timeout: Duration,
    pub(super) give_up_after: Duration,
    pub(super) backoff: Backoff,
    pub(super) on_refused: Box<dyn FnMut(Refused) + Send>,
}

impl Settings {
    /// Reports refused messages to the callback.
    pub(super) fn report_refused(&mut self, refused: impl IntoIterator<Item = Refused>) {
        refused.into_iter().for_each(&mut self.on_refused);
    }
}

/// Returns the time of day in nanoseconds, for use as an epoch.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
