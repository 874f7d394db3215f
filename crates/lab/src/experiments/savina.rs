//! Programs of the Savina suite: `banking`, `bounded-buffer`, `chameneos`, `dictionary`, `logistic-map`, `philosophers`,
//! `sieve`, `big`.
//!
//! After Shams Imam and Vivek Sarkar, "Savina - An Actor Benchmark Suite", AGERE! 2014. Savina's numbers are used, scaled
//! to the time of a sample. Floating-point amounts became integers, and every run is checked.

use super::checks::{asked, conserved, extra, found, reps};
use super::experiment::{Experiment, Invalid, Params};
use super::points::{TIME_PER_OPERATION, counted, params, repeated, timed};
use super::savina_check::{primes, sink_of_buffer, terms, writes};
use crate::contender::Reply;
use crate::profile::Profile;

pub(super) static BANKING: Experiment = Experiment {
    id: "banking",
    title: "Banking",
    what: "A teller sends 50 000 transfers to 1000 accounts; an account waits for the confirmation of its deposit before it handles anything else.",
    notes: &[
        "Savina's Bank Transaction, with its numbers. The source of a transfer precedes its destination, so that accounts never wait for each other in a circle.",
        "Waiting for one message in a mailbox with others is a selective receive or a call, or the next message is simply not received in the meantime.",
        "The sum of all balances is verified.",
    ],
    metric: "time per transfer",
    points: |_| timed(params([("accounts", 1000), ("n", 50_000)]), repeated(1, 1.0)),
    check: |params, reply| {
        let n = asked(params, "n") * reps(params);
        conserved(reply, n, 4 * n)?;
        extra(reply, "sum", asked(params, "accounts") * 1_000_000 * reps(params))
    },
    ..TIME_PER_OPERATION
};

pub(super) static BOUNDED_BUFFER: Experiment = Experiment {
    id: "bounded-buffer",
    title: "Bounded buffer",
    what: "40 producers and 40 consumers at the manager of a buffer for 50 items; an item costs 2500 steps of work at either end.",
    notes: &[
        "Savina's Producer-Consumer with Bounded Buffer, with its numbers. Its cost of 25 times 100 logarithms became 2500 steps of the generator that the protocol names.",
        "Two calls per item, put and get, which the manager may answer later. The steps are the same for every contender, and none of them may be combined with others: a runtime with slower arithmetic is slower here.",
        "The result of all work is verified.",
    ],
    metric: "time per item",
    points: |_| {
        let fixed = [("producers", 40), ("consumers", 40), ("capacity", 50), ("cost", 2500)];
        timed(params(fixed), counted(20, 1_000_000, 1.0))
    },
    check: |params, reply| {
        let items = asked(params, "producers") * asked(params, "n");
        conserved(reply, items, items)?;
        extra(reply, "sink", sink_of_buffer(params))
    },
    ..TIME_PER_OPERATION
};

pub(super) static CHAMENEOS: Experiment = Experiment {
    id: "chameneos",
    title: "Chameneos",
    what: "100 creatures meet in pairs at a mall and change colour; n meetings.",
    notes: &[
        "Savina's Chameneos, with its number of creatures. Four messages per meeting: two requests to the mall, and two answers.",
    ],
    metric: "time per meeting",
    points: |_| timed(params([("creatures", 100)]), counted(1000, 1_000_000_000, 1.0)),
    check: |params, reply| {
        let n = asked(params, "n");
        conserved(reply, n, 2 * n)
    },
    ..TIME_PER_OPERATION
};

