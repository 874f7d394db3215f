//! Panic containment for user code called where nothing may unwind.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of consecutive panics from dropping a payload after which the payload is leaked.
const MAX_PAYLOADS: usize = 8;

/// Runs `f`, catches a panic and drops its payload, even if that drop panics in turn.
pub fn catch_panic(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        drop_payload(payload);
    }
}

// WHY a separate function: it is compiled once, not for each `f`.
#[cold]
#[inline(never)]
fn drop_payload(mut payload: Box<dyn Any + Send>) {
    for _ in 0..MAX_PAYLOADS {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return,
            Err(next) => payload = next,
        }
    }
    // WHY: dropping could panic without end; a leak is the lesser evil.
    std::mem::forget(payload);
}
