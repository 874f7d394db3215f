//! How a parameter is set by time: what to try next, and when to be content. Pure.

use crate::contender::Reply;
use crate::experiments::Scaled;

/// Runs spent on one parameter at most: a run that only warms up, one that
/// comes near, and some for a machine that is busy with other things.
pub(super) const TRIES: usize = 5;

/// Runs spent on one step of `call-vs-send` at most.
pub(super) const STEP_TRIES: usize = 8;

/// The most by which a value grows from one run to the next.
const GROWTH: f64 = 1000.0;

/// What a run says about the value that it was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Take this value.
    Settled(u64),
    /// Run again with this one.
    Again(u64),
}

/// What a sample may take in all, as a multiple of what its work is to take.
const SET_UP: u64 = 8;

/// What a run took, for the purpose of setting its parameter.
///
/// Where the set-up before the clock takes longer than the work, as with a
/// payload that is built at length and then only changes hands, the set-up
/// counts, or a sample could take a hundred times its share.
pub(super) fn taken(reply: &Reply) -> u64 {
    reply.elapsed_ns.max(reply.wall_ns / SET_UP)
}

/// After a run with `value` that took `elapsed_ns`, where `target_ns` were to be taken.
pub(super) fn judge(scaled: &Scaled, value: u64, elapsed_ns: u64, target_ns: f64) -> Verdict {
    let next = rescaled(value, elapsed_ns, target_ns, GROWTH).min(scaled.cap);
    let off = target_ns / elapsed_ns.max(1) as f64;
    if next == value || (0.5..=2.0).contains(&off) {
        Verdict::Settled(next)
    } else {
        Verdict::Again(next)
    }
}

/// The value that would take `target_ns`, if the time grew with it.
///
/// At least 1, and no more than `growth` times the value.
pub(super) fn rescaled(value: u64, elapsed_ns: u64, target_ns: f64, growth: f64) -> u64 {
    let factor = (target_ns / elapsed_ns.max(1) as f64).min(growth);
    ((value as f64 * factor).round() as u64).max(1)
}

/// Whether a step lies within 10 % of its target.
pub(super) fn hit(elapsed_ns: u64, target_ns: f64) -> bool {
    (elapsed_ns as f64 - target_ns).abs() <= target_ns / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALED: Scaled =
        Scaled { param: "n", start: 1000, cap: 5_000_000, share: 1.0, stepped: false };

    #[test]
    fn a_run_near_its_target_settles_with_the_value_put_right() {
        assert_eq!(judge(&SCALED, 1000, 80, 100.0), Verdict::Settled(1250));
    }

    #[test]
    fn a_run_far_from_its_target_is_repeated_with_bounded_growth() {
        assert_eq!(judge(&SCALED, 1000, 10, 1000.0), Verdict::Again(100_000));
        assert_eq!(judge(&SCALED, 1000, 0, 1e9), Verdict::Again(1_000_000));
        assert_eq!(judge(&SCALED, 1000, 1000, 10.0), Verdict::Again(10));
    }

    #[test]
    fn the_cap_is_never_passed_and_settles() {
        assert_eq!(judge(&SCALED, 1_000_000, 1, 1e6), Verdict::Again(5_000_000));
        assert_eq!(judge(&SCALED, 5_000_000, 1, 1e6), Verdict::Settled(5_000_000));
    }

    #[test]
    fn a_contender_too_slow_for_a_single_repetition_gets_one() {
        assert_eq!(judge(&SCALED, 1, 1_000_000_000, 100.0), Verdict::Settled(1));
    }

    #[test]
    fn a_long_set_up_counts_and_a_short_one_does_not() {
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
    fn a_step_is_hit_within_ten_percent() {
        assert!(hit(90, 100.0) && hit(110, 100.0));
        assert!(!hit(89, 100.0) && !hit(111, 100.0));
    }
}
