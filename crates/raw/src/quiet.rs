//! Running code of the user's where nothing may unwind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many payloads in a row may panic while they are dropped before one is leaked.
const PATIENCE: usize = 8;

/// Runs `f`; a panic is stopped here and its payload dropped, even one that panics when dropped.
#[inline]
pub fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_quietly(payload);
    }
}

// WHY apart: it is compiled once, and not for each `f`.
#[cold]
#[inline(never)]
fn drop_quietly(mut payload: Box<dyn Any + Send>) {
    for _ in 0..PATIENCE {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    // WHY: this could go on for ever; a leak is the lesser evil.
    std::mem::forget(payload);
}
