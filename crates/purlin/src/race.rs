//! Race of a future against another event.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

/// Returns the output of `future`, or `None` if `other` is ready first. Polls `future` first.
pub(crate) async fn race<F: Future>(
    mut other: impl FnMut(&mut Context<'_>) -> Poll<()>,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => other(cx).map(|()| None),
    })
    .await
}
