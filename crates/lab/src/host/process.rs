//! Identity of a process: its id and start time, because process ids are reused.

use serde::{Deserialize, Serialize};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

/// A process of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The process id.
    pub pid: u32,
    /// Start time, in seconds since 1970.
    pub started: u64,
}

impl Process {
    /// Returns the identity of this process; `None` where the operating system does not report it.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Returns whether the process is still running.
    pub fn runs(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    fn of(pid: u32) -> Option<Self> {
        let mut system = System::new();
        let (one, what) = ([Pid::from_u32(pid)], ProcessRefreshKind::nothing());
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&one), true, what);
        let found = system.process(one[0])?;
        // WHY: a process that has exited stays in the list until its parent collects its status.
        let ended = matches!(found.status(), ProcessStatus::Zombie | ProcessStatus::Dead);
        (!ended).then(|| Self { pid, started: found.start_time() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_id_with_another_start_time_is_another_process() {
        let own = Process::own().unwrap();
        assert!(own.runs());
        assert!(!Process { started: own.started - 1, ..own }.runs());
        assert!(!Process { pid: u32::MAX, ..own }.runs());
    }

    #[cfg(unix)]
    #[test]
    fn zombie_process_is_not_running() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let running = Process::of(child.id()).unwrap();
        drop(child.stdin.take());
        let mut output = child.stdout.take().unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        // The child's output closes before the child has exited.
        while running.runs() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
