//! Concurrent calls to many processes.
//!
//! All requests are sent before the first reply is awaited. The replies are then collected in
//! order: each has its own block, where an early reply waits, and takes one poll.

use std::time::Duration;

use crate::call::request::{CallDeadline, no_answer, publish_wait};
use crate::process::yielding::without_wait;
use crate::{CallError, Pid, Reply};

/// Calls many processes concurrently and waits for all replies, at most `timeout` in total.
///
/// The results are in the order of the pids, each as [`Pid::call`] would have returned it. A late
/// reply is dropped and never seen as a message (C1).
///
/// ```
/// use std::time::Duration;
/// use purlin::{Process, Reply, multi_call, spawn};
///
/// # #[purlin::main] async fn main() {
/// let factors = [2, 3, 4];
/// let multipliers = factors.map(|factor| {
///     spawn(async move |mut me: Process<(u64, Reply<u64>)>| {
///         let (n, reply) = me.receive().await;
///         reply.send(factor * n);
///     })
/// });
/// let answers = multi_call(&multipliers, |reply| (7, reply), Duration::from_secs(1)).await;
/// assert_eq!(answers, [Ok(14), Ok(21), Ok(28)]);
/// # }
/// ```
///
/// Works where [`Pid::call`] does. Sends nothing before the future is polled.
///
/// *Cancellation*: dropping the future abandons all calls; their replies are dropped.
///
/// # Panics
/// As [`Pid::call`].
///
/// COST: a call for each process, with one timer for all of them.
pub async fn multi_call<'a, M, T>(
    pids: impl IntoIterator<Item = &'a Pid<M>>,
    mut message: impl FnMut(Reply<T>) -> M,
    timeout: Duration,
) -> Vec<Result<T, CallError>>
where
    M: Send + 'static,
{
    let ask = |pid: &'a Pid<M>| (pid, pid.ask(&mut message));
    let asked: Vec<_> = pids.into_iter().map(ask).collect();
    let mut deadline = CallDeadline::new(timeout);
    let mut answers = Vec::with_capacity(asked.len());
    for (pid, asked) in asked {
        let answer = match asked {
            Err(error) => Err(no_answer(pid.address(), Some(error), &mut deadline).await),
            Ok(mut answer) => {
                match deadline.wait(|cx| publish_wait(pid.address(), answer.poll(cx))).await {
                    Ok(Some(answer)) => Ok(answer),
                    Ok(None) => Err(no_answer(pid.address(), None, &mut deadline).await),
                    Err(error) => Err(error),
                }
            }
        };
        answers.push(answer);
    }
    if answers.is_empty() { without_wait(answers).await } else { answers }
}
