//! Giving memory back to the operating system when a crowd of processes or messages has gone.
//!
//! What ends is freed at once, but glibc keeps what is freed: each thread frees into the heap that
//! the memory came from, and of a heap only its end goes back by itself. A crowd that was begun on
//! one worker and the next one on another so take their memory twice. So the monitor looks, when all
//! workers have slept for a while, how much memory is resident, and when that is a quarter more than
//! it was at its lowest, and 16 MB, has glibc give back what is free.
//!
//! Called by the monitor, and [`give_back`] by a thread of its own. With another C library, or an
//! allocator of the program's own, there is nothing to give back, and the next time is a quarter
//! further on.
//!
//! COST: at each rest a file of the kernel's is read, 5 to 20 µs; giving back, see
//! [`purlin_raw::trim`].

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fewer pages, 16 MB as a rule, are not worth while.
const LEAST: usize = 4096;

/// The fewest pages that were resident at a rest since memory was given back last, or then.
///
/// WHY of the whole program: that is what the kernel counts. Two nodes may both find it due; the
/// second one finds little.
static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// Whether there may be much to give back. For the monitor, when all workers sleep.
pub(crate) fn is_due() -> bool {
    let Some(resident) = resident() else { return false };
    let lowest = LOWEST.load(Ordering::Relaxed);
    LOWEST.store(lowest.min(resident), Ordering::Relaxed);
    has_swollen(lowest, resident)
}

fn has_swollen(lowest: usize, resident: usize) -> bool {
    resident >= lowest + lowest / 4 + LEAST
}

/// Gives back what is free, and remembers how much is left, if the node rests still: what is resident
/// while processes run says nothing about the next rest.
pub(crate) fn give_back(rests_still: impl FnOnce() -> bool) {
    purlin_raw::trim();
    if let Some(resident) = resident().filter(|_| rests_still()) {
        LOWEST.store(resident, Ordering::Relaxed);
    }
}

/// Pages of this program that are in memory, where it can be told and matters.
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
    use super::{LEAST, has_swollen, resident, second_number};

    #[test]
    fn memory_is_given_back_when_there_is_a_quarter_more_of_it_and_that_is_not_little() {
        for (lowest, resident, due) in [
            (0, LEAST - 1, false),
            (0, LEAST, true),
            (LEAST, 2 * LEAST, false),
            (4 * LEAST, 6 * LEAST, true),
            (100 * LEAST, 125 * LEAST, false),
            (100 * LEAST, 126 * LEAST, true),
        ] {
            assert_eq!(has_swollen(lowest, resident), due, "{resident} pages after {lowest}");
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
