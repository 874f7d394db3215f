//! The memory of a program, read from outside.

use std::fs;

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// The resident memory of the program with this process id, in bytes. `None` if there is no such
/// program or the operating system does not tell.
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

/// Watches how much memory a program comes to have: the most it ever had is forgotten, and from now
/// on kept again by the operating system, which takes nothing of the program's time.
///
/// Only Linux can do that. It lets anybody do it to their own programs.
pub(super) struct Peak {
    os_pid: u32,
}

impl Peak {
    /// Watches from now on; `None` where that cannot be done.
    pub(super) fn watch(os_pid: u32) -> Option<Self> {
        // The number means: reset the highest resident memory to what is resident.
        fs::write(format!("/proc/{os_pid}/clear_refs"), "5").ok()?;
        Some(Self { os_pid })
    }

    /// The most that was resident since then, in bytes.
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

    // One test, because both look at the memory of this program.
    #[test]
    fn what_a_program_touches_is_resident_and_its_peak_outlives_it_until_it_is_watched_anew() {
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
    fn nobody_has_no_memory() {
        assert_eq!(resident(u32::MAX), None);
        assert!(Peak::watch(u32::MAX).is_none());
    }
}
