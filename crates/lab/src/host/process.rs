//! Whether the program that began a run still runs: its id, and when it was started, because ids
//! are given again.

use serde::{Deserialize, Serialize};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};

/// A program of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it was started, in seconds since 1970.
    pub started: u64,
}

impl Process {
    /// This program; `None` where the operating system does not tell.
    #[must_use]
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whether it still runs.
    #[must_use]
    pub fn runs(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    fn of(pid: u32) -> Option<Self> {
        let mut system = System::new();
        let (one, what) = ([Pid::from_u32(pid)], ProcessRefreshKind::nothing());
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&one), true, what);
        let found = system.process(one[0])?;
        // WHY: one that has ended stays in the list until its parent asks how.
        let ended = matches!(found.status(), ProcessStatus::Zombie | ProcessStatus::Dead);
        (!ended).then(|| Self { pid, started: found.start_time() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_was_started_at_another_time_is_another_one() {
        let own = Process::own().unwrap();
        assert!(own.runs());
        assert!(!Process { started: own.started - 1, ..own }.runs());
        assert!(!Process { pid: u32::MAX, ..own }.runs());
    }

    #[cfg(unix)]
    #[test]
    fn one_that_has_ended_does_not_run_though_nobody_asked_how() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let running = Process::of(child.id()).unwrap();
        drop(child.stdin.take());
        let mut output = child.stdout.take().unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        // Its output is closed a moment before it has ended.
        while running.runs() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
