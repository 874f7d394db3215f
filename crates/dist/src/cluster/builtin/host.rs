//! What the operating system says of this program. On other systems than Linux it says nothing here, and what is
//! told is zero.
//!
//! COST: each reads a small file of the kernel's.

use std::fs::read_to_string;
use std::time::Duration;

/// How long a tick of the kernel's clock for processes is.
const TICK: Duration = Duration::from_millis(10);

/// The processor time that this program has used.
pub(super) fn processor_time() -> Duration {
    // The name of the program, in parentheses, may have anything in it.
    let ticks = read_to_string("/proc/self/stat").ok().and_then(|text| {
        let numbers = text.rsplit_once(')')?.1;
        let mut numbers = numbers.split_whitespace().skip(11).map(str::parse::<u32>);
        Some(numbers.next()?.ok()?.saturating_add(numbers.next()?.ok()?))
    });
    TICK * ticks.unwrap_or(0)
}

/// The memory that this program has, in bytes.
pub(super) fn memory() -> usize {
    // WHY not `statm`, which counts pages: how large one is differs between machines.
    let kilobytes = read_to_string("/proc/self/status").ok().and_then(|text| {
        let resident = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        resident.split_whitespace().next()?.parse::<usize>().ok()
    });
    kilobytes.unwrap_or(0) * 1024
}

/// How many processors there are for it.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_tells_what_this_program_uses() {
        assert!(super::memory() > 100_000);
        let before = super::processor_time();
        while super::processor_time() == before {
            std::hint::spin_loop();
        }
    }
}
