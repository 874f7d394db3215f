//! Stage of a process's code: a function, then the future it returns, then nothing.
//!
//! The function is called in the first turn, so that its future is built in place, and a panic
//! before the first await ends the new process and not the one that spawns it.
//!
//! WHY not an enum: its drop, which is empty once the future has ended, was a call at each change
//! of the variant, 38 instructions per process.

use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What a [`Stage`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Function,
    Future,
    Nothing,
}

/// Function of a process, and then the future that it returns. Only the future is pinned.
pub struct Stage<F, Fut> {
    /// INVARIANT: the field of `code` that is initialised, if any.
    holds: Holds,
    code: Code<F, Fut>,
}

union Code<F, Fut> {
    function: ManuallyDrop<F>,
    future: ManuallyDrop<Fut>,
}

impl<F, Fut> Stage<F, Fut> {
    /// Creates the stage before the first turn.
    pub fn new(function: F) -> Self {
        Self { holds: Holds::Function, code: Code { function: ManuallyDrop::new(function) } }
    }

    /// Drops the function or the future, if there is one. Unwinds if its destructor does.
    pub fn clear(self: Pin<&mut Self>) {
        // SAFETY: nothing is moved.
        unsafe { self.get_unchecked_mut() }.drop_code();
    }

    #[cold]
    #[inline(never)]
    fn drop_code(&mut self) {
        // SAFETY: by the invariant, which holds for `Nothing` from now on.
        unsafe {
            match mem::replace(&mut self.holds, Holds::Nothing) {
                Holds::Function => ManuallyDrop::drop(&mut self.code.function),
                Holds::Future => ManuallyDrop::drop(&mut self.code.future),
                Holds::Nothing => {}
            }
        }
    }
}

impl<F, Fut: Future> Stage<F, Fut> {
    /// Polls the future, which the first call makes of the function by `start`. Drops the future when
    /// it is ready. Returns `Ready(None)` if there is none any more.
    ///
    /// If `start`, the future or its destructor unwinds, so does this function.
    #[inline(always)]
    pub fn poll(
        self: Pin<&mut Self>,
        start: impl FnOnce(F) -> Fut,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Fut::Output>> {
        // SAFETY: nothing below moves a future: it is made in its place and dropped there.
        let this = unsafe { self.get_unchecked_mut() };
        match this.holds {
            Holds::Nothing => return Poll::Ready(None),
            Holds::Future => {}
            Holds::Function => {
                // The function leaves its place, also if `start` unwinds.
                this.holds = Holds::Nothing;
                // SAFETY: by the invariant; the field is not used again.
                let function = unsafe { ManuallyDrop::take(&mut this.code.function) };
                this.code.future = ManuallyDrop::new(start(function));
                this.holds = Holds::Future;
            }
        }
        // SAFETY: by the invariant. The place is pinned, because `self` is, and `drop` and `clear`
        // drop the future before the place is used for anything else.
        let future = unsafe { Pin::new_unchecked(&mut *this.code.future) };
        let output = ready!(future.poll(cx));
        this.holds = Holds::Nothing;
        // SAFETY: by the invariant until just now; the field is not used again.
        unsafe { ManuallyDrop::drop(&mut this.code.future) };
        Poll::Ready(Some(output))
    }
}

impl<F, Fut> Drop for Stage<F, Fut> {
    #[inline]
    fn drop(&mut self) {
        if self.holds != Holds::Nothing {
            self.drop_code();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
