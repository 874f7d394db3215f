//! A future that is waited for unless something else comes first.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

/// The output of the future, unless `other` is ready before; the future is looked at first.
pub(crate) async fn unless<F: Future>(
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
