//! A handler whose panic does not end the loop around it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::ExitReason;
use crate::exit::catch;

pin_project! {
    /// Gives a future's output, or the reason why it panicked or left by [`crate::exit()`].
    ///
    /// COST: what `catch_unwind` costs where nothing unwinds, which is a few instructions.
    pub(super) struct Caught<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Caught<F> {
    pub(super) fn new(future: F) -> Self {
        Self { future }
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, ExitReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.project().future;
        match catch::panics(|| future.poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(reason) => Poll::Ready(Err(reason)),
        }
    }
}
