//! Numbers that nothing else on this node has: of monitors, aliases and unlinks.
//!
//! A thread that runs processes takes them from the node a thousand at a time, so that processes on
//! different cores do not meet at one counter.

use std::fmt;
use std::sync::atomic::Ordering;

use crate::home::{Here, here};

/// So many numbers are taken at once.
const BATCH: u64 = 1024;

/// Something unique: Erlang's reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) creation: u32,
    pub(crate) number: u64,
}

impl Reference {
    /// A new one; `None` on a thread that runs no process.
    pub(crate) fn new() -> Option<Self> {
        here(|here| Self { creation: here.realm.home().creation, number: next(here) })
    }
}

fn next(here: &Here) -> u64 {
    let mut number = here.numbers.get();
    if number.is_multiple_of(BATCH) {
        number = here.realm.home().numbers.fetch_add(1, Ordering::Relaxed) * BATCH + 1;
    }
    here.numbers.set(number + 1);
    number
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#Ref<0.{}.{}>", self.number >> 32, self.number & 0xffff_ffff)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
