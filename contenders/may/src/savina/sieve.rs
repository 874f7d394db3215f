//! `sieve`: a chain of coroutines that filters primes.

use std::time::{Duration, Instant};

use may::coroutine::yield_now;
use may::go;
use may::sync::mpsc;
use may::sync::spsc::{Receiver, Sender, channel};
use purlin_contender::{Filter, Sample};

use crate::channels::receive;
use crate::messages::YIELD_EVERY;

/// Report of a filter to the root: its number of primes, and of candidates that ended there.
type Report = (u64, u64);

/// Messages of a filter.
enum ToFilter {
    Candidate(u64),
    End,
}

pub(crate) fn sieve(n: u64, local: u64, reps: u64) -> Sample {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let start = Instant::now();
        let (root, reports) = mpsc::channel();
        let first = spawn_filter(Filter::new(2, local), root);
        for candidate in (3..=n).step_by(2) {
            sent += u64::from(first.send(ToFilter::Candidate(candidate)).is_ok());
            if candidate % (2 * YIELD_EVERY) == 1 {
                yield_now();
            }
        }
        // Fails only if the filter has failed.
        let _ = first.send(ToFilter::End);
        while let Some((of_filter, at_filter)) = receive(&reports) {
            primes += of_filter;
            ended += at_filter;
        }
        elapsed += start.elapsed();
    }
    Sample::new(elapsed, (n - 1) / 2 * reps, sent, ended).with("primes", primes)
}

/// Spawns a filter; it ends after [`ToFilter::End`].
fn spawn_filter(filter: Filter, root: mpsc::Sender<Report>) -> Sender<ToFilter> {
    let (candidates, mailbox) = channel();
    go!(move || sift(mailbox, filter, root));
    candidates
}

fn sift(mailbox: Receiver<ToFilter>, mut filter: Filter, root: mpsc::Sender<Report>) {
    let (mut next, mut ended) = (None::<Sender<ToFilter>>, 0);
    while let Ok(ToFilter::Candidate(candidate)) = mailbox.recv() {
        if filter.divides(candidate) {
            ended += 1;
        } else if let Some(next) = &next {
            // Fails only if the next filter has failed; then its candidates are missing from the
            // counts.
            let _ = next.send(ToFilter::Candidate(candidate));
        } else {
            // The first prime of the next filter, too, has ended here.
            ended += 1;
            if !filter.keep(candidate) {
                next = Some(spawn_filter(filter.next(candidate), root.clone()));
            }
        }
    }
    if let Some(next) = next {
        let _ = next.send(ToFilter::End);
    }
    let _ = root.send((filter.count(), ended));
}
