//! Tasks: a future that runs as a process, and its result as a value.
//!
//! ```
//! use purlin::task;
//!
//! # #[purlin::main] async fn main() {
//! let sum = task::spawn(async { (1..=100).sum::<u32>() });
//! let lucky = task::spawn(async { "seven".parse::<u32>() });
//! assert_eq!(sum.await, Ok(5050));
//! assert!(lucky.await.is_ok_and(|parsed| parsed.is_err()));
//!
//! let broken = task::spawn(async { assert_eq!(1 + 1, 3, "on purpose") });
//! let reason = broken.await.unwrap_err();
//! assert!(reason.to_string().contains("on purpose"));
//! # }
//! ```
//!
//! A task is a process: it runs concurrently with its parent, appears in the node's list of
//! processes, and its panic ends no other process. It has no mailbox. Erlang has no tasks; they
//! correspond to Elixir's `Task`. [`async_stream`] runs a task for each item, a bounded number at a
//! time.

mod async_stream;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use purlin_raw::{ReplyReceiver, oneshot};

use crate::call::request::CallDeadline;
use crate::process::relation::Relation;
use crate::process::spawn::spawn_here;
use crate::{ExitReason, Pid, Process, ProcessId, Reply, SpawnError, SpawnOptions};

pub use async_stream::{AsyncStream, async_stream};

/// How long [`Task::shutdown`] waits for a killed task that does not await.
const KILL_GRACE: Duration = Duration::from_millis(500);

/// Runs a future as a process; see [`Task`].
///
/// The task is not linked to the caller: its end, whatever the reason, is only a value. If the node
/// has reached its maximum number of processes, the task ends with `system_limit`;
/// [`SpawnOptions::spawn_task`] returns the future instead, and spawns tasks with options.
///
/// # Panics
/// As [`spawn()`](crate::spawn()).
///
/// COST: a process, and a block for the result.
#[track_caller]
pub fn spawn<T, F>(future: F) -> Task<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Task::new(|result| crate::spawn(|_me: Process<Infallible>| give(future, result)))
}

/// [`spawn`]s a task that is linked to the caller: it does not outlive the caller. The caller ends
/// with the task, unless the task ends with `normal` or the caller traps exits.
///
/// # Panics
/// Panics outside the caller's own turns, as receiving does.
#[track_caller]
pub fn spawn_link<T, F>(me: &Process<impl Send + 'static>, future: F) -> Task<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Task::new(|result| me.spawn_link(|_me: Process<Infallible>| give(future, result)))
}

impl<L: Relation, W: Relation> SpawnOptions<L, W> {
    /// Spawns a task on the current node: see [`Task`] and [`task::spawn`](spawn). Returns the
    /// task, and with [`monitor`](Self::monitor) the pair of the task and the monitor's reference.
    ///
    /// A task has no messages, so a bound has no effect.
    ///
    /// ```
    /// # use purlin::SpawnOptions;
    /// # #[purlin::main] async fn main() {
    /// let length = async { std::fs::read("/dev/null").map(|all| all.len()) };
    /// let length = SpawnOptions::new().blocking().spawn_task(length).expect("there is room");
    /// let length = length.await.expect("it does not panic");
    /// assert_eq!(length.expect("it can be read"), 0);
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn), with the future instead of a function.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_task<T, F>(self, future: F) -> Result<W::Spawned<Task<T>>, SpawnError<F>>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (options, local, relations) = self.begin();
        // The first poll sets the waker.
        let (sender, result) = oneshot();
        let goods = (future, Reply::new(sender));
        let function =
            |(future, result): (F, Reply<T>)| move |_me: Process<Infallible>| give(future, result);
        let spawned = spawn_here(|node_core, parent| {
            options.spawn_in(node_core, parent, local, goods, function, ())
        });
        let pid = spawned.map_err(|error| error.map(|(future, _)| future))?;
        let reference = relations.complete(&pid);
        Ok(W::spawned(Task { pid, wait: Wait::Result(result) }, reference))
    }
}

/// Runs the future and sends its result.
async fn give<T>(future: impl Future<Output = T>, result: Reply<T>) {
    result.send(future.await);
}

