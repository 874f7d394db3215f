//! Journal of a node: its most recent crashes, supervisor reports and restarts.
//!
//! A process that crashes and a supervisor that restarts a child write entries in their own turn; a reader copies the
//! lists. Both take the lock for a short time. A crash or a report that finds the lock held is not written but counted
//! as missed; a restart waits for the lock. No user value is stored: of a reason only the beginning of its text is
//! kept.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, SystemTime};

use crate::process::unwind::contain;

use crate::{Name, ProcessId};

/// Capacity of each list: crashes, reports, supervisors that restarted, and restarted children with an intensity of
/// their own.
const KEPT: usize = 256;
/// Length to which the text of a reason is cut, in bytes.
const LONGEST: usize = 1000;
/// Length in bytes that the texts of most reasons do not exceed: their buffer does not grow.
const USUAL: usize = 64;

/// A process that ended because of a panic or an error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Crash {
    /// Sequence number on the node, from 1.
    pub number: u64,
    /// Wall-clock time of the crash.
    pub when: SystemTime,
    /// Node time of the crash.
    pub at: Duration,
    /// The process that crashed.
    pub id: ProcessId,
    /// Registered name of the process.
    pub name: Option<Name>,
    /// Process that spawned it; `None` if no process did.
    pub parent: Option<ProcessId>,
    /// Process function.
    pub function: &'static str,
    /// Exit reason, cut to its first 1000 bytes.
    pub reason: String,
    /// Length of the mailbox at the crash.
    pub mailbox_len: usize,
    /// Messages the process had received.
    pub messages_in: u64,
}

/// OTP's supervisor report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Sequence number on the node, from 1.
    pub number: u64,
    /// Wall-clock time of the report.
    pub when: SystemTime,
    /// Node time of the report.
    pub at: Duration,
    /// The reporting supervisor.
    pub supervisor: ProcessId,
    /// Error context, as in OTP: `start_error`, `child_terminated`, `shutdown_error` or `shutdown`;
    /// and `given_up`, which OTP does not have, for a child that exceeded its own intensity.
    pub context: &'static str,
    /// Id of the child.
    pub child: Arc<str>,
    /// Process of the child, if it had one.
    pub process: Option<ProcessId>,
    /// Reason, cut to its first 1000 bytes.
    pub reason: String,
}

/// Restart statistics of a supervisor, or of a child with its own restart intensity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restarts {
    /// The supervisor.
    pub supervisor: ProcessId,
    /// The child, if the restarts count towards its own intensity; `None` if they count towards the supervisor's.
    pub child: Option<OwnIntensityChild>,
    /// Restarts recorded, including the attempt at which the supervisor gave up, or gave the child up. Starts again
    /// from 0 if the entry was evicted, which happens when more supervisors, or more such children, restart than the
    /// journal keeps.
    pub total: u64,
    /// Node time of the last restart.
    pub last: Duration,
    /// Restarts within the period at that time, which count towards the restart intensity.
    pub counted: usize,
    /// Restart intensity: the most restarts within the period. At one more the supervisor gives up, or gives the child
    /// up.
    pub most: usize,
    /// Period of the restart intensity.
    pub period: Duration,
}

/// A child with its own restart intensity.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct OwnIntensityChild {
    /// Id of the child. Children of a dynamic supervisor that were started without a key share their template's.
    pub id: Arc<str>,
    /// Number of the child, unique within its supervisor.
    pub number: u64,
}

/// Contents of a node's journal, the oldest entry first.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Crashes {
    /// Processes that ended because of a panic or an error.
    pub crashes: Vec<Arc<Crash>>,
    /// Supervisor reports.
    pub reports: Vec<Arc<Report>>,
    /// Restart statistics: first by supervisor, then by child with its own intensity; of each, the one with the
    /// latest restart is last.
    pub restarts: Vec<Restarts>,
    /// Number of all crashes since the node started.
    pub all_crashes: u64,
    /// Number of all reports since the node started.
    pub all_reports: u64,
    /// Number of crashes and reports that were not recorded because the lock was held.
    pub missed: u64,
}

/// Journal of a node.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pages: Mutex<Pages>,
    all_crashes: AtomicU64,
    all_reports: AtomicU64,
    missed: AtomicU64,
}

/// Entries of the journal, the oldest first.
#[derive(Debug, Default)]
struct Pages {
    crashes: VecDeque<Arc<Crash>>,
    reports: VecDeque<Arc<Report>>,
    restarts: VecDeque<Restarts>,
    /// WHY apart: many restarted children would evict the supervisors.
    own_restarts: VecDeque<Restarts>,
}

