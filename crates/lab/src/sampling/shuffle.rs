//! Random order of a round, from the seed. Pure.

/// Returns the numbers below `count` in the order of this round of this experiment.
///
/// Deterministic in seed, experiment and round.
pub(super) fn order(count: usize, seed: u64, experiment: &str, round: usize) -> Vec<usize> {
    let own =
        experiment.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut dice = fastrand::Rng::with_seed(own.wrapping_add(round as u64));
    let mut order: Vec<_> = (0..count).collect();
    dice.shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_determined_by_the_seed() {
        let orders =
            |seed| -> Vec<_> { (0..11).map(|round| order(15, seed, "fan-in", round)).collect() };
        assert_eq!(orders(5), orders(5));
        assert_ne!(orders(5), orders(6));
    }

    #[test]
    fn every_round_is_a_different_permutation() {
        let mut first = order(30, 1, "fan-in", 1);
        assert_ne!(first, order(30, 1, "fan-in", 2));
        first.sort_unstable();
        assert_eq!(first, (0..30).collect::<Vec<_>>());
    }
}
