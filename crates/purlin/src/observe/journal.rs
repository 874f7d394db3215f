//! Crashes and restarts of late, for those who come to look afterwards.
//!
//! Whoever crashes or restarts writes, in its own turn; whoever looks copies the lists. Both take the lock for
//! a moment. Who crashes does not wait for it, and what was not written for that reason is counted; a supervisor
//! that restarts does. Nothing of the user's is kept: a reason is kept as the beginning of its text.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, SystemTime};

use purlin_raw::quietly;

use crate::home::here;
use crate::{Name, Node, ProcessId};

/// How many crashes, reports and supervisors are kept, of each.
const KEPT: usize = 256;
/// How much of a reason's text is kept, in bytes.
const LONGEST: usize = 1000;

/// A process that ended because of a panic or an error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Crash {
    /// 1 for the first of its node.
    pub number: u64,
    /// When, by the wall clock.
    pub when: SystemTime,
    /// When, in the time of the node.
    pub at: Duration,
    /// Who it was.
    pub id: ProcessId,
    /// Its name, if it had one.
    pub name: Option<Name>,
    /// Who had spawned it, if a process had.
    pub parent: Option<ProcessId>,
    /// The function it ran.
    pub function: &'static str,
    /// Why it ended: the first 1000 bytes of that.
    pub reason: String,
    /// Messages that waited for it.
    pub mailbox_len: usize,
    /// Messages that it had received.
    pub messages_in: u64,
}

/// What a supervisor has reported: OTP's supervisor report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// 1 for the first of its node.
    pub number: u64,
    /// When, by the wall clock.
    pub when: SystemTime,
    /// When, in the time of the node.
    pub at: Duration,
    /// Whose report it is.
    pub supervisor: ProcessId,
    /// What it is about, in OTP's words: `start_error`, `child_terminated`, `shutdown_error` or `shutdown`.
    pub context: &'static str,
    /// The id of the child.
    pub child: Arc<str>,
    /// The process of the child, if it had one.
    pub process: Option<ProcessId>,
    /// Why: the first 1000 bytes of that.
    pub reason: String,
}

/// How often a supervisor has restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restarts {
    /// Which supervisor.
    pub supervisor: ProcessId,
    /// How often since the journal last forgot it, as it does where more supervisors have restarted than it keeps;
    /// with the attempt at which it gave up, if it did.
    pub total: u64,
    /// When last, in the time of the node.
    pub last: Duration,
    /// How many restarts counted for its intensity then.
    pub counted: usize,
    /// How many it may make within a period; at one more it gives up.
    pub most: usize,
    /// That period.
    pub period: Duration,
}

/// What has gone wrong of late, the oldest first.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Crashes {
    /// Processes that ended because of a panic or an error.
    pub crashes: Vec<Arc<Crash>>,
    /// What supervisors have reported.
    pub reports: Vec<Arc<Report>>,
    /// Supervisors that have restarted a child; those that did so last, last.
    pub restarts: Vec<Restarts>,
    /// How many crashes there were in all.
    pub all_crashes: u64,
    /// How many reports there were in all.
    pub all_reports: u64,
    /// How many of all of these were not written down because somebody else was just writing or looking.
    pub missed: u64,
}

/// The crashes and restarts of a node.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pages: Mutex<Pages>,
    all_crashes: AtomicU64,
    all_reports: AtomicU64,
    missed: AtomicU64,
}

#[derive(Debug, Default)]
struct Pages {
    crashes: VecDeque<Arc<Crash>>,
    reports: VecDeque<Arc<Report>>,
    restarts: VecDeque<Restarts>,
}

impl Journal {
    /// Gives the next number to what `write` keeps. WHY under the lock: so they stand in their order.
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

    /// A process has crashed; its number is given here.
    pub(crate) fn crashed(&self, mut crash: Crash) {
        self.write(&self.all_crashes, |pages, number| {
            crash.number = number;
            keep(&mut pages.crashes, Arc::new(crash));
        });
    }

