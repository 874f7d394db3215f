//! Who holds up a worker: seen by whoever asks the node, and told to the log (F2).

use std::time::{Duration, Instant};

use purlin_raw::{Realm, Slot, quietly};

use crate::home::Erlang;
use crate::{Node, ProcessId};

/// A process that has been computing, or blocking, without awaiting while others waited (F2).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hog {
    /// Its identity.
    pub id: ProcessId,
    /// The function it runs.
    pub function: &'static str,
    /// Since when it has not awaited.
    pub since: Instant,
}

impl Node {
    /// The processes that hold up a thread now: those that were found not to await for a millisecond
    /// while others waited, and still do not (F2). Their worker has another thread by now, so they
    /// hold up nobody else.
    ///
    /// One that goes on for ten milliseconds is reported as a `tracing` warning, and so is its end, with
    /// the time it took. If it computes, the operating system's scheduler is told to put it last.
    ///
    /// ```
    /// use purlin::{Node, Process};
    ///
    /// # fn main() -> Result<(), purlin::BuildError> {
    /// let node = Node::builder().build()?;
    /// node.block_on(async |_: Process<()>| "nobody computes for long here");
    /// assert!(node.hogs().is_empty());
    /// # node.stop_blocking();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// COST: a lock, a look-up for each hog, and the list.
    pub fn hogs(&self) -> Vec<Hog> {
        let hogs = self.inner().scheduler.hogs().into_iter();
        hogs.filter_map(|(slot, since)| seen(&self.inner().realm, slot, since)).collect()
    }
}

/// A hog as it is shown; `None` if it has ended.
fn seen(realm: &Realm<Erlang>, slot: Slot, since: Instant) -> Option<Hog> {
    let function = realm.find(slot)?.look().kind.body();
    Some(Hog { id: ProcessId::new(realm.home().creation, slot), function, since })
}

/// Tells the log that a process hogs.
pub(crate) fn report(realm: &Realm<Erlang>, slot: Slot, since: Instant) {
    let Some(hog) = seen(realm, slot, since) else { return };
    let elapsed = since.elapsed();
    // WHY quietly: a subscriber is the user's.
    quietly(|| {
        tracing::warn!(pid = %hog.id, function = hog.function, ?elapsed, "process does not await");
    });
}

/// Tells the log that a turn of which [`report`] told is over.
pub(crate) fn report_end(realm: &Realm<Erlang>, slot: Slot, elapsed: Duration) {
    let pid = ProcessId::new(realm.home().creation, slot);
    quietly(|| tracing::warn!(%pid, ?elapsed, "process no longer holds up its thread"));
}
