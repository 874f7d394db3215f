//! `sieve`: a chain of tasks that filters primes.

use std::time::{Duration, Instant};

use purlin_contender::{Filter, Sample};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::flow::YIELD_EVERY;

/// Report of a filter to the root: its number of primes, and of candidates that ended there.
type Report = (u64, u64);

pub(crate) async fn sieve(n: u64, local: u64, reps: u64) -> Sample {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (root, mut reports) = unbounded_channel();
        let first = spawn_filter(Filter::new(2, local), root);
        for candidate in (3..=n).step_by(2) {
            sent += u64::from(first.send(candidate).is_ok());
            if candidate % (2 * YIELD_EVERY) == 1 {
                yield_now().await;
            }
        }
        drop(first);
        while let Some((of_filter, at_filter)) = reports.recv().await {
            primes += of_filter;
            ended += at_filter;
        }
        elapsed += start.elapsed();
    }
    Sample::new(elapsed, (n - 1) / 2 * reps, sent, ended).with("primes", primes)
}

/// Spawns a filter; it ends when its channel is closed.
fn spawn_filter(filter: Filter, root: UnboundedSender<Report>) -> UnboundedSender<u64> {
    let (candidates, mailbox) = unbounded_channel();
    tokio::spawn(sift(mailbox, filter, root));
    candidates
}

async fn sift(
    mut mailbox: UnboundedReceiver<u64>,
    mut filter: Filter,
    root: UnboundedSender<Report>,
) {
    let (mut next, mut ended) = (None::<UnboundedSender<u64>>, 0);
    while let Some(candidate) = mailbox.recv().await {
        if filter.divides(candidate) {
            ended += 1;
        } else if let Some(next) = &next {
            // Fails only if the next filter has failed; then its candidates are missing from the counts.
            let _ = next.send(candidate);
        } else {
            // The first prime of the next filter, too, has ended here.
            ended += 1;
            if !filter.keep(candidate) {
                next = Some(spawn_filter(filter.next(candidate), root.clone()));
            }
        }
    }
    let _ = root.send((filter.count(), ended));
}