    /// A supervisor has reported; the number is given here.
    pub(crate) fn reported(&self, mut report: Report) {
        self.write(&self.all_reports, |pages, number| {
            report.number = number;
            keep(&mut pages.reports, Arc::new(report));
        });
    }

    /// A supervisor restarts something; how often it has is counted here.
    pub(crate) fn restarted(&self, mut restarts: Restarts) {
        // WHY it waits: each of them counts, and the lock is held for a moment.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Restarts| known.supervisor == restarts.supervisor;
        let known = pages.restarts.iter().position(same);
        let before = known.and_then(|at| pages.restarts.remove(at));
        restarts.total = before.map_or(0, |before| before.total) + 1;
        keep(&mut pages.restarts, restarts);
    }

    fn read(&self) -> Crashes {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Crashes {
            crashes: pages.crashes.iter().cloned().collect(),
            reports: pages.reports.iter().cloned().collect(),
            restarts: pages.restarts.iter().copied().collect(),
            all_crashes: self.all_crashes.load(Ordering::Relaxed),
            all_reports: self.all_reports.load(Ordering::Relaxed),
            missed: self.missed.load(Ordering::Relaxed),
        }
    }
}

fn keep<T>(list: &mut VecDeque<T>, last: T) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(last);
}

/// The moment, by the wall clock and in the time of the node whose process this thread runs.
pub(crate) fn moment() -> (SystemTime, Duration) {
    (SystemTime::now(), here(|here| here.timers.now()).unwrap_or_default())
}

/// The beginning of what something says. What says it is the user's, and may panic.
pub(crate) fn beginning(of: &dyn fmt::Display) -> String {
    struct Short(String);
    impl fmt::Write for Short {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            let room = LONGEST - self.0.len();
            let fits = |end: &usize| more.is_char_boundary(*end);
            let end = (0..=more.len().min(room)).rev().find(fits).unwrap_or(0);
            self.0.push_str(&more[..end]);
            if end < more.len() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut short = Short(String::new());
    quietly(|| {
        // What was too long is cut off.
        let _ = write!(short, "{of}");
    });
    short.0
}

impl Node {
    /// What has gone wrong of late: crashes, reports of supervisors, and who restarts how often. The last 256 of
    /// each are kept.
    ///
    /// ```
    /// # #[purlin::main] async fn main() {
    /// use purlin::{Node, Process, spawn};
    ///
    /// let pid = spawn(async |_: Process<()>| Err::<(), _>("out of paper"));
    /// pid.ended().await;
    /// let node = Node::current().expect("a process has a node");
    /// let crashes = node.crashes();
    /// assert_eq!(crashes.crashes.last().map(|crash| crash.id), Some(pid.id()));
    /// assert!(crashes.crashes[0].reason.contains("out of paper"));
    /// # }
    /// ```
    ///
    /// COST: a lock that nobody waits for, and the lists.
    pub fn crashes(&self) -> Crashes {
        self.home().journal.read()
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT, LONGEST, Pages, beginning, keep};

    #[test]
    fn a_long_text_is_cut_between_two_letters() {
        let text = "é".repeat(LONGEST);
        assert_eq!(beginning(&text), "é".repeat(LONGEST / 2));
        assert_eq!(beginning(&format_args!("{}{}", "a", text)).len(), LONGEST - 1);
        assert_eq!(beginning(&"short"), "short");
    }

    #[test]
    fn the_oldest_go() {
        let mut pages = Pages::default();
        for number in 0..KEPT as u64 * 2 {
            keep(&mut pages.crashes, std::sync::Arc::new(crash(number)));
        }
        assert_eq!((pages.crashes.len(), pages.crashes[0].number), (KEPT, KEPT as u64));
    }

    fn crash(number: u64) -> super::Crash {
        super::Crash {
            number,
            when: std::time::SystemTime::UNIX_EPOCH,
            at: std::time::Duration::ZERO,
            id: crate::ProcessId::from_parts(0, 0, 0).expect("it is small"),
            name: None,
            parent: None,
            function: "",
            reason: String::new(),
            mailbox_len: 0,
            messages_in: 0,
        }
    }
}
