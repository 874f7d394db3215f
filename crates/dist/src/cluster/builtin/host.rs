//! Resource usage of this program as reported by the operating system. Zero on systems other than Linux.
//!
//! COST: each function reads a small file in `/proc`.

use std::fs::read_to_string;
use std::time::Duration;

/// Unit of the processor times in `/proc/self/stat`.
const TICK: Duration = Duration::from_millis(10);

/// Processor time used by this program.
pub(super) fn processor_time() -> Duration {
    // The program name, in parentheses, may contain any character.
    let ticks = read_to_string("/proc/self/stat").ok().and_then(|text| {
        let numbers = text.rsplit_once(')')?.1;
        let mut numbers = numbers.split_whitespace().skip(11).map(str::parse::<u32>);
        Some(numbers.next()?.ok()?.saturating_add(numbers.next()?.ok()?))
    });
    TICK * ticks.unwrap_or(0)
}

/// Resident memory of this program, in bytes.
pub(super) fn memory() -> usize {
    // WHY not `statm`: it counts pages, whose size differs between machines.
    let kilobytes = read_to_string("/proc/self/status").ok().and_then(|text| {
        let resident = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        resident.split_whitespace().next()?.parse::<usize>().ok()
    });
    kilobytes.unwrap_or(0) * 1024
}

/// Number of processors available to this program.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_and_processor_time_are_read_from_proc() {
        assert!(super::memory() > 100_000);
        let before = super::processor_time();
        while super::processor_time() == before {
            std::hint::spin_loop();
        }
    }
}
