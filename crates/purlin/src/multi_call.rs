//! Asking many processes at once.
//!
//! All are asked before the first answer is waited for. The answers are then looked at in order:
//! each comes through a block of its own, so one that comes early waits there, and each is one look.

use std::time::Duration;

use crate::call::{Patience, own_waker, shown};
use crate::{CallError, Pid, Reply};

/// Asks many processes at once and waits for all their answers, no longer than `timeout` in all.
///
/// The answers are in the order of the pids; each is what [`Pid::call`] would have ended with. One
/// that comes too late is dropped and never seen as a message (C1).
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
/// Works where [`Pid::call`] does. Nothing is sent before the future is polled.
///
/// *Cancellation*: dropping the future gives up on all; their answers are dropped.
///
/// # Panics
/// As [`Pid::call`].
///
/// COST: for each process what a call costs, with one timer for all of them.
pub async fn multi_call<'a, M, T>(
    pids: impl IntoIterator<Item = &'a Pid<M>>,
    mut message: impl FnMut(Reply<T>) -> M,
    timeout: Duration,
) -> Vec<Result<T, CallError>>
where
    M: Send + 'static,
{
    let waker = own_waker().await;
    let ask = |pid: &'a Pid<M>| (pid, pid.ask(&mut message, waker.clone()));
    let asked: Vec<_> = pids.into_iter().map(ask).collect();
    let mut patience = Patience::new(timeout);
    let mut answers = Vec::with_capacity(asked.len());
    for (pid, asked) in asked {
        let answer = match asked {
            Err(error) => Err(error),
            Ok(mut answer) => match patience.wait(|cx| shown(pid, answer.poll(cx))).await {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) => Err(Box::pin(pid.unanswered(&mut patience)).await),
                Err(error) => Err(error),
            },
        };
        answers.push(answer);
    }
    answers
}
