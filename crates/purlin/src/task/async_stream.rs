//! Stream of the results of tasks, a bounded number of which run concurrently: Elixir's
//! `Task.async_stream`.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::iter::Fuse;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::{Task, spawn};
use crate::ExitReason;

/// Runs a task for each item, at most `max_concurrency` at a time, and returns their results as a
/// stream, in the order of the items.
///
/// ```
/// use purlin::task;
///
/// # #[purlin::main] async fn main() {
/// let mut lengths = task::async_stream(["one", "three", "five"], 2, async |word: &str| word.len());
/// let mut all = Vec::new();
/// while let Some(length) = lengths.next().await {
///     all.push(length.expect("it does not panic"));
/// }
/// assert_eq!(all, [3, 5, 4]);
/// # }
/// ```
///
/// A task that panics is an item `Err` with the exit reason, and the stream continues.
///
/// # Panics
/// Panics if `max_concurrency` is 0.
pub fn async_stream<I, F, Fut, T>(
    items: I,
    max_concurrency: usize,
    function: F,
) -> AsyncStream<I::IntoIter, F, T>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    assert!(max_concurrency > 0, "a stream of tasks runs at least one at a time");
    AsyncStream {
        items: items.into_iter().fuse(),
        function,
        max_concurrency,
        ordered: true,
        tasks: VecDeque::new(),
    }
}

/// Stream of the results of tasks, created by [`async_stream`]. It has the method
/// [`next`](Self::next), and is a [`Stream`] for the combinators of the futures crates.
///
/// Tasks start when the stream is polled. Each result that is taken makes place for the next task:
/// at most `max_concurrency` tasks run, or have ended and wait for an earlier one (G3).
///
/// *Cancellation*: dropping the stream sends `shutdown` to the tasks that run, which takes effect
/// at their next await, and starts no more. Dropping the future of `next` loses nothing.
///
/// # Panics
/// Polling it panics where [`task::spawn`](spawn) does.
///
/// COST: a task for each item. With [`unordered`](Self::unordered), each poll polls every task.
#[must_use = "a stream starts no task before it is polled"]
pub struct AsyncStream<I: Iterator, F, T> {
    items: Fuse<I>,
    function: F,
    max_concurrency: usize,
    ordered: bool,
    tasks: VecDeque<Task<T>>,
}

// WHY: nothing in it is pinned.
impl<I: Iterator, F, T> Unpin for AsyncStream<I, F, T> {}

impl<I, F, Fut, T> AsyncStream<I, F, T>
where
    I: Iterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    /// Returns each result as soon as its task has ended, in any order.
    pub fn unordered(mut self) -> Self {
        self.ordered = false;
        self
    }

    /// Waits for the next result. Returns `None` after the last.
    pub async fn next(&mut self) -> Option<Result<T, ExitReason>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, ExitReason>>> {
        while self.tasks.len() < self.max_concurrency {
            let Some(item) = self.items.next() else { break };
            self.tasks.push_back(spawn((self.function)(item)));
        }
        let considered = if self.ordered { 1 } else { self.tasks.len() };
        for index in 0..considered.min(self.tasks.len()) {
            if let Poll::Ready(result) = Pin::new(&mut self.tasks[index]).poll(cx) {
                self.tasks.remove(index);
                return Poll::Ready(Some(result));
            }
        }
        if self.tasks.is_empty() { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl<I, F, Fut, T> Stream for AsyncStream<I, F, T>
where
    I: Iterator,
    F: FnMut(I::Item) -> Fut,
    Fut: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    type Item = Result<T, ExitReason>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx)
    }
}

impl<I: Iterator, F, T> Drop for AsyncStream<I, F, T> {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.pid.exit(ExitReason::Shutdown);
        }
    }
}

impl<I: Iterator, F, T> fmt::Debug for AsyncStream<I, F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncStream")
            .field("max_concurrency", &self.max_concurrency)
            .field("ordered", &self.ordered)
            .field("tasks", &self.tasks)
            .finish_non_exhaustive()
    }
}