impl Journal {
    /// Passes the next sequence number to `write`. WHY under the lock: entries are then in sequence order.
    fn write(&self, numbers: &AtomicU64, write: impl FnOnce(&mut Pages, u64)) {
        let next = || numbers.fetch_add(1, Ordering::Relaxed) + 1;
        match self.pages.try_lock() {
            Ok(mut pages) => write(&mut pages, next()),
            Err(TryLockError::Poisoned(pages)) => write(&mut pages.into_inner(), next()),
            Err(TryLockError::WouldBlock) => {
                next();
                self.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Records a crash and sets its number.
    pub(crate) fn crashed(&self, mut crash: Crash) {
        self.write(&self.all_crashes, |pages, number| {
            crash.number = number;
            push_bounded(&mut pages.crashes, Arc::new(crash));
        });
    }

    /// Records a supervisor report and sets its number.
    pub(crate) fn reported(&self, mut report: Report) {
        self.write(&self.all_reports, |pages, number| {
            report.number = number;
            push_bounded(&mut pages.reports, Arc::new(report));
        });
    }

    /// Records a restart and sets its `total`.
    pub(crate) fn restarted(&self, mut restarts: Restarts) {
        // WHY it blocks on the lock: every restart counts, and the lock is held only for a short time.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let pages = &mut *pages;
        let is_own = restarts.child.is_some();
        let list = if is_own { &mut pages.own_restarts } else { &mut pages.restarts };
        let same = |known: &Restarts| {
            known.supervisor == restarts.supervisor && known.child == restarts.child
        };
        let known = list.iter().position(same);
        let before = known.and_then(|at| list.remove(at));
        restarts.total = before.map_or(0, |before| before.total) + 1;
        push_bounded(list, restarts);
    }

    pub(super) fn read(&self) -> Crashes {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Crashes {
            crashes: pages.crashes.iter().cloned().collect(),
            reports: pages.reports.iter().cloned().collect(),
            restarts: pages.restarts.iter().chain(&pages.own_restarts).cloned().collect(),
            all_crashes: self.all_crashes.load(Ordering::Relaxed),
            all_reports: self.all_reports.load(Ordering::Relaxed),
            missed: self.missed.load(Ordering::Relaxed),
        }
    }
}

fn push_bounded<T>(list: &mut VecDeque<T>, last: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(last);
}

/// Returns the beginning of a value's text. `Display` is user code and may panic.
pub(crate) fn beginning(of: &dyn fmt::Display) -> String {
    struct Short(String);
    impl fmt::Write for Short {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            let room = LONGEST - self.0.len();
            if more.len() <= room {
                self.0.push_str(more);
                return Ok(());
            }
            let fits = |end: &usize| more.is_char_boundary(*end);
            let end = (0..=room).rev().find(fits).unwrap_or(0);
            self.0.push_str(&more[..end]);
            Err(fmt::Error)
        }
    }
    let mut short = Short(String::with_capacity(USUAL));
    contain(|| {
        // A longer text is cut off.
        let _ = write!(short, "{of}");
    });
    short.0
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use super::{Journal, KEPT, LONGEST, OwnIntensityChild, Restarts, beginning, push_bounded};
    use crate::ProcessId;

    #[test]
    fn long_text_is_cut_at_a_char_boundary() {
        let text = "é".repeat(LONGEST);
        assert_eq!(beginning(&text), "é".repeat(LONGEST / 2));
        assert_eq!(beginning(&format_args!("{}{}", "a", text)).len(), LONGEST - 1);
        assert_eq!(beginning(&"short"), "short");
    }

    #[test]
    fn full_list_evicts_its_oldest_entry() {
        let mut list = VecDeque::new();
        (0..2 * KEPT).for_each(|number| push_bounded(&mut list, number));
        assert_eq!((list.len(), list[0]), (KEPT, KEPT));
    }

    #[test]
    fn restarts_of_children_with_their_own_intensity_replace_and_evict_none_of_supervisors() {
        let journal = Journal::default();
        let supervisor = ProcessId::from_parts(1, 0, 1).expect("the parts are valid");
        let restarts = |child, counted| {
            let [last, period] = [Duration::ZERO; 2];
            Restarts { supervisor, child, total: 0, last, counted, most: 10, period }
        };
        journal.restarted(restarts(None, 9));
        for number in 0..2 * KEPT as u64 {
            let child = OwnIntensityChild { id: "room".into(), number };
            journal.restarted(restarts(Some(child.clone()), 1));
            journal.restarted(restarts(Some(child), 2));
        }
        let seen = journal.read().restarts;
        assert_eq!(seen.len(), 1 + KEPT);
        assert_eq!((&seen[0].child, seen[0].counted, seen[0].total), (&None, 9, 1));
        assert!(seen[1..].iter().all(|own| (own.counted, own.total) == (2, 2)), "{seen:?}");
    }
}
