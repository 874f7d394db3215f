//! Fitness of the machine for measuring: other load, and limits on its performance.
//!
//! [`Fitness::snapshot`] takes 0.2 s and is called before the first sample. A value that cannot be read
//! is `None`. [`Fitness::warnings`] derives the warnings.

use std::path::Path;
use std::{fs, thread};

use serde::{Deserialize, Serialize};
use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, ProcessRefreshKind, ProcessesToUpdate, System};

use super::kernel::{Ticks, allowed, listed, pressure};
use super::smt::{self, SmtProbe};
use crate::format::tenths;
use crate::warning::Warning;

/// Number of busiest programs reported.
const TOLD: usize = 3;

/// Share of a core from which a program is reported.
const BUSY: f64 = 0.05;

/// Percentage of the machine's time that other programs may take during the 0.2 s snapshot.
const OTHERS: f64 = 5.0;

/// Percentage of time that may be stolen during an experiment, or spent waiting for memory.
const LITTLE: f64 = 1.0;

/// Minimum number of stolen ticks for a warning about their percentage: a single tick can be a
/// large share of a short period.
const TICKS: u64 = 5;

/// The state of the machine, as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fitness {
    /// Load average of the last 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Percentage of all cores' time in which a program ran.
    pub busy_percent: Option<f64>,
    /// The busiest programs, in descending order.
    pub busiest: Vec<Busy>,
    /// Percentage of time the hypervisor gave to other guests although this machine had work.
    pub steal_percent: Option<f64>,
    /// The same during the run.
    pub steal_percent_during: Option<f64>,
    /// Time of independent instructions over that of dependent ones before the run; more than 0.4
    /// if another hardware thread of the core is busy.
    #[serde(default)]
    pub smt_ratio: Option<f64>,
    /// The same during the run: the median of one measurement after each round.
    #[serde(default)]
    pub smt_ratio_during: Option<f64>,
    /// Percentage of these measurements that were more than 0.4.
    #[serde(default)]
    pub smt_shared_percent_during: Option<f64>,
    /// The frequency governors, without duplicates.
    pub governors: Option<Vec<String>>,
    /// Whether the frequency may exceed the nominal one.
    pub turbo: Option<bool>,
    /// Current frequency of the fastest core, in MHz.
    pub mhz: Option<u32>,
    /// Maximum frequency, in MHz.
    pub mhz_max: Option<u32>,
    /// Number of cores whose time this program may use, by CPU affinity and by the quota of its
    /// control groups, rounded down.
    pub cores_usable: Option<usize>,
    /// Number of cores that the CPU affinity allows.
    pub cores_allowed: Option<usize>,
    /// Number of online cores.
    pub cores_online: Option<usize>,
    /// Used swap, in bytes.
    pub swap_used_bytes: Option<u64>,
    /// Available memory, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// Percentage of the last 10 s in which some task waited for memory.
    pub memory_pressure_percent: Option<f64>,
    /// The same for CPU time.
    pub cpu_pressure_percent: Option<f64>,
}

/// Another program that uses CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// The program's name.
    pub name: String,
    /// The number of cores it uses.
    pub cores: f64,
}

