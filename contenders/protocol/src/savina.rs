//! Requests for the Savina experiments (Imam and Sarkar 2014) and `spread`, and the figures they require.
//!
//! [`Savina::parse`] checks the parameters; [`Savina::due`] and [`Savina::fields`] are the rows of the
//! protocol's table. The parts of the programs that involve no runtime are in the submodules. Pure.

mod calibration;
mod draws;
mod parts;

use crate::local::{WORK_START, work};
use crate::params::Params;

pub use calibration::Calibration;
pub use draws::{DrawStream, Lookup, Transfer, lookups, transfers};
pub use parts::{
    BALANCE, Colour, Filter, KEYS, Series, dictionary, is_value_of, logistic, scaled_term,
};

/// The experiments of this module, in the order of the protocol's table.
pub const SAVINA: [&str; 9] = [
    "banking",
    "bounded-buffer",
    "chameneos",
    "dictionary",
    "logistic-map",
    "philosophers",
    "sieve",
    "big",
    "spread",
];

/// Maximum number of accounts, creatures or mutually connected processes.
const CROWD_MAX: u64 = 100_000;
/// Maximum number of producers, consumers, workers, series, philosophers or callers.
const GROUP_MAX: u64 = 10_000;
/// Maximum number of operations in all, or of each member of a crowd.
const OPERATIONS_MAX: u64 = 1_000_000_000;
/// Maximum number of operations of each member of a group.
const OPERATIONS_EACH_MAX: u64 = 1_000_000;
/// Maximum number of steps of work per item.
const COST_MAX: u64 = 1_000_000;
/// Maximum capacity of the bounded buffer.
const CAPACITY_MAX: u64 = 1_000_000;
/// Maximum upper bound of the sieve.
const SIEVE_MAX: u64 = 10_000_000;
/// Maximum duration of a piece of computing, in microseconds.
const US_MAX: u64 = 1_000_000;

/// An experiment of this module with its parameters, all of them checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Savina {
    /// `n` transfers between accounts, each of which waits for the confirmation of its deposit.
    Banking {
        /// Number of accounts, at least 2.
        accounts: u64,
        /// Number of transfers.
        n: u64,
        /// Repetitions within the timing.
        reps: u64,
    },
    /// Producers and consumers at the manager of a bounded buffer.
    BoundedBuffer {
        /// Number of producers.
        producers: u64,
        /// Number of consumers.
        consumers: u64,
        /// Maximum number of items not yet consumed; larger than the number of producers.
        capacity: u64,
        /// Steps of work per item, at either end.
        cost: u64,
        /// Items per producer.
        n: u64,
    },
    /// Creatures that meet in pairs at a mall.
    Chameneos {
        /// Number of creatures, at least 2.
        creatures: u64,
        /// Number of meetings.
        n: u64,
    },
    /// Workers that read and write a dictionary owned by one process.
    Dictionary {
        /// Number of workers.
        workers: u64,
        /// Percentage of writes.
        writes: u64,
        /// Requests per worker.
        n: u64,
    },
    /// Series of the logistic map, each term computed by another process.
    LogisticMap {
        /// Number of series.
        series: u64,
        /// Terms per series.
        terms: u64,
        /// Repetitions within the timing.
        reps: u64,
    },
    /// Dining philosophers at an arbiter.
    Philosophers {
        /// Number of philosophers, at least 2.
        philosophers: u64,
        /// Meals per philosopher.
        n: u64,
    },
    /// A chain of processes that filters primes.
    Sieve {
        /// Largest candidate, at least 2.
        n: u64,
        /// Maximum number of primes per process.
        local: u64,
        /// Repetitions within the timing.
        reps: u64,
    },
    /// Processes that ping each other at random.
    Big {
        /// Number of processes.
        processes: u64,
        /// Pings per process.
        n: u64,
    },
    /// Processes that call one server and compute in turn.
    Spread {
        /// Number of processes.
        processes: u64,
        /// Calls, and pieces of computing, per process.
        n: u64,
        /// Duration of one piece, in microseconds.
        us: u64,
    },
}

