//! `CatchUnwind` for futures: turns a panic of user code into a value, so that a loop survives it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::ExitReason;
use crate::process::unwind::catch;

pin_project! {
    /// Returns the output of the future, or the exit reason if its poll panicked or called
    /// [`crate::exit()`].
    ///
    /// COST: what `catch_unwind` costs for each poll where nothing unwinds, a few instructions.
    pub(crate) struct CatchUnwind<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> CatchUnwind<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future }
    }
}

impl<F: Future> Future for CatchUnwind<F> {
    type Output = Result<F::Output, ExitReason>;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch(|| self.project().future.poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(reason) => Poll::Ready(Err(reason)),
        }
    }
}
