//! Latency histogram of acks: a fixed array of atomic counters. Written by the processes of a
//! server, readable from any thread.
//!
//! A *bucket* counts acks of similar latency. Below 16 ns each nanosecond has a bucket; above, each
//! power of two is divided into eight, so the width of a bucket is at most an eighth of its lower
//! bound. The buckets cover all 64-bit values.
//!
//! COST: 4 kB per server; a clock read and an atomic addition per ack, none per message.

use std::array::from_fn;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::timeout::now;

/// Binary logarithm of the number of buckets per power of two.
const CUT: u32 = 3;
const BUCKETS: usize = (64 - CUT as usize + 1) << CUT;

/// Concurrent latency histogram.
#[derive(Debug)]
pub(crate) struct Latencies([AtomicU64; BUCKETS]);

impl Default for Latencies {
    fn default() -> Self {
        Self(from_fn(|_| AtomicU64::new(0)))
    }
}

impl Latencies {
    /// Records an ack that was passed to the socket. `whole_at` is when the read that completed its
    /// longest-waiting message returned, on the node's clock.
    pub(crate) fn acked(&self, whole_at: Duration) {
        self.add(now().saturating_sub(whole_at));
    }

    fn add(&self, took: Duration) {
        // ORDER: relaxed: the counter publishes no other data.
        self.0[bucket(nanoseconds(took))].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Latency {
        // ORDER: relaxed, as above.
        Latency(self.0.each_ref().map(|count| count.load(Ordering::Relaxed)).into())
    }
}

/// Snapshot of the latency histogram of a server's acks.
///
/// Each ack counts once, however many messages it covers, with the time of its longest-waiting
/// message: from the return of the read that completed the message until the ack was passed to the
/// operating system or to the TLS encryption. [`Server::latency`](crate::server::Server::latency) describes
/// the interval for each strategy.
///
/// The resolution is 1/16, 6.25 %.
///
/// ```
/// # use purlin::Node;
/// # use purlin_ack::server::Server;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let node = Node::builder().workers(1).build()?;
/// # let on = node.clone();
/// # let server = node.block_on(async move |_: purlin::Process<()>| {
/// #     Server::builder(([127, 0, 0, 1], 0).into()).start(&on).await
/// # })?;
/// let before = server.latency();
/// // … and some time later:
/// let lately = server.latency().since(&before);
/// match lately.quantile(0.99) {
///     Some(time) => println!("99 of 100 acks took about {time:?} or less"),
///     None => println!("there was no ack"),
/// }
/// # node.stop_blocking();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Latency(Box<[u64; BUCKETS]>);

impl Default for Latency {
    /// Returns an empty histogram.
    fn default() -> Self {
        Self(Box::new([0; BUCKETS]))
    }
}

impl Latency {
    /// Returns the number of acks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the approximate quantile; `part` is from 0 to 1. Returns `None` if there were no
    /// acks.
    #[must_use]
    pub fn quantile(&self, part: f64) -> Option<Duration> {
        let count = self.count();
        let rank = ((part * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut before = 0;
        let found = self.0.iter().position(|count| {
            before += count;
            before >= rank
        });
        found.map(|bucket| Duration::from_nanos(begin(bucket) + width(bucket) / 2))
    }

    /// Returns the approximate maximum. Returns `None` if there were no acks.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        self.quantile(1.0)
    }

    /// Returns the number of acks faster than `time`. Exact if `time` is a power of two in
    /// nanoseconds; otherwise acks in the same bucket are not counted.
    #[must_use]
    pub fn below(&self, time: Duration) -> u64 {
        self.0[..bucket(nanoseconds(time))].iter().sum()
    }

    /// Returns the acks recorded since `earlier`, a snapshot of the same server.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self(Box::new(from_fn(|bucket| self.0[bucket].saturating_sub(earlier.0[bucket]))))
    }
}

impl fmt::Debug for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99] = [0.5, 0.99].map(|part| self.quantile(part));
        let mut debug = f.debug_struct("Latency");
        debug.field("count", &self.count()).field("p50", &p50).field("p99", &p99);
        debug.field("max", &self.max()).finish()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns the bucket of a latency.
fn bucket(nanoseconds: u64) -> usize {
    let power = nanoseconds.checked_ilog2().unwrap_or(0).saturating_sub(CUT);
    ((power as usize) << CUT) + (nanoseconds >> power) as usize
}

/// Returns the lower bound of a bucket in nanoseconds.
fn begin(bucket: usize) -> u64 {
    let power = (bucket >> CUT).saturating_sub(1);
    ((bucket - (power << CUT)) as u64) << power
}

/// Returns the width of a bucket in nanoseconds.
fn width(bucket: usize) -> u64 {
    1 << (bucket >> CUT).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_contiguous_and_cover_all_values() {
        assert_eq!((begin(0), bucket(u64::MAX)), (0, BUCKETS - 1));
        for at in 1..BUCKETS {
            assert_eq!(begin(at), begin(at - 1) + width(at - 1), "{at}");
            assert_eq!((bucket(begin(at)), bucket(begin(at) - 1)), (at, at - 1));
            assert!(at < 16 || 8 * width(at) <= begin(at), "{at}");
        }
        assert_eq!(begin(BUCKETS - 1) + (width(BUCKETS - 1) - 1), u64::MAX);
    }

    #[test]
    fn empty_histogram_has_no_quantiles() {
        let none = Latencies::default().read();
        assert_eq!((none.count(), none.quantile(0.5), none.max()), (0, None, None));
        assert_eq!(none, Latency::default());
    }

    proptest! {
        #[test]
        fn quantile_is_accurate_to_a_sixteenth(
            mut times in prop::collection::vec((any::<u64>(), 0..64u32), 1..200),
            part in 0.0..=1.0,
        ) {
            let latencies = Latencies::default();
            let mut times: Vec<u64> = times.drain(..).map(|(bits, shift)| bits >> shift).collect();
            times.iter().for_each(|time| latencies.add(Duration::from_nanos(*time)));
            times.sort_unstable();
            let read = latencies.read();
            prop_assert_eq!(read.count(), times.len() as u64);
            for part in [part, 0.0, 0.5, 1.0] {
                let rank = ((part * times.len() as f64).ceil() as usize).max(1);
                let (true_one, estimate) = (times[rank - 1], read.quantile(part).expect("there are some"));
                let off = nanoseconds(estimate).abs_diff(true_one);
                prop_assert!(off <= true_one / 16, "{estimate:?} of {true_one} ns");
            }
            prop_assert_eq!(read.max(), read.quantile(1.0));
        }

        #[test]
        fn below_is_exact_for_powers_of_two_and_since_subtracts(
            times in prop::collection::vec((any::<u64>(), 0..64u32), 0..100),
            more in prop::collection::vec((any::<u64>(), 0..64u32), 0..100),
            power in 0..64u32,
        ) {
            let latencies = Latencies::default();
            let add = |times: &[(u64, u32)]| {
                times.iter().for_each(|(bits, shift)| latencies.add(Duration::from_nanos(bits >> shift)));
            };
            add(&times);
            let before = latencies.read();
            add(&more);
            let lately = latencies.read().since(&before);
            let limit = 1u64 << power;
            let below = more.iter().filter(|(bits, shift)| bits >> shift < limit).count();
            prop_assert_eq!(lately.below(Duration::from_nanos(limit)), below as u64);
            prop_assert_eq!(lately.count(), more.len() as u64);
        }
    }
}
