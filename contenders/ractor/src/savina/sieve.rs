//! `sieve`: a chain of filters that find the primes.

use std::pin::Pin;
use std::time::{Duration, Instant};

use purlin_contender::{Filter, Sample};
use ractor::{Actor, ActorProcessingErr, ActorRef, SpawnErr};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::consume_budget;

use crate::Outcome;

/// A filter of the chain.
struct Link;

/// Messages of a filter.
enum ToFilter {
    Candidate(u64),
    /// The last message.
    End,
}

struct Filtering {
    filter: Filter,
    local: u64,
    next: Option<ActorRef<ToFilter>>,
    ended: u64,
    root: UnboundedSender<Report>,
}

/// Report of a filter.
struct Report {
    primes: u64,
    ended: u64,
    is_last: bool,
}

impl Filtering {
    fn new(prime: u64, local: u64, ended: u64, root: UnboundedSender<Report>) -> Self {
        Filtering { filter: Filter::new(prime, local), local, next: None, ended, root }
    }
}

impl Actor for Link {
    type Msg = ToFilter;
    type State = Filtering;
    type Arguments = Filtering;

    async fn pre_start(
        &self,
        _: ActorRef<ToFilter>,
        state: Filtering,
    ) -> Result<Filtering, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<ToFilter>,
        message: ToFilter,
        state: &mut Filtering,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ToFilter::Candidate(candidate) => {
                if state.filter.divides(candidate) {
                    state.ended += 1;
                } else if let Some(next) = &state.next {
                    next.cast(message)?;
                } else if state.filter.keep(candidate) {
                    state.ended += 1;
                } else {
                    // The candidate ends with the next filter.
                    let next = Filtering::new(candidate, state.local, 1, state.root.clone());
                    state.next = Some(link(next).await?);
                }
            }
            ToFilter::End => {
                let (primes, is_last) = (state.filter.count(), state.next.is_none());
                let report = Report { primes, ended: state.ended, is_last };
                state.root.send(report).map_err(|error| error.to_string())?;
                if let Some(next) = &state.next {
                    next.cast(ToFilter::End)?;
                }
                myself.stop(None);
            }
        }
        Ok(())
    }
}

/// WHY boxed: the compiler cannot prove that a future that spawns its own type is `Send`.
fn link(
    state: Filtering,
) -> Pin<Box<dyn Future<Output = Result<ActorRef<ToFilter>, SpawnErr>> + Send>> {
    Box::pin(async move { Actor::spawn(None, Link, state).await.map(|(filter, _)| filter) })
}

/// Sends the odd numbers from 3 up to `n`, and reports how many.
struct Producer;

type Numbers = (u64, ActorRef<ToFilter>, UnboundedSender<u64>);

impl Actor for Producer {
    type Msg = ();
    type State = Numbers;
    type Arguments = Numbers;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        numbers: Numbers,
    ) -> Result<Numbers, ActorProcessingErr> {
        Ok(numbers)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (n, first, root): &mut Numbers,
    ) -> Result<(), ActorProcessingErr> {
        let mut sent = 0;
        for candidate in (3..=*n).step_by(2) {
            sent += u64::from(first.cast(ToFilter::Candidate(candidate)).is_ok());
            consume_budget().await;
        }
        first.cast(ToFilter::End)?;
        root.send(sent)?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn sieve(n: u64, local: u64, reps: u64) -> Outcome {
    let (mut elapsed, mut sent, mut ended, mut primes) = (Duration::ZERO, 0, 0, 0);
    for _ in 0..reps {
        let (root, mut reports) = unbounded_channel();
        let (tell_sent, mut told_sent) = unbounded_channel();

        let start = Instant::now();
        let first = link(Filtering::new(2, local, 0, root)).await?;
        Actor::spawn(None, Producer, (n, first, tell_sent)).await?;
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
