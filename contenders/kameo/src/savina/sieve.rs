//! `sieve`: a chain of filters that find the primes.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use kameo::prelude::*;
use purlin_contender::{Filter, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::Outcome;

/// A filter of the chain.
#[derive(Actor)]
struct Link {
    filter: Filter,
    local: u64,
    next: Option<ActorRef<Link>>,
    ended: u64,
    root: UnboundedSender<Report>,
}

struct Candidate(u64);

/// The last message.
struct End;

/// Report of a filter.
struct Report {
    primes: u64,
    ended: u64,
    is_last: bool,
}

impl Link {
    fn new(prime: u64, local: u64, ended: u64, root: UnboundedSender<Report>) -> Self {
        Link { filter: Filter::new(prime, local), local, next: None, ended, root }
    }
}

impl Message<Candidate> for Link {
    type Reply = ();

    async fn handle(&mut self, Candidate(candidate): Candidate, _: &mut Context<Self, ()>) {
        if self.filter.divides(candidate) {
            self.ended += 1;
        } else if let Some(next) = &self.next {
            // A failed send is missing in the count.
            let _ = next.tell(Candidate(candidate)).send().await;
        } else if self.filter.keep(candidate) {
            self.ended += 1;
        } else {
            // The candidate ends with the next filter.
            self.next = Some(Link::spawn(Link::new(candidate, self.local, 1, self.root.clone())));
        }
    }
}

impl Message<End> for Link {
    type Reply = ();

    async fn handle(&mut self, _: End, _: &mut Context<Self, ()>) {
        let (primes, is_last) = (self.filter.count(), self.next.is_none());
        // Cannot fail: the root waits for the report of the last filter.
        let _ = self.root.send(Report { primes, ended: self.ended, is_last });
        if let Some(next) = self.next.take() {
            let _ = next.tell(End).send().await;
        }
    }
}

/// Sends the odd numbers from 3 up to `n`, reports how many, and stops.
struct Producer;

impl Actor for Producer {
    type Args = (u64, ActorRef<Link>, UnboundedSender<u64>);
    type Error = Infallible;

    async fn on_start((n, first, root): Self::Args, _: ActorRef<Self>) -> Result<Self, Infallible> {
        let mut sent = 0;
        for candidate in (3..=n).step_by(2) {
            sent += u64::from(first.tell(Candidate(candidate)).send().await.is_ok());
        }
        let _ = first.tell(End).send().await;
        // Cannot fail: the root waits for this report.
        let _ = root.send(sent);
        Ok(Producer)
    }
}

pub(crate) async fn sieve(n: u64, local: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let (root, mut reports) = unbounded_channel();
        let (tell_sent, mut told_sent) = unbounded_channel();

        let start = Instant::now();
        let first = Link::spawn(Link::new(2, local, 0, root));
        Producer::spawn((n, first, tell_sent));
        while let Some(report) = reports.recv().await {
            ended += report.ended;
            primes += report.primes;
            if report.is_last {
                break;
            }
        }
        elapsed += start.elapsed();

        sent += told_sent.recv().await.unwrap_or(0);
    }
    Ok(Sample::new(elapsed, (n - 1) / 2 * reps, sent, ended).with("primes", primes))
}
