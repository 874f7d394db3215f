//! `sieve`: a chain of processes that filters primes.

use std::time::{Duration, Instant};

use purlin::{Pid, Process, consume_budget, spawn};
use purlin_contender::{Filter, Sample};

/// Messages of a filter.
enum ToFilter {
    Candidate(u64),
    End,
}

/// Report of a filter to the root.
pub(crate) struct Report {
    primes: u64,
    ended: u64,
    /// The length of the chain; reported by its last filter.
    filters: Option<u64>,
}

pub(crate) async fn sieve(mut me: Process<Report>, n: u64, local: u64, reps: u64) -> Sample {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let start = Instant::now();
        let first = spawn_filter(Filter::new(2, local), 1, me.pid());
        for candidate in (3..=n).step_by(2) {
            first.send(ToFilter::Candidate(candidate));
            sent += 1;
            consume_budget().await;
        }
        first.send(ToFilter::End);
        let (mut reports, mut filters) = (0, None);
        while filters != Some(reports) {
            let report = me.receive().await;
            reports += 1;
            filters = filters.or(report.filters);
            primes += report.primes;
            ended += report.ended;
        }
        elapsed += start.elapsed();
    }
    Sample::new(elapsed, (n - 1) / 2 * reps, sent, ended).with("primes", primes)
}

/// Spawns a filter. WHY a function: the future of an `async fn` that spawns itself has no finite type.
fn spawn_filter(filter: Filter, number: u64, root: Pid<Report>) -> Pid<ToFilter> {
    spawn(move |me| sift(me, filter, number, root))
}

async fn sift(mut me: Process<ToFilter>, mut filter: Filter, number: u64, root: Pid<Report>) {
    let (mut next, mut ended) = (None::<Pid<ToFilter>>, 0);
    while let ToFilter::Candidate(candidate) = me.receive().await {
        if filter.divides(candidate) {
            ended += 1;
        } else if let Some(next) = &next {
            next.send(ToFilter::Candidate(candidate));
        } else {
            // The first prime of the next filter, too, has ended here.
            ended += 1;
            if !filter.keep(candidate) {
                next = Some(spawn_filter(filter.next(candidate), number + 1, root.clone()));
            }
        }
    }
    let filters = match &next {
        Some(next) => {
            next.send(ToFilter::End);
            None
        }
        None => Some(number),
    };
    root.send(Report { primes: filter.count(), ended, filters });
}