pub(super) static DICTIONARY: Experiment = Experiment {
    id: "dictionary",
    title: "Concurrent dictionary",
    what: "20 workers read and write a dictionary that one process owns; 10 % of the requests are writes.",
    notes: &[
        "Savina's Concurrent Dictionary, with its numbers; 65 536 keys, all of them present from the start.",
        "Users of Go and Rust might share a map under a lock. That would be another program: here the map belongs to one process, and each request is a call.",
    ],
    metric: "time per request",
    points: |_| timed(params([("workers", 20), ("writes", 10)]), counted(100, 1_000_000, 1.0)),
    check: |params, reply| {
        let requests = asked(params, "workers") * asked(params, "n");
        conserved(reply, requests, 2 * requests)?;
        extra(reply, "writes", writes(params))
    },
    ..TIME_PER_OPERATION
};

pub(super) static LOGISTIC_MAP: Experiment = Experiment {
    id: "logistic-map",
    title: "Logistic map",
    what: "10 workers each ask a process of their own for 25 000 terms, one after the other, while all requests for terms wait in their mailboxes.",
    notes: &[
        "Savina's Logistic Map Series, with its numbers. A worker waits for each term before it handles the next request.",
        "Up to 25 000 messages wait in a worker's mailbox before the reply: a receive by pattern that looks at all of them at each term takes quadratic time.",
        "The last terms are verified.",
    ],
    metric: "time per term",
    points: |_| timed(params([("series", 10), ("terms", 25_000)]), repeated(1, 1.0)),
    check: |params, reply| {
        let all = asked(params, "series") * asked(params, "terms") * reps(params);
        conserved(reply, all, 3 * all)?;
        extra(reply, "sum", terms(params) * reps(params))
    },
    ..TIME_PER_OPERATION
};

pub(super) static PHILOSOPHERS: Experiment = Experiment {
    id: "philosophers",
    title: "Dining philosophers",
    what: "20 philosophers ask an arbiter for both forks, eat, and return them; n meals each.",
    notes: &[
        "Savina's Dining Philosophers, with its number of philosophers. A request that is denied is repeated immediately, so the number of messages depends on the order in which the runtime runs the philosophers; samples report the number of denied requests.",
    ],
    metric: "time per meal",
    points: |_| timed(params([("philosophers", 20)]), counted(100, 1_000_000, 1.0)),
    check: |params, reply| {
        let meals = asked(params, "philosophers") * asked(params, "n");
        conserved(reply, meals, meals)?;
        found(reply, "denied").map(drop)
    },
    ..TIME_PER_OPERATION
};

pub(super) static SIEVE: Experiment = Experiment {
    id: "sieve",
    title: "Sieve of Eratosthenes",
    what: "Odd numbers pass through a chain of processes, each of which drops the multiples of its primes.",
    notes: &[
        "Savina's Sieve of Eratosthenes. The full profile uses its numbers: up to 100 000, with 1000 primes per process; the quick one 20 000 and 200.",
        "Each number is divided by all primes before the first that divides it, as in Savina: most of the time is arithmetic.",
        "The number of primes is verified.",
    ],
    metric: "time per candidate",
    points: |profile| {
        let (n, local) = if profile == Profile::Quick { (20_000, 200) } else { (100_000, 1000) };
        timed(params([("n", n), ("local", local)]), repeated(1, 1.0))
    },
    check: |params, reply| {
        let candidates = asked(params, "n").saturating_sub(1) / 2 * reps(params);
        conserved(reply, candidates, candidates)?;
        extra(reply, "primes", primes(asked(params, "n")) * reps(params))
    },
    ..TIME_PER_OPERATION
};

pub(super) static BIG: Experiment = Experiment {
    id: "big",
    title: "Big",
    what: "120 processes each send n pings to random others, the next when the last is answered, and answer the pings of the others.",
    notes: &["Savina's Big, with its number of processes. All of them know all others."],
    metric: "time per ping",
    points: |_| timed(params([("processes", 120)]), counted(100, 1_000_000_000, 1.0)),
    check: pings,
    ..TIME_PER_OPERATION
};

/// Checks for n operations per process, each with two messages.
pub(super) fn pings(params: &Params, reply: &Reply) -> Result<(), Invalid> {
    let all = asked(params, "processes") * asked(params, "n");
    conserved(reply, all, 2 * all)
}
