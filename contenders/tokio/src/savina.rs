//! Programs of the Savina suite, and `spread`.
//!
//! Actors in the usual form: a task that owns its state and the receiver of an unbounded channel, and requests with a
//! oneshot channel for the reply.

mod banking;
mod big;
mod buffer;
mod chameneos;
mod dictionary;
mod logistic;
mod philosophers;
mod request;
mod sieve;
mod spread;

use purlin_contender::{Sample, Savina};

/// Runs one program.
pub(crate) async fn run(asked: Savina) -> Sample {
    match asked {
        Savina::Banking { accounts, n, reps } => banking::banking(accounts, n, reps).await,
        Savina::BoundedBuffer { producers, consumers, capacity, cost, n } => {
            let room = (capacity - producers) as usize;
            buffer::buffer([producers, consumers], room, cost, n).await
        }
        Savina::Chameneos { creatures, n } => chameneos::chameneos(creatures, n).await,
        Savina::Dictionary { workers, writes, n } => {
            dictionary::dictionary(workers, writes, n).await
        }
        Savina::LogisticMap { series, terms, reps } => {
            logistic::logistic_map(series, terms, reps).await
        }
        Savina::Philosophers { philosophers, n } => {
            philosophers::philosophers(philosophers, n).await
        }
        Savina::Sieve { n, local, reps } => sieve::sieve(n, local, reps).await,
        Savina::Big { processes, n } => big::big(processes, n).await,
        Savina::Spread { processes, n, us } => spread::spread(processes, n, us).await,
    }
}
