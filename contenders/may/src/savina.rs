//! Programs of the Savina suite, and `spread`.
//!
//! A coroutine owns its state and the receiver of a channel; a request carries a channel for the
//! reply.

mod banking;
mod big;
mod buffer;
mod chameneos;
mod dictionary;
mod logistic;
mod philosophers;
mod sieve;
mod spread;

use purlin_contender::{Sample, Savina};

/// Runs one program.
pub(crate) fn run(asked: Savina) -> Sample {
    match asked {
        Savina::Banking { accounts, n, reps } => banking::banking(accounts, n, reps),
        Savina::BoundedBuffer { producers, consumers, capacity, cost, n } => {
            let room = (capacity - producers) as usize;
            buffer::buffer([producers, consumers], room, cost, n)
        }
        Savina::Chameneos { creatures, n } => chameneos::chameneos(creatures, n),
        Savina::Dictionary { workers, writes, n } => dictionary::dictionary(workers, writes, n),
        Savina::LogisticMap { series, terms, reps } => logistic::logistic_map(series, terms, reps),
        Savina::Philosophers { philosophers, n } => philosophers::philosophers(philosophers, n),
        Savina::Sieve { n, local, reps } => sieve::sieve(n, local, reps),
        Savina::Big { processes, n } => big::big(processes, n),
        Savina::Spread { processes, n, us } => spread::spread(processes, n, us),
    }
}