impl Savina {
    /// Parses the parameters; `None` if the experiment is not one of this module.
    pub(crate) fn parse(experiment: &str, p: &mut Params<'_>) -> Result<Option<Self>, String> {
        Ok(Some(match experiment {
            "banking" => Savina::Banking {
                accounts: p.integer("accounts", 2, CROWD_MAX)?,
                n: p.integer("n", 0, OPERATIONS_MAX)?,
                reps: p.reps()?,
            },
            "bounded-buffer" => {
                let producers = p.integer("producers", 1, GROUP_MAX)?;
                Savina::BoundedBuffer {
                    producers,
                    consumers: p.integer("consumers", 1, GROUP_MAX)?,
                    capacity: p.integer("capacity", producers + 1, CAPACITY_MAX)?,
                    cost: p.integer("cost", 0, COST_MAX)?,
                    n: p.integer("n", 0, OPERATIONS_EACH_MAX)?,
                }
            }
            "chameneos" => Savina::Chameneos {
                creatures: p.integer("creatures", 2, CROWD_MAX)?,
                n: p.integer("n", 0, OPERATIONS_MAX)?,
            },
            "dictionary" => Savina::Dictionary {
                workers: p.integer("workers", 1, GROUP_MAX)?,
                writes: p.integer("writes", 0, 100)?,
                n: p.integer("n", 0, OPERATIONS_EACH_MAX)?,
            },
            "logistic-map" => Savina::LogisticMap {
                series: p.integer("series", 1, GROUP_MAX)?,
                terms: p.integer("terms", 0, OPERATIONS_EACH_MAX)?,
                reps: p.reps()?,
            },
            "philosophers" => Savina::Philosophers {
                philosophers: p.integer("philosophers", 2, GROUP_MAX)?,
                n: p.integer("n", 0, OPERATIONS_EACH_MAX)?,
            },
            "sieve" => Savina::Sieve {
                n: p.integer("n", 2, SIEVE_MAX)?,
                local: p.integer("local", 1, OPERATIONS_EACH_MAX)?,
                reps: p.reps()?,
            },
            "big" => Savina::Big {
                processes: p.integer("processes", 1, CROWD_MAX)?,
                n: p.integer("n", 0, OPERATIONS_MAX)?,
            },
            "spread" => Savina::Spread {
                processes: p.integer("processes", 1, GROUP_MAX)?,
                n: p.integer("n", 0, OPERATIONS_EACH_MAX)?,
                us: p.integer("us", 1, US_MAX)?,
            },
            _ => return Ok(None),
        }))
    }

    /// Returns the experiment's position in [`SAVINA`].
    pub(crate) fn place(&self) -> usize {
        match self {
            Savina::Banking { .. } => 0,
            Savina::BoundedBuffer { .. } => 1,
            Savina::Chameneos { .. } => 2,
            Savina::Dictionary { .. } => 3,
            Savina::LogisticMap { .. } => 4,
            Savina::Philosophers { .. } => 5,
            Savina::Sieve { .. } => 6,
            Savina::Big { .. } => 7,
            Savina::Spread { .. } => 8,
        }
    }

    /// Returns the required number of operations, and of events at both ends.
    #[must_use]
    pub fn due(&self) -> (u64, u64) {
        match *self {
            Savina::Banking { n, reps, .. } => (n * reps, 4 * n * reps),
            Savina::BoundedBuffer { producers, n, .. } => (producers * n, producers * n),
            Savina::Chameneos { n, .. } => (n, 2 * n),
            Savina::Dictionary { workers, n, .. } => (workers * n, 2 * workers * n),
            Savina::LogisticMap { series, terms, reps } => {
                (series * terms * reps, 3 * series * terms * reps)
            }
            Savina::Philosophers { philosophers, n } => (philosophers * n, philosophers * n),
            Savina::Sieve { n, reps, .. } => ((n - 1) / 2 * reps, (n - 1) / 2 * reps),
            Savina::Big { processes, n } | Savina::Spread { processes, n, .. } => {
                (processes * n, 2 * processes * n)
            }
        }
    }

    /// Returns the additional fields with their required values. `steps` is the number that the
    /// answer to `spread` reports.
    pub(crate) fn fields(&self, steps: u64) -> Vec<(&'static str, u64)> {
        match *self {
            Savina::Banking { accounts, reps, .. } => {
                vec![("sum", accounts * BALANCE.unsigned_abs() * reps)]
            }
            Savina::BoundedBuffer { producers, cost, n, .. } => {
                let mut item = work(WORK_START, cost);
                let each = (0..n).fold(0, |sum, _| {
                    item = work(item, cost);
                    (sum + item) & 0x7fff_ffff
                });
                vec![("sink", (producers * each) & 0x7fff_ffff)]
            }
            Savina::Dictionary { workers, writes, n } => {
                let all = (0..workers).flat_map(|worker| lookups(worker, writes, n));
                vec![("writes", all.filter(|lookup| lookup.value.is_some()).count() as u64)]
            }
            Savina::LogisticMap { series, terms, reps } => {
                let term = |series: Series| {
                    scaled_term((0..terms).fold(series.start, |x, _| logistic(series.rate, x)))
                };
                vec![("sum", reps * (0..series).map(|i| term(Series::new(i))).sum::<u64>())]
            }
            Savina::Sieve { n, reps, .. } => {
                let prime =
                    |m: &u64| (2..*m).take_while(|d| d * d <= *m).all(|d| !m.is_multiple_of(d));
                vec![("primes", reps * (2..=n).filter(prime).count() as u64)]
            }
            Savina::Spread { processes, n, .. } => {
                let mut x = WORK_START;
                for _ in 0..n {
                    x = work(x, steps);
                }
                vec![("sink", processes * x)]
            }
            Savina::Chameneos { .. } | Savina::Philosophers { .. } | Savina::Big { .. } => {
                Vec::new()
            }
        }
    }
}
