//! Deterministic draws of the Savina experiments: transfers, keys, partners. Pure.
//!
//! Stream `i` begins with `x = (1073741789 · i + 1) mod 2^31`. For each draw
//! `x = (20077 · x + 12345) mod 2^31`; a draw below `k` is `floor(k · x / 2^31)`.

use super::parts::KEYS;

/// An infinite stream of draws.
#[derive(Clone, Debug)]
pub struct DrawStream {
    x: u64,
}

impl DrawStream {
    /// Creates the stream with this number.
    #[must_use]
    pub fn new(stream: u64) -> Self {
        DrawStream { x: (stream * 1_073_741_789 + 1) & 0x7fff_ffff }
    }

    /// Returns the next draw: a number below `k`, which must not exceed 2^31.
    ///
    /// ```
    /// let mut draw = purlin_contender::DrawStream::new(1);
    /// assert_eq!([draw.below(1000), draw.below(1000)], [499, 233]);
    /// ```
    #[inline]
    pub fn below(&mut self, k: u64) -> u64 {
        self.x = (self.x * 20_077 + 12_345) & 0x7fff_ffff;
        (self.x * k) >> 31
    }
}

/// A transfer of `banking`, between accounts numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Number of the account that sends the deposit; lower than that of the destination, so that
    /// accounts never wait for each other in a circle.
    pub source: usize,
    /// Number of the account that receives it.
    pub destination: usize,
    /// The amount.
    pub amount: i64,
}

/// Returns the `n` transfers of the teller.
pub fn transfers(accounts: u64, n: u64) -> impl Iterator<Item = Transfer> {
    let mut draw = DrawStream::new(0);
    (0..n).map(move |_| {
        let source = draw.below(accounts * 4 / 5);
        let destination = source + 1 + draw.below(accounts - source - 1);
        let amount = 1 + draw.below(1000);
        Transfer {
            source: source as usize,
            destination: destination as usize,
            amount: amount as i64,
        }
    })
}

/// A request of `dictionary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The key.
    pub key: u64,
    /// The value to write; `None` for a read.
    pub value: Option<u64>,
}

/// Returns the `n` requests of a worker, of which `writes` percent are writes.
pub fn lookups(worker: u64, writes: u64, n: u64) -> impl Iterator<Item = Lookup> {
    let mut draw = DrawStream::new(worker);
    (0..n).map(move |_| {
        let write = draw.below(100) < writes;
        let key = draw.below(KEYS);
        Lookup { key, value: write.then(|| key + KEYS * draw.below(1000)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_precedes_destination_and_all_accounts_take_part() {
        let all: Vec<_> = transfers(10, 1000).collect();
        assert!(all.iter().all(|one| one.source < one.destination && one.destination < 10));
        assert!(all.iter().all(|one| (1..=1000).contains(&one.amount)));
        assert!((0..8).all(|account| all.iter().any(|one| one.source == account)));
        assert_eq!(transfers(2, 3).map(|one| one.source + one.destination).sum::<usize>(), 3);
    }

    #[test]
    fn share_of_writes_is_as_requested() {
        let writes = |percent| {
            (0..20)
                .flat_map(|worker| lookups(worker, percent, 5000))
                .filter(|one| one.value.is_some())
                .count()
        };
        assert_eq!((writes(0), writes(100)), (0, 100_000));
        assert!((9500..10_500).contains(&writes(10)), "{}", writes(10));
    }
}
