//! Cooperative yielding.
//!
//! An await of the library that waits lets other processes run. One that finishes immediately spends
//! budget at its end ([`without_wait`]), except sends, receives and successful calls, which have their
//! own rules.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};

use purlin_raw::is_current_waker;

/// Lets every other ready process of this worker run first, as `erlang:yield/0` does.
///
/// Works in any task. In a process it costs no atomic operation beyond those of the run queue.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        purlin_raw::poll_again(cx.waker());
        Poll::Pending
    })
    .await;
}

/// Spends two units of the process's budget of 512 and yields when the budget is used up (F1).
///
/// A receive spends one unit, a spawn seven. A loop that only sends or computes should call this
/// function regularly, and so should a loop over a channel, a lock or a reader of tokio, whose own
/// cooperative budget is unlimited in a process:
///
/// ```
/// # use purlin::{Process, consume_budget, spawn};
/// # #[purlin::main] async fn main() {
/// # let sink = spawn(async |mut me: Process<u64>| while me.receive().await != 9_999 {});
/// for n in 0..10_000u64 {
///     sink.send(n);
///     consume_budget().await;
/// }
/// # sink.ended().await;
/// # }
/// ```
///
/// WHY: two units, so that a sender's turn is half as long as a receiver's. A receiver that keeps
/// up can then empty its mailbox in one turn and sleep, instead of being run again for the rest
/// (F3).
///
/// Does nothing outside a process.
// WHY: not an `async fn`, because its state machine costs a call and a jump in the loops that send
// most.
#[inline]
pub fn consume_budget() -> impl Future<Output = ()> + Send + Sync {
    let mut yielded = false;
    poll_fn(move |cx| {
        if yielded || (purlin_raw::spend_budget() && purlin_raw::spend_budget()) {
            return Poll::Ready(());
        }
        yielded = true;
        purlin_raw::poll_again(cx.waker());
        Poll::Pending
    })
}

/// Calls [`consume_budget`] and returns `result`: the end of an await that has not waited, so that a
/// loop of such awaits yields (F1).
#[cold]
pub(crate) async fn without_wait<T>(result: T) -> T {
    consume_budget().await;
    result
}

/// [`without_wait`] for a future that is polled by hand: returns whether it must return `Pending`
/// instead of its result. It is polled again in the next turn then.
///
/// WHY not with another waker than the process's: an executor that blocks the thread polls again in
/// the same turn, which has no budget left.
#[cold]
pub(crate) fn must_yield(cx: &mut Context<'_>) -> bool {
    is_current_waker(cx.waker()) && pin!(consume_budget()).poll(cx).is_pending()
}
