//! What looking costs, and what the program takes, as the operating system tells.

use std::fs;
use std::time::Duration;

use rustix::param::page_size;
use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used.
pub(super) fn time_used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Bytes of the program that are in memory; `None` where the system does not tell as Linux does.
pub(super) fn resident() -> Option<u64> {
    // Its size, and what of it is resident, in pages: proc(5).
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
    fn a_program_takes_at_least_a_megabyte_and_less_than_there_is() {
        let bytes = resident().expect("Linux tells");
        assert!((1 << 20..1 << 40).contains(&bytes), "{bytes}");
    }
}
