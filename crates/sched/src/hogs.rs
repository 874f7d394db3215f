//! The threads that were relieved of their posts and are still in the turn they were relieved in.
//!
//! The monitor adds a thread while it takes the post from it, so that the thread, which finds out
//! after that, finds itself here; the thread takes itself off before it ends. So whoever is in the
//! list lives, and its number is its own.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use purlin_raw::Slot;

use crate::seat::Seat;
use crate::sync::{Instant, Mutex, MutexGuard};

/// How long a relieved thread, which counts less than others, may still compete with them before it is
/// put last.
///
/// WHY not at once: most turns that are too long are over soon, and a thread that was put last may
/// have to wait long for what little it had left to do.
const MERCY: Duration = Duration::from_millis(10);

/// The threads that were relieved and are still in that turn.
#[derive(Default)]
pub(crate) struct Hogs(Mutex<Vec<Hog>>);

pub(crate) struct Hog {
    seat: Arc<Seat>,
    pub(crate) slot: Slot,
    pub(crate) since: Instant,
    /// It has been put last, and that was told.
    pub(crate) told: bool,
}

impl Hogs {
    fn list(&self) -> MutexGuard<'_, Vec<Hog>> {
        // WHY: nothing can panic while the list is locked, so it is never half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, seat: &Arc<Seat>, slot: Slot, since: Instant) {
        self.list().push(Hog { seat: Arc::clone(seat), slot, since, told: false });
    }

    /// The thread's turn is over.
    pub(crate) fn remove(&self, seat: &Arc<Seat>) -> Option<Hog> {
        let mut list = self.list();
        let at = list.iter().position(|hog| Arc::ptr_eq(&hog.seat, seat))?;
        Some(list.swap_remove(at))
    }

    /// Puts those last whose mercy has run out; the monitor tells of them.
    pub(crate) fn demote_overdue(&self, now: Instant) -> Vec<(Slot, Instant)> {
        let mut list = self.list();
        let overdue = |hog: &&mut Hog| !hog.told && now.duration_since(hog.since) >= MERCY;
        list.iter_mut()
            .filter(overdue)
            .map(|hog| {
                hog.seat.thread().demote();
                hog.told = true;
                (hog.slot, hog.since)
            })
            .collect()
    }

    /// Whether somebody's mercy is still running.
    pub(crate) fn any_on_mercy(&self) -> bool {
        self.list().iter().any(|hog| !hog.told)
    }

    pub(crate) fn count(&self) -> usize {
        self.list().len()
    }

    /// Who hogs now, and since when.
    pub(crate) fn now(&self) -> Vec<(Slot, Instant)> {
        self.list().iter().map(|hog| (hog.slot, hog.since)).collect()
    }
}