impl Fitness {
    /// Takes a snapshot of the machine, which takes 0.2 s.
    pub fn snapshot() -> Self {
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
        let supported = sysinfo::IS_SUPPORTED_SYSTEM;
        let knows = supported && system.total_memory() > 0;
        let load = System::load_average();
        system.refresh_cpu_frequency();
        let mhz = system.cpus().iter().map(sysinfo::Cpu::frequency).max();
        Self {
            load: (supported && !cfg!(windows)).then_some([load.one, load.five, load.fifteen]),
            busy_percent: supported.then(|| tenths(system.global_cpu_usage().into())),
            busiest: busiest(&system),
            steal_percent: watch.percent(),
            steal_percent_during: None,
            smt_ratio: SmtProbe::ratio(),
            smt_ratio_during: None,
            smt_shared_percent_during: None,
            governors: in_policies("scaling_governor"),
            turbo: turbo(),
            mhz: mhz.and_then(|mhz| u32::try_from(mhz).ok()).filter(|&mhz| mhz > 0),
            mhz_max: in_policies("cpuinfo_max_freq").and_then(|all| largest_mhz(&all)),
            cores_usable: thread::available_parallelism().ok().map(usize::from),
            cores_allowed: text("/proc/self/status").and_then(|status| allowed(&status)),
            cores_online: text("/sys/devices/system/cpu/online").and_then(|list| listed(&list)),
            swap_used_bytes: knows.then(|| system.used_swap()),
            memory_available_bytes: knows.then(|| system.available_memory()),
            memory_pressure_percent: text("/proc/pressure/memory").and_then(|it| pressure(&it)),
            cpu_pressure_percent: text("/proc/pressure/cpu").and_then(|it| pressure(&it)),
        }
    }

    /// Returns the warnings a reader of the figures needs.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<_> = self.smt_ratio.and_then(smt::warning).into_iter().collect();
        let mut add = |kind, message: String, advice| {
            warnings.push(Warning::new(kind, message, advice));
        };
        if let Some(percent) = self.busy_percent.filter(|&percent| percent > OTHERS) {
            let busiest = self.busiest.iter().map(|one| format!("{} {:.2}", one.name, one.cores));
            let who = match busiest.collect::<Vec<_>>().join(", ") {
                names if names.is_empty() => names,
                names => format!(" (cores: {names})"),
            };
            add(
                "machine-loaded",
                format!("other programs take {percent:.0} % of the machine before the run{who}"),
                "end them, or wait until they have, and run again",
            );
        }
        if let Some(percent) = self.steal_percent.filter(|&percent| percent > OTHERS) {
            add("steal", stolen("the machine before the run", percent), STEAL_ADVICE);
        }
        if let (Some(usable), Some(allowed)) = (self.cores_usable, self.cores_allowed)
            && usable < allowed
        {
            add(
                "quota",
                format!("a control group allows the time of {usable} of {allowed} cores"),
                "lift the quota: who uses it up stands still until the next period",
            );
        }
        if let (Some(allowed), Some(online)) = (self.cores_allowed, self.cores_online)
            && allowed < online
        {
            add(
                "pinned",
                format!("only {allowed} of {online} cores may be used"),
                "compare only with runs on as many cores",
            );
        }
        let governors = self.governors.iter().flatten().filter(|one| *one != "performance");
        let governors: Vec<_> = governors.map(String::as_str).collect();
        if !governors.is_empty() {
            let governors = governors.join(", ");
            add(
                "governor",
                format!("the frequency of the cores follows the load (governor {governors})"),
                "set it to performance while measuring",
            );
        }
        if let Some(percent) = self.memory_pressure_percent.filter(|&percent| percent > LITTLE) {
            add(
                "memory-pressure",
                format!("programs waited for memory {percent:.1} % of the time before the run"),
                "end what needs much memory, and run again",
            );
        }
        warnings
    }
}

/// Measures steal time from its creation on.
#[derive(Debug)]
pub struct StealWatch(Option<Ticks>);

impl StealWatch {
    /// Starts measuring.
    pub fn begin() -> Self {
        Self(Ticks::now())
    }

    /// Returns the percentage of time stolen since the start.
    pub fn percent(&self) -> Option<f64> {
        self.stolen().map(|(_, percent)| tenths(percent))
    }

    /// Returns the processor time stolen since the start, summed over all cores, in ms.
    pub fn stolen_ms(&self) -> Option<u64> {
        let ticks = Ticks::now()?.lost_since(self.0?);
        Some(ticks * 1000 / ticks_per_second()?)
    }

    fn stolen(&self) -> Option<(u64, f64)> {
        Ticks::now()?.stolen_since(self.0?)
    }

