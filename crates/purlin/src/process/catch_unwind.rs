//! `CatchUnwind` for futures: turns a panic of user code into a value, so that a loop survives it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::ExitReason;
use crate::process::unwind::catch;

pin_project! {
    /// Returns the output of the future that `make` creates, or the exit reason if either panicked
    /// or called [`crate::exit()`].
    ///
    /// COST: what `catch_unwind` costs for each poll where nothing unwinds, a few instructions.
    #[project = Stage]
    #[project_replace = StageBefore]
    pub(crate) enum CatchUnwind<F, Fut> {
        Start { make: F },
        Running { #[pin] future: Fut },
        Over,
    }
}

impl<F: FnOnce() -> Fut, Fut: Future> CatchUnwind<F, Fut> {
    pub(crate) fn new(make: F) -> Self {
        Self::Start { make }
    }

    /// Polls the future, which the first poll creates.
    #[inline(always)]
    fn advance(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Fut::Output> {
        if let Stage::Running { future } = self.as_mut().project() {
            return future.poll(cx);
        }
        if let StageBefore::Start { make } = self.as_mut().project_replace(Self::Over) {
            self.set(Self::Running { future: make() });
        }
        match self.project() {
            Stage::Running { future } => future.poll(cx),
            _ => Poll::Pending,
        }
    }
}

impl<F: FnOnce() -> Fut, Fut: Future> Future for CatchUnwind<F, Fut> {
    type Output = Result<Fut::Output, ExitReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch(|| self.advance(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(reason) => Poll::Ready(Err(reason)),
        }
    }
}