/// A future that runs as a process, created by [`spawn`], [`spawn_link`] or
/// [`SpawnOptions::spawn_task`].
///
/// Awaiting it returns the future's output, or the exit reason of a process that ended without one
/// (G3). The output arrives before the process has ended: before its link and its monitors fire, and
/// before its name is free.
///
/// *Cancellation*: a task may be awaited through `&mut`, in a `select!` or with [`Task::timeout`],
/// and awaited again later; nothing is lost. Dropping it leaves the process running and drops its
/// result.
///
/// # Panics
/// Panics if it is polled after it was ready.
#[must_use = "dropping a task leaves it running and drops its result"]
pub struct Task<T> {
    pid: Pid<Infallible>,
    wait: Wait<T>,
}

/// Event that completes a task.
enum Wait<T> {
    /// The result.
    Result(ReplyReceiver<T>),
    /// The end of the process, because no result will come.
    End(Pin<Box<dyn Future<Output = ExitReason> + Send + Sync>>),
    Over,
}

impl<T: Send + 'static> Task<T> {
    fn new(spawn: impl FnOnce(Reply<T>) -> Pid<Infallible>) -> Self {
        // The first poll sets the waker.
        let (give, result) = oneshot();
        Self { pid: spawn(Reply::new(give)), wait: Wait::Result(result) }
    }

    /// Returns the id of the task's process.
    pub fn id(&self) -> ProcessId {
        self.pid.id()
    }

    /// Waits for the task for at most `time`. Returns `None` if the task has not ended by then.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use purlin::{ExitReason, task};
    /// # #[purlin::main] async fn main() {
    /// let mut task = task::spawn(std::future::pending::<()>());
    /// assert_eq!(task.timeout(Duration::from_millis(10)).await, None);
    /// assert_eq!(task.shutdown(Duration::from_secs(5)).await, Err(ExitReason::Shutdown));
    /// # }
    /// ```
    ///
    /// *Cancellation*: dropping the future changes nothing.
    ///
    /// # Panics
    /// Panics if the task was ready before.
    #[track_caller]
    pub fn timeout(
        &mut self,
        time: Duration,
    ) -> impl Future<Output = Option<Result<T, ExitReason>>> {
        if matches!(self.wait, Wait::Over) {
            polled_again();
        }
        async move { CallDeadline::new(time).wait(|cx| Pin::new(&mut *self).poll(cx)).await.ok() }
    }

    /// Ends the task and waits for its end. Returns the result if that arrives first, and otherwise
    /// the exit reason.
    ///
    /// Sends `shutdown`, which takes effect at the task's next await, and after `time` sends
    /// `kill`. A task that does not await within another 500 ms is left behind, with a warning
    /// (L7).
    ///
    /// *Cancellation*: dropping the future does not revoke the signals already sent.
    ///
    /// # Errors
    /// Returns the exit reason if the task has no result: usually `shutdown` or `killed`.
    ///
    /// # Panics
    /// Panics if the task was ready before.
    pub async fn shutdown(mut self, time: Duration) -> Result<T, ExitReason> {
        self.pid.exit(ExitReason::Shutdown);
        if let Some(ended) = self.timeout(time).await {
            return ended;
        }
        self.pid.exit(ExitReason::Kill);
        if let Some(ended) = self.timeout(KILL_GRACE).await {
            return ended;
        }
        tracing::warn!(pid = %self.id(), "a task that was killed does not await, and was left");
        Err(ExitReason::Killed)
    }
}

impl<T: Send + 'static> Future for Task<T> {
    type Output = Result<T, ExitReason>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let result = match &mut self.wait {
                Wait::End(ended) => match ended.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(reason) => Err(reason),
                },
                Wait::Result(result) => match result.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(result)) => Ok(result),
                    Poll::Ready(None) => {
                        let pid = self.pid.clone();
                        self.wait = Wait::End(Box::pin(async move { pid.ended().await }));
                        continue;
                    }
                },
                Wait::Over => polled_again(),
            };
            self.wait = Wait::Over;
            return Poll::Ready(result);
        }
    }
}

#[cold]
#[track_caller]
fn polled_again() -> ! {
    panic!("a task was awaited again after it was ready")
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.pid.id()).finish()
    }
}
