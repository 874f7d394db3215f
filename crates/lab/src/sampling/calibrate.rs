//! Calibration of a parameter to a target duration: the next value to try, and when to stop. Pure.

use crate::contender::Reply;
use crate::experiments::Scaled;

/// Maximum number of runs per parameter: a warm-up, an approximation, and a reserve for a machine
/// under other load.
pub(super) const TRIES: usize = 5;

/// Maximum number of runs per step of `call-vs-send`.
pub(super) const STEP_TRIES: usize = 8;

/// Maximum factor by which a value grows from one run to the next.
const GROWTH: f64 = 1000.0;

/// Result of a calibration run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextRun {
    /// Accept this value.
    Accepted(u64),
    /// Run again with this value.
    Again(u64),
}

/// Maximum wall time of a sample, as a multiple of its work's duration.
const SET_UP: u64 = 8;

/// Returns the duration that calibration uses for a run.
///
/// If set-up outside of the clock takes longer than the work, such as building a payload that is
/// then only moved, the set-up counts; otherwise a sample could take 100 times its share.
pub(super) fn taken(reply: &Reply) -> u64 {
    reply.elapsed_ns.max(reply.wall_ns / SET_UP)
}

/// Evaluates a run with `value` that took `elapsed_ns`, against a target of `target_ns`.
pub(super) fn evaluate(scaled: &Scaled, value: u64, elapsed_ns: u64, target_ns: f64) -> NextRun {
    let next = rescaled(value, elapsed_ns, target_ns, GROWTH).min(scaled.cap);
    let off = target_ns / elapsed_ns.max(1) as f64;
    if next == value || (0.5..=2.0).contains(&off) {
        NextRun::Accepted(next)
    } else {
        NextRun::Again(next)
    }
}

/// Returns the value that would take `target_ns` if time were proportional to it.
///
/// The result is at least 1, and at most `growth` times the value.
pub(super) fn rescaled(value: u64, elapsed_ns: u64, target_ns: f64, growth: f64) -> u64 {
    let factor = (target_ns / elapsed_ns.max(1) as f64).min(growth);
    ((value as f64 * factor).round() as u64).max(1)
}

/// Returns whether a step lies within 10 % of its target.
pub(super) fn hit(elapsed_ns: u64, target_ns: f64) -> bool {
    (elapsed_ns as f64 - target_ns).abs() <= target_ns / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALED: Scaled =
        Scaled { param: "n", start: 1000, cap: 5_000_000, share: 1.0, stepped: false };

    #[test]
    fn run_near_its_target_settles_with_the_corrected_value() {
        assert_eq!(evaluate(&SCALED, 1000, 80, 100.0), NextRun::Accepted(1250));
    }

    #[test]
    fn run_far_from_its_target_is_repeated_with_bounded_growth() {
        assert_eq!(evaluate(&SCALED, 1000, 10, 1000.0), NextRun::Again(100_000));
        assert_eq!(evaluate(&SCALED, 1000, 0, 1e9), NextRun::Again(1_000_000));
        assert_eq!(evaluate(&SCALED, 1000, 1000, 10.0), NextRun::Again(10));
    }

    #[test]
    fn value_never_exceeds_the_cap_and_settles_there() {
        assert_eq!(evaluate(&SCALED, 1_000_000, 1, 1e6), NextRun::Again(5_000_000));
        assert_eq!(evaluate(&SCALED, 5_000_000, 1, 1e6), NextRun::Accepted(5_000_000));
    }

    #[test]
    fn slow_contender_gets_one_repetition() {
        assert_eq!(evaluate(&SCALED, 1, 1_000_000_000, 100.0), NextRun::Accepted(1));
    }

    #[test]
    fn only_a_long_set_up_counts() {
        let reply = |elapsed_ns, wall_ns| Reply {
            elapsed_ns,
            ops: 1,
            sent: 0,
            received: 0,
            wall_ns,
            stolen_ms: None,
            raw: serde_json::Map::new(),
        };
        assert_eq!(taken(&reply(100, 799)), 100);
        assert_eq!(taken(&reply(100, 2000)), 250);
    }

    #[test]
    fn step_is_hit_within_ten_percent() {
        assert!(hit(90, 100.0) && hit(110, 100.0));
        assert!(!hit(89, 100.0) && !hit(111, 100.0));
    }
}
