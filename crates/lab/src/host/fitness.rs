//! Whether the machine is fit to measure: what else it does, and what may hold it back.
//!
//! [`Fitness::look`] takes a fifth of a second and is for before the first
//! sample. What cannot be known here is `None`, never guessed. What of it is to
//! be warned of, [`Fitness::warnings`] says.

use std::path::Path;
use std::{fs, thread};

use serde::{Deserialize, Serialize};
use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, ProcessRefreshKind, ProcessesToUpdate, System};

use super::kernel::{Ticks, allowed, listed, mhz, pressure};
use super::quota::{Quota, quota};
use crate::warning::Warning;

/// How many of the busiest programs are told.
const TOLD: usize = 3;

/// The share of a core from which on a program is told.
const BUSY: f64 = 0.05;

/// The percentage of the machine's time that may go to others in a look of a fifth of a second.
const OTHERS: f64 = 5.0;

/// The percentage that may be stolen while it is measured, or waited for memory.
const LITTLE: f64 = 1.0;

/// The fewest stolen ticks of which a percentage is warned of: one alone may be the whole of it.
const TICKS: u64 = 5;

/// The machine's state, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fitness {
    /// The average load of the last minute, five and fifteen.
    pub load: Option<[f64; 3]>,
    /// The percentage of all cores' time that something ran.
    pub busy_percent: Option<f64>,
    /// What ran, the busiest first.
    pub busiest: Vec<Busy>,
    /// The percentage of the time that the hypervisor gave to others though there was work.
    pub steal_percent: Option<f64>,
    /// The same while it was measured.
    pub steal_percent_during: Option<f64>,
    /// How the frequency is chosen, each way once.
    pub governors: Option<Vec<String>>,
    /// Whether the frequency may rise above the nominal one.
    pub turbo: Option<bool>,
    /// The frequency of the fastest core now, in MHz.
    pub mhz: Option<u32>,
    /// The highest it can have.
    pub mhz_max: Option<u32>,
    /// What the control group allows.
    pub quota: Option<Quota>,
    /// The cores that this program may use.
    pub cores_allowed: Option<usize>,
    /// The cores that run.
    pub cores_online: Option<usize>,
    /// Memory on disc, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Memory that is to be had, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// The percentage of the last ten seconds in which somebody waited for memory.
    pub memory_pressure_percent: Option<f64>,
    /// The same for a core.
    pub cpu_pressure_percent: Option<f64>,
}

/// A program that runs beside the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Its name.
    pub name: String,
    /// How many cores it keeps busy.
    pub cores: f64,
}

impl Fitness {
    /// Looks for a fifth of a second.
    #[must_use]
    pub fn look() -> Self {
        let mut system = System::new();
        let refresh = |system: &mut System| {
            system.refresh_cpu_usage();
            let what = ProcessRefreshKind::nothing().with_cpu();
            system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
        };
        let watch = StealWatch::begin();
        refresh(&mut system);
        thread::sleep(MINIMUM_CPU_UPDATE_INTERVAL);
        refresh(&mut system);
        system.refresh_memory();
        let looked = sysinfo::IS_SUPPORTED_SYSTEM;
        let knows = looked && system.total_memory() > 0;
        let load = System::load_average();
        let frequency = |name: &str| in_policies(name).and_then(|all| largest_mhz(&all));
        Self {
            load: (looked && !cfg!(windows)).then_some([load.one, load.five, load.fifteen]),
            busy_percent: looked.then(|| tenths(system.global_cpu_usage().into())),
            busiest: busiest(&system),
            steal_percent: watch.percent(),
            steal_percent_during: None,
            governors: in_policies("scaling_governor"),
            turbo: turbo(),
            mhz: frequency("scaling_cur_freq").or_else(|| mhz(&text("/proc/cpuinfo")?)),
            mhz_max: frequency("cpuinfo_max_freq"),
            quota: text("/proc/self/cgroup").zip(text("/proc/self/mountinfo")).and_then(
                |(groups, mounts)| quota(&groups, &mounts, &|path| fs::read_to_string(path).ok()),
            ),
            cores_allowed: text("/proc/self/status").and_then(|status| allowed(&status)),
            cores_online: text("/sys/devices/system/cpu/online").and_then(|list| listed(&list)),
            swap_used_bytes: knows.then(|| system.used_swap()),
            memory_available_bytes: knows.then(|| system.available_memory()),
            memory_pressure_percent: text("/proc/pressure/memory").and_then(|it| pressure(&it)),
            cpu_pressure_percent: text("/proc/pressure/cpu").and_then(|it| pressure(&it)),
        }
    }

    /// What a reader of the figures must know of it.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let busy = self.busy_percent.filter(|&percent| percent > OTHERS);
        if let Some(percent) = busy {
            let told = self.busiest.iter();
            let busiest = told.map(|one| format!("{} {:.2}", one.name, one.cores)).collect();
            warnings.push(Warning::MachineLoaded { percent, busiest });
        }
        let steal = self.steal_percent.filter(|&percent| percent > OTHERS);
        warnings.extend(steal.map(|percent| Warning::Steal { experiment: None, percent }));
        if let (Some(Quota::Cores(allowed)), Some(online)) = (self.quota, self.cores_online)
            && allowed < online as f64
        {
            warnings.push(Warning::Quota { allowed, online });
        }
        if let (Some(allowed), Some(online)) = (self.cores_allowed, self.cores_online)
            && allowed < online
        {
            warnings.push(Warning::Pinned { allowed, online });
        }
        let governors = self.governors.iter().flatten().filter(|one| *one != "performance");
        let governors: Vec<_> = governors.cloned().collect();
        if !governors.is_empty() {
            warnings.push(Warning::Governor { governors: governors.join(", ") });
        }
        let waits = self.memory_pressure_percent.filter(|&percent| percent > LITTLE);
        warnings.extend(waits.map(|percent| Warning::MemoryPressure { percent }));
        warnings
    }
}