    /// Returns a warning if the steal time exceeds its limits.
    pub fn warning(&self, experiment: &str) -> Option<Warning> {
        let much = |&(ticks, percent): &(u64, f64)| ticks >= TICKS && percent > LITTLE;
        let (_, percent) = self.stolen().filter(much)?;
        let message = stolen(experiment, percent);
        Some(Warning::new("steal", message, STEAL_ADVICE).about(experiment, None))
    }
}

const STEAL_ADVICE: &str = "measure on a machine of its own, or at a quieter hour";

fn stolen(during: &str, percent: f64) -> String {
    format!(
        "{during}: the hypervisor gave {percent:.1} % of the time in which it had work to others"
    )
}

impl Ticks {
    fn now() -> Option<Self> {
        Self::read(&text("/proc/stat")?)
    }
}

/// Returns the number of ticks per second of `/proc/stat`, see proc(5).
fn ticks_per_second() -> Option<u64> {
    #[cfg(unix)]
    let ticks = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten();
    #[cfg(not(unix))]
    let ticks = None;
    ticks.and_then(|ticks: i64| u64::try_from(ticks).ok()).filter(|&ticks| ticks > 0)
}

/// Returns the busiest programs other than this one.
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

/// Returns the values of this file over all cpufreq policies, without duplicates.
fn in_policies(name: &str) -> Option<Vec<String>> {
    let policies = fs::read_dir("/sys/devices/system/cpu/cpufreq").ok()?;
    let texts =
        policies.filter_map(|policy| fs::read_to_string(policy.ok()?.path().join(name)).ok());
    let mut all: Vec<_> = texts.map(|text| text.trim().to_owned()).collect();
    all.sort();
    all.dedup();
    (!all.is_empty()).then_some(all)
}

/// Returns the largest of these values in kHz, converted to MHz.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(fitness: &Fitness) -> Vec<String> {
        fitness.warnings().into_iter().map(|warning| warning.kind).collect()
    }

    #[test]
    fn unknown_values_give_no_warning() {
        assert!(Fitness::default().warnings().is_empty());
    }

    #[test]
    fn every_disturbance_gives_its_own_warning() {
        let worst = Fitness {
            busy_percent: Some(50.0),
            busiest: vec![Busy { name: "rustc".into(), cores: 0.97 }],
            steal_percent: Some(7.0),
            smt_ratio: Some(0.6),
            governors: Some(vec!["performance".into(), "powersave".into()]),
            cores_usable: Some(1),
            cores_allowed: Some(2),
            cores_online: Some(4),
            memory_pressure_percent: Some(3.0),
            ..Fitness::default()
        };
        assert_eq!(
            kinds(&worst),
            ["smt", "machine-loaded", "steal", "quota", "pinned", "governor", "memory-pressure"]
        );
        assert!(worst.warnings()[1].message.contains("rustc 0.97"));
    }

    #[test]
    fn idle_machine_gives_no_warning() {
        let fit = Fitness {
            busy_percent: Some(1.5),
            steal_percent: Some(0.0),
            smt_ratio: Some(0.27),
            governors: Some(vec!["performance".into()]),
            cores_usable: Some(4),
            cores_allowed: Some(4),
            cores_online: Some(4),
            memory_pressure_percent: Some(0.0),
            ..Fitness::default()
        };
        assert!(fit.warnings().is_empty());
    }

    // CLOCK: uses the real clock, for 0.2 s.
    #[test]
    fn snapshot_of_this_machine_round_trips_through_json() {
        let found = Fitness::snapshot();
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Fitness>(&text).unwrap(), found);
        if cfg!(target_os = "linux") {
            assert!(found.load.is_some() && found.busy_percent.is_some());
            assert!(found.cores_allowed <= found.cores_online);
            assert!(found.cores_usable <= found.cores_allowed && found.cores_usable > Some(0));
        }
    }
}
