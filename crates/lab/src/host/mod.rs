//! Description of the machine under test.
//!
//! Read once, before the first sample, so that the load average does not include the lab.

mod fitness;
mod kernel;
mod smt;

use std::{fs, thread};

use serde::{Deserialize, Serialize};
use sysinfo::System;

pub use fitness::{Fitness, StealWatch};
pub use smt::SmtProbe;

/// The machine, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Host {
    /// The operating system.
    pub os: String,
    /// The kernel version.
    pub kernel: String,
    /// The processor model.
    pub cpu: String,
    /// Number of cores this program may use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Load average of the minute before the run; 0 where the system does not report it.
    pub load_before: f64,
    /// Whether it is a virtual machine; `None` if unknown.
    #[serde(rename = "virtual")]
    pub is_virtual: Option<bool>,
    /// Fitness for measuring; `None` if it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<Fitness>,
}

impl Host {
    /// Reads the description of this machine, without its fitness.
    pub fn snapshot() -> Self {
        let mut system = System::new();
        system.refresh_memory();
        system.refresh_cpu_all();
        let unknown = || "unknown".to_owned();
        Self {
            os: System::long_os_version().unwrap_or_else(unknown),
            kernel: System::kernel_version().unwrap_or_else(unknown),
            cpu: system
                .cpus()
                .first()
                .map(|cpu| cpu.brand().trim().to_owned())
                .filter(|brand| !brand.is_empty())
                .unwrap_or_else(unknown),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: system.total_memory(),
            load_before: System::load_average().one,
            is_virtual: fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(hypervised),
            fitness: None,
        }
    }
}

impl Host {
    /// Returns the differences between two machines, in words; empty if they are equal.
    pub fn changes(&self, other: &Self) -> String {
        let (here, there) = (self.facts(), other.facts());
        let changed = here.iter().zip(&there).filter(|(one, other)| one != other);
        let changes = changed.map(|((name, one), (_, other))| format!("{name} {one} → {other}"));
        changes.collect::<Vec<_>>().join(", ")
    }

    /// Returns the properties that identify a machine; its load is not one of them.
    fn facts(&self) -> [(&'static str, String); 6] {
        [
            ("cpu", self.cpu.clone()),
            ("cores", self.cores.to_string()),
            ("memory", format!("{} MiB", self.memory_bytes >> 20)),
            ("system", self.os.clone()),
            ("kernel", self.kernel.clone()),
            (
                "virtual",
                match self.is_virtual {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "unknown",
                }
                .to_owned(),
            ),
        ]
    }
}

/// Returns whether the processor flags in `/proc/cpuinfo` include `hypervisor`.
fn hypervised(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the ticks of the time stamp counter per nanosecond, if the machine has an invariant one.
pub fn ticks_per_ns() -> Option<f64> {
    const TICKS: u64 = 1_000_000_000;
    let clock = quanta::Clock::new();
    let ns = clock.delta_as_nanos(0, TICKS);
    // WHY: without an invariant counter the clock counts nanoseconds.
    (ns > 0 && ns != TICKS).then(|| TICKS as f64 / ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_machine_is_detected_by_the_hypervisor_flag() {
        assert_eq!(hypervised("flags\t: fpu hypervisor sse\n"), Some(true));
        assert_eq!(hypervised("flags\t: fpu sse\n"), Some(false));
        assert_eq!(hypervised("Features : fp asimd\n"), None);
    }
}
