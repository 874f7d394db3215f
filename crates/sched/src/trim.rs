//! Trim: returns memory to the operating system after many processes or messages have been freed.
//!
//! Purlin frees memory as soon as it is unused, but glibc retains it: each thread frees into the
//! arena that the block came from, and an arena returns only its top to the system. A large group
//! of processes spawned on one worker, followed by a second group on another worker, thus takes its
//! memory twice. Sysmon therefore reads the resident set size when all workers have been asleep for
//! 20 ticks. If it exceeds the lowest value seen by a quarter and 16 MB, sysmon has glibc return
//! the free memory.
//!
//! Sysmon calls [`is_due`]; a separate thread calls [`trim`]. With another C library or a
//! custom allocator there is nothing to return, and the next trim is due after another quarter of
//! growth.
//!
//! COST: reading one file of `/proc` whenever the node comes to rest, 5 to 20 µs; for the trim, see
//! [`purlin_raw::trim`].

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimum growth in pages, usually 16 MB.
const MIN_PAGES: usize = 4096;

/// Lowest number of resident pages at a rest since the last trim, or right after it.
///
/// WHY per program: the kernel counts the pages of the whole program. If two nodes find a trim due,
/// the second one frees little.
static LOWEST_RESIDENT: AtomicUsize = AtomicUsize::new(0);

/// Returns whether a trim is worth its cost. Called by sysmon when all workers sleep.
pub(crate) fn is_due() -> bool {
    let Some(resident) = resident() else { return false };
    let lowest = LOWEST_RESIDENT.load(Ordering::Relaxed);
    LOWEST_RESIDENT.store(lowest.min(resident), Ordering::Relaxed);
    has_grown(lowest, resident)
}

fn has_grown(lowest: usize, resident: usize) -> bool {
    resident >= lowest + lowest / 4 + MIN_PAGES
}

/// Returns free memory to the system. Records the number of pages left if the node is still at
/// rest: the number while processes run says nothing about the next rest.
pub(crate) fn trim(rests_still: impl FnOnce() -> bool) {
    purlin_raw::trim();
    if let Some(resident) = resident().filter(|_| rests_still()) {
        LOWEST_RESIDENT.store(resident, Ordering::Relaxed);
    }
}

/// Returns the number of resident pages of this program, or `None` on other platforms.
fn resident() -> Option<usize> {
    if !cfg!(all(target_os = "linux", target_env = "gnu", not(miri))) {
        return None;
    }
    second_number(&fs::read_to_string("/proc/self/statm").ok()?)
}

fn second_number(line: &str) -> Option<usize> {
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{MIN_PAGES, has_grown, resident, second_number};

    #[test]
    fn a_trim_is_due_after_growth_by_a_quarter_and_the_minimum() {
        for (lowest, resident, due) in [
            (0, MIN_PAGES - 1, false),
            (0, MIN_PAGES, true),
            (MIN_PAGES, 2 * MIN_PAGES, false),
            (4 * MIN_PAGES, 6 * MIN_PAGES, true),
            (100 * MIN_PAGES, 125 * MIN_PAGES, false),
            (100 * MIN_PAGES, 126 * MIN_PAGES, true),
        ] {
            assert_eq!(has_grown(lowest, resident), due, "{resident} pages after {lowest}");
        }
    }

    #[test]
    fn the_resident_pages_are_the_second_number() {
        assert_eq!(second_number("61735 5127 512 1 0 9 0\n"), Some(5127));
        assert_eq!(second_number("61735"), None);
        assert_eq!(second_number("a b c"), None);
    }

    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    #[test]
    fn a_program_that_runs_has_resident_pages() {
        assert!(resident().is_some_and(|pages| pages > 0));
    }
}
