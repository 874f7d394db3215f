//! `CatchUnwind` for futures: turns a panic of user code into a value, so that a loop survives it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::ExitReason;
use crate::process::unwind::catch;

pin_project! {
    /// Returns the output of a future, or the exit reason if the future panicked or called
    /// [`crate::exit()`]. A panic in the function that creates the future is caught too.
    ///
    /// COST: twice what `catch_unwind` costs where nothing unwinds, which is a few instructions.
    #[project = Stage]
    pub(crate) enum CatchUnwind<F> {
        Runs { #[pin] future: F },
        Failed { reason: ExitReason },
    }
}

impl<F: Future> CatchUnwind<F> {
    pub(crate) fn new(make: impl FnOnce() -> F) -> Self {
        match catch(make) {
            Ok(future) => Self::Runs { future },
            Err(reason) => Self::Failed { reason },
        }
    }
}

impl<F: Future> Future for CatchUnwind<F> {
    type Output = Result<F::Output, ExitReason>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = match self.project() {
            Stage::Runs { future } => future,
            Stage::Failed { reason } => return Poll::Ready(Err(reason.clone())),
        };
        match catch(|| future.poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(reason) => Poll::Ready(Err(reason)),
        }
    }
}
