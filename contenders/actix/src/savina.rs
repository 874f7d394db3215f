//! Programs of the Savina suite, and `spread`.
//!
//! Every process is an actor. An actor that needs an answer before it handles another message passes
//! the request to its context's `wait`. A server that answers immediately is asked with `send`,
//! without a timeout. The mall of `chameneos`, which answers later, receives a oneshot channel with the
//! request; the manager of `bounded-buffer` sends a message to the address of the asking actor. A loop
//! that only sends consumes tokio's budget.

mod banking;
mod big;
mod buffer;
mod chameneos;
mod dictionary;
mod logistic;
mod philosophers;
mod sieve;
mod spread;

use purlin_contender::Savina;

use crate::Outcome;

/// Runs one program.
pub(crate) async fn run(asked: Savina) -> Outcome {
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
