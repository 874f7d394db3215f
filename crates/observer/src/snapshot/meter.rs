//! Cost of sampling and memory of the program, as reported by the operating system.

use std::fs;
use std::time::Duration;

use rustix::param::page_size;
use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time used by the calling thread.
pub(super) fn time_used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Returns the resident set of the program in bytes; `None` on systems without Linux's `/proc`.
pub(super) fn resident() -> Option<u64> {
    // proc(5): total size and resident size, in pages.
    let line = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::{resident, time_used};

    #[test]
    fn a_thread_that_computes_has_used_time() {
        let before = time_used();
        while time_used() == before {}
        assert!(time_used() > before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn resident_memory_is_between_a_mebibyte_and_a_tebibyte() {
        let bytes = resident().expect("the kernel reports it");
        assert!((1 << 20..1 << 40).contains(&bytes), "{bytes}");
    }
}
