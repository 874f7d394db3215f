//! Running code of the user's where nothing may unwind.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`; a panic is stopped here and its payload dropped, even one that panics when dropped.
#[inline]
pub fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(payload)));
        if let Err(payload) = dropped {
            // WHY: this could go on for ever; a leak is the lesser evil.
            std::mem::forget(payload);
        }
    }
}
