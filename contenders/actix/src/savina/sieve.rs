//! `sieve`: a chain of filters that find the primes.

use std::time::{Duration, Instant};

use actix::prelude::*;
use purlin_contender::{Filter, Sample};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// A filter of the chain.
struct Link {
    filter: Filter,
    local: u64,
    next: Option<Addr<Link>>,
    ended: u64,
    root: UnboundedSender<Report>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Candidate(u64);

/// The last message.
#[derive(Message)]
#[rtype(result = "()")]
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

impl Actor for Link {
    type Context = Context<Self>;
}

impl Handler<Candidate> for Link {
    type Result = ();

    fn handle(&mut self, Candidate(candidate): Candidate, _: &mut Context<Self>) {
        if self.filter.divides(candidate) {
            self.ended += 1;
        } else if let Some(next) = &self.next {
            next.do_send(Candidate(candidate));
        } else if self.filter.keep(candidate) {
            self.ended += 1;
        } else {
            // The candidate ends with the next filter.
            self.next = Some(Link::new(candidate, self.local, 1, self.root.clone()).start());
        }
    }
}

impl Handler<End> for Link {
    type Result = ();

    fn handle(&mut self, _: End, _: &mut Context<Self>) {
        let (primes, is_last) = (self.filter.count(), self.next.is_none());
        // Cannot fail: the root waits for the report of the last filter.
        let _ = self.root.send(Report { primes, ended: self.ended, is_last });
        if let Some(next) = self.next.take() {
            next.do_send(End);
        }
    }
}

/// Sends the odd numbers from 3 up to `n`, and reports how many.
struct Producer {
    n: u64,
    first: Addr<Link>,
    root: UnboundedSender<u64>,
}

impl Actor for Producer {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        let (n, first, root) = (self.n, self.first.clone(), self.root.clone());
        let sending = async move {
            let mut sent = 0;
            for candidate in (3..=n).step_by(2) {
                first.do_send(Candidate(candidate));
                sent += 1;
                consume_budget().await;
            }
            first.do_send(End);
            // Cannot fail: the root waits for this report.
            let _ = root.send(sent);
        };
        context.spawn(sending.into_actor(self));
    }
}

pub(crate) async fn sieve(n: u64, local: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let (root, mut reports) = unbounded_channel();
        let (tell_sent, mut told_sent) = unbounded_channel();

        let start = Instant::now();
        let first = Link::new(2, local, 0, root).start();
        Producer { n, first, root: tell_sent }.start();
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
