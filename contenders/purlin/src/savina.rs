//! Programs of the Savina suite, and `spread`.
//!
//! Processes with one message type each; a request that is answered is a call, so a process that waits for an answer
//! receives nothing else in the meantime.

mod banking;
mod big;
mod buffer;
mod chameneos;
mod dictionary;
mod logistic;
mod philosophers;
mod sieve;
mod spread;

use purlin::Node;
use purlin_contender::{Sample, Savina};

use crate::root;

/// Runs one program.
pub(crate) fn run(node: &Node, asked: Savina) -> Result<Sample, String> {
    match asked {
        Savina::Banking { accounts, n, reps } => {
            root(node, move |me| banking::banking(me, accounts, n, reps))
        }
        Savina::BoundedBuffer { producers, consumers, capacity, cost, n } => {
            let room = (capacity - producers) as usize;
            root(node, move |me| buffer::buffer(me, [producers, consumers], room, cost, n))
        }
        Savina::Chameneos { creatures, n } => {
            root(node, move |me| chameneos::chameneos(me, creatures, n))
        }
        Savina::Dictionary { workers, writes, n } => {
            root(node, move |me| dictionary::dictionary(me, workers, writes, n))
        }
        Savina::LogisticMap { series, terms, reps } => {
            root(node, move |me| logistic::logistic_map(me, series, terms, reps))
        }
        Savina::Philosophers { philosophers, n } => {
            root(node, move |me| philosophers::philosophers(me, philosophers, n))
        }
        Savina::Sieve { n, local, reps } => root(node, move |me| sieve::sieve(me, n, local, reps)),
        Savina::Big { processes, n } => root(node, move |me| big::big(me, processes, n)),
        Savina::Spread { processes, n, us } => {
            root(node, move |me| spread::spread(me, processes, n, us))
        }
    }
}
