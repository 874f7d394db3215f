//! Detection of contention between the hardware threads of a core (SMT).
//!
//! While another hardware thread of the core computes, for example for another guest of the hypervisor, independent
//! instructions take about twice as long. A chain of dependent instructions, which uses one arithmetic unit at a time,
//! takes as long as before. The ratio of the two times shows the contention, which neither the load nor the steal time
//! contains: measured on an AMD EPYC, it is 0.27 without contention, and the independent instructions took 2.2 to 2.8
//! times as long with it. [`SmtProbe::ratio`] takes about 2 ms and examines the core on which it is called.

use std::hint::black_box;
use std::time::Instant;

use crate::stats;
use crate::warning::Warning;

/// The ratio above which the core is considered shared.
///
/// A core with at least three arithmetic units reaches 0.33 or less alone, and one with four has 0.5 under contention.
const SHARED: f64 = 0.4;

/// Advice of the warnings.
const ADVICE: &str = "measure on a machine of its own, or at a quieter hour: code that computes takes about twice as long";

/// Number of measurements, of which the median counts: an interrupt lengthens only one.
const PAIRS: usize = 101;

/// Number of steps of a measurement: an addition and a rotation each.
const STEPS: usize = 20_000;

/// Number of independent chains.
const CHAINS: usize = 8;

/// Measures contention repeatedly during a run.
#[derive(Debug, Default)]
pub struct SmtProbe {
    ratios: Vec<f64>,
    /// Number of measurements before the present experiment.
    before: usize,
}

impl SmtProbe {
    /// Returns the time of independent instructions in relation to that of dependent ones, or `None` if the program was
    /// compiled without optimisation, where both mostly wait for memory.
    pub fn ratio() -> Option<f64> {
        if cfg!(debug_assertions) {
            return None;
        }
        let ratios: Vec<f64> = (0..PAIRS).map(|_| time(independent) / time(dependent)).collect();
        stats::median(&ratios).filter(|ratio| ratio.is_finite()).map(hundredths)
    }

    /// Measures once.
    pub fn measure(&mut self) {
        self.ratios.extend(Self::ratio());
    }

    /// Ends an experiment. Returns a warning if the core was shared at one of its measurements.
    pub fn end(&mut self, experiment: &str) -> Option<Warning> {
        let ratios = &self.ratios[self.before..];
        self.before = self.ratios.len();
        let shared: Vec<f64> = ratios.iter().copied().filter(|ratio| *ratio > SHARED).collect();
        let message = format!(
            "{experiment}: another hardware thread of the core was busy after {} of {} rounds (independent instructions \
             took {:.2} of the time of dependent ones)",
            shared.len(),
            ratios.len(),
            stats::median(&shared)?,
        );
        Some(Warning::new("smt", message, ADVICE).about(experiment, None))
    }

    /// Returns the percentage of measurements at which the core was shared.
    pub fn shared_percent(&self) -> Option<f64> {
        let shared = self.ratios.iter().filter(|ratio| **ratio > SHARED).count();
        let all = self.ratios.len();
        (all > 0).then(|| hundredths(shared as f64 * 100.0 / all as f64))
    }

    /// Returns the median of all measurements.
    pub fn median(&self) -> Option<f64> {
        stats::median(&self.ratios).map(hundredths)
    }
}

/// Returns a warning if the ratio before the run shows that the core is shared.
pub(super) fn warning(ratio: f64) -> Option<Warning> {
    let message = format!(
        "another hardware thread of the core was busy before the run (independent instructions took {ratio:.2} of the \
         time of dependent ones)"
    );
    (ratio > SHARED).then(|| Warning::new("smt", message, ADVICE))
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Returns the duration of a call in ns.
fn time(run: fn(u64) -> u64) -> f64 {
    let begin = Instant::now();
    black_box(run(black_box(3)));
    begin.elapsed().as_nanos() as f64
}

/// Executes the steps in chains that do not depend on each other.
#[inline(never)]
fn independent(addend: u64) -> u64 {
    let mut chains: [u64; CHAINS] = [0, 1, 2, 3, 4, 5, 6, 7];
    for _ in 0..STEPS / CHAINS {
        for value in &mut chains {
            *value = step(*value, addend);
        }
    }
    chains.iter().fold(0, |all, value| all ^ value)
}

/// Executes the steps in one chain.
#[inline(never)]
fn dependent(addend: u64) -> u64 {
    (0..STEPS).fold(0, |value, _| step(value, addend))
}

/// WHY a rotation: the compiler cannot combine additions across it.
fn step(value: u64, addend: u64) -> u64 {
    value.wrapping_add(addend).rotate_left(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ratio_of_a_shared_core_gives_a_warning() {
        assert_eq!(warning(0.27), None);
        assert_eq!(warning(0.33), None);
        let shared = warning(0.62).unwrap();
        assert_eq!(shared.kind, "smt");
        assert!(shared.message.contains("0.62"));
    }

    #[test]
    fn an_experiment_counts_its_own_measurements() {
        let mut probe = SmtProbe { ratios: vec![0.27, 0.61, 0.28, 0.55], before: 0 };
        assert_eq!(probe.shared_percent(), Some(50.0));
        let shared = probe.end("call").unwrap();
        assert!(
            shared.message.starts_with("call: ") && shared.message.contains("after 2 of 4 rounds")
        );
        assert!(shared.message.contains("took 0.58 of"), "{}", shared.message);
        probe.ratios.push(0.27);
        assert_eq!(probe.end("ping-pong"), None);
        assert_eq!(probe.end("no rounds"), None);
    }

    #[test]
    fn a_run_stores_the_median_of_its_measurements() {
        let mut probe = SmtProbe::default();
        assert_eq!((probe.median(), probe.shared_percent()), (None, None));
        probe.ratios = vec![0.27, 0.61, 0.28];
        assert_eq!(probe.median(), Some(0.28));
        assert_eq!(SmtProbe::ratio().is_some(), !cfg!(debug_assertions));
    }

    #[test]
    fn both_loops_execute_the_same_steps() {
        let chain = |start| (0..STEPS / CHAINS).fold(start, |value, _| step(value, 3));
        assert_eq!(independent(3), (0..CHAINS as u64).fold(0, |all, start| all ^ chain(start)));
        assert_eq!(dependent(3), (0..STEPS).fold(0, |value, _| step(value, 3)));
    }
}
