//! Resident memory of a program, read from outside.

use std::fs;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// Returns the resident memory of the program with this process id, in bytes. Returns `None` if
/// there is no such program or the operating system does not report it.
pub(super) fn resident(os_pid: u32) -> Option<u64> {
    let pid = Pid::from_u32(os_pid);
    let mut system = System::new();
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&[pid]),
        true,
        ProcessRefreshKind::nothing().with_memory(),
    );
    system.process(pid).map(sysinfo::Process::memory).filter(|bytes| *bytes > 0)
}

/// Measures the peak resident memory of a program. The kernel resets its record of the peak and
/// then continues to keep it, at no cost in time to the program.
///
/// Linux only; users may do this for their own programs.
pub(super) struct Peak {
    os_pid: u32,
}

impl Peak {
    /// Resets the peak; returns `None` where that is not possible.
    pub(super) fn watch(os_pid: u32) -> Option<Self> {
        // 5 resets the peak resident memory (`VmHWM`) to the current resident memory.
        fs::write(format!("/proc/{os_pid}/clear_refs"), "5").ok()?;
        Some(Self { os_pid })
    }

    /// Returns the peak resident memory since the reset, in bytes.
    pub(super) fn bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.os_pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim_end().parse().ok()?;
        Some(kib * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::{Peak, resident};

    // A single test, because both functions read the memory of this program.
    #[test]
    fn touched_memory_is_resident_and_the_peak_lasts_until_it_is_reset() {
        let own = std::process::id();
        let before = resident(own).unwrap();
        let peak = Peak::watch(own);
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        let with = resident(own).unwrap();
        assert!(with - before > 60 << 20, "{before} and {} to {with}", touched.len());
        drop(touched);
        if cfg!(target_os = "linux") {
            assert!(peak.unwrap().bytes().unwrap() - before > 60 << 20);
            let anew = Peak::watch(own).unwrap().bytes().unwrap();
            assert!(anew < with, "{anew} of {with}");
        }
    }

    #[test]
    fn unknown_process_has_no_memory_figure() {
        assert_eq!(resident(u32::MAX), None);
        assert!(Peak::watch(u32::MAX).is_none());
    }
}