/// Watches what the hypervisor takes, from one moment on.
#[derive(Debug)]
pub struct StealWatch(Option<Ticks>);

impl StealWatch {
    /// From now on.
    #[must_use]
    pub fn begin() -> Self {
        Self(Ticks::now())
    }

    /// The percentage of the time since then.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        self.stolen().map(|(_, percent)| tenths(percent))
    }

    /// The processor time since then, of all cores together, in ms.
    #[must_use]
    pub fn stolen_ms(&self) -> Option<u64> {
        let ticks = Ticks::now()?.lost_since(self.0?);
        Some(ticks * 1000 / ticks_per_second()?)
    }

    fn stolen(&self) -> Option<(u64, f64)> {
        Ticks::now()?.stolen_since(self.0?)
    }

    /// The same, if it is worth a warning.
    #[must_use]
    pub fn warning(&self, experiment: &str) -> Option<Warning> {
        let much = |&(ticks, percent): &(u64, f64)| ticks >= TICKS && percent > LITTLE;
        let (_, percent) = self.stolen().filter(much)?;
        Some(Warning::Steal { experiment: Some(experiment.to_owned()), percent })
    }
}

impl Ticks {
    fn now() -> Option<Self> {
        Self::read(&text("/proc/stat")?)
    }
}

/// How many of those that `/proc/stat` counts are a second: proc(5).
fn ticks_per_second() -> Option<u64> {
    #[cfg(unix)]
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten();
    #[cfg(not(unix))]
    let ticks = None;
    ticks.and_then(|ticks: i64| u64::try_from(ticks).ok()).filter(|&ticks| ticks > 0)
}

/// The busiest programs but this one.
fn busiest(system: &System) -> Vec<Busy> {
    let others = system.processes().iter().filter(|(pid, _)| pid.as_u32() != std::process::id());
    let mut all: Vec<Busy> = others
        .map(|(_, process)| Busy {
            name: process.name().to_string_lossy().into_owned(),
            cores: (f64::from(process.cpu_usage())).round() / 100.0,
        })
        .filter(|busy| busy.cores >= BUSY)
        .collect();
    all.sort_by(|a, b| b.cores.total_cmp(&a.cores).then_with(|| a.name.cmp(&b.name)));
    all.truncate(TOLD);
    all
}

/// What the policies of the frequency say under this name, each thing once.
fn in_policies(name: &str) -> Option<Vec<String>> {
    let policies = fs::read_dir("/sys/devices/system/cpu/cpufreq").ok()?;
    let texts =
        policies.filter_map(|policy| fs::read_to_string(policy.ok()?.path().join(name)).ok());
    let mut all: Vec<_> = texts.map(|text| text.trim().to_owned()).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

/// The largest of these numbers of kHz.
fn largest_mhz(texts: &[String]) -> Option<u32> {
    texts.iter().filter_map(|text| text.parse::<u32>().ok()).max().map(|khz| khz / 1000)
}

fn turbo() -> Option<bool> {
    let flag = |path| match text(path)?.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    let off = flag("/sys/devices/system/cpu/intel_pstate/no_turbo");
    off.map(|off| !off).or_else(|| flag("/sys/devices/system/cpu/cpufreq/boost"))
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// One digit behind the point: more would say too much.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(fitness: &Fitness) -> Vec<&'static str> {
        fitness.warnings().iter().map(Warning::kind).collect()
    }

    #[test]
    fn what_is_not_known_is_no_reason_to_warn() {
        assert!(Fitness::default().warnings().is_empty());
    }

    #[test]
    fn everything_that_disturbs_is_warned_of_by_its_name() {
        let worst = Fitness {
            busy_percent: Some(50.0),
            busiest: vec![Busy { name: "rustc".into(), cores: 0.97 }],
            steal_percent: Some(7.0),
            governors: Some(vec!["performance".into(), "powersave".into()]),
            quota: Some(Quota::Cores(1.5)),
            cores_allowed: Some(2),
            cores_online: Some(4),
            memory_pressure_percent: Some(3.0),
            ..Fitness::default()
        };
        assert_eq!(
            kinds(&worst),
            ["machine-loaded", "steal", "quota", "pinned", "governor", "memory-pressure"]
        );
        assert!(worst.warnings()[0].message().contains("rustc 0.97"));
    }

    #[test]
    fn a_machine_at_rest_is_fit() {
        let fit = Fitness {
            busy_percent: Some(1.5),
            steal_percent: Some(0.0),
            governors: Some(vec!["performance".into()]),
            quota: Some(Quota::Unlimited),
            cores_allowed: Some(4),
            cores_online: Some(4),
            memory_pressure_percent: Some(0.0),
            ..Fitness::default()
        };
        assert!(fit.warnings().is_empty());
        assert!(Fitness { quota: Some(Quota::Cores(4.0)), ..fit }.warnings().is_empty());
    }

    // CLOCK: the machine's own, for a fifth of a second.
    #[test]
    fn the_machine_at_hand_is_looked_at_and_read_again_as_it_was_stored() {
        let found = Fitness::look();
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Fitness>(&text).unwrap(), found);
        if cfg!(target_os = "linux") {
            assert!(found.load.is_some() && found.busy_percent.is_some());
            assert!(found.cores_allowed <= found.cores_online && found.cores_allowed > Some(0));
        }
    }
}
