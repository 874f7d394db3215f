//! The memory of a program, read from outside.

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

#[cfg(test)]
mod tests {
    use super::resident;

    #[test]
    fn what_a_program_touches_is_resident_and_nobody_has_no_memory() {
        let own = std::process::id();
        let before = resident(own).unwrap();
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        let grown = resident(own).unwrap() - before;
        assert!(grown > 60 << 20, "{grown} of {}", touched.len());
        assert_eq!(resident(u32::MAX), None);
    }
}
