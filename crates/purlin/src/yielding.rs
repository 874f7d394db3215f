//! Letting others run.

use std::future::{Future, poll_fn};
use std::task::Poll;

/// Lets every other ready process of this worker run first, as `erlang:yield/0` does.
///
/// Works in any task; in a process it costs no atomic operation beyond the run queue's.
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

/// Spends two units of the process's budget of 512 and yields when it is used up (F1).
///
/// Receiving spends one unit by itself, spawning seven. A loop that only sends or computes should
/// call this now and then:
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
/// WHY two: a sender's turn is then half a receiver's, so that a receiver that keeps up has room to
/// empty its mailbox in one turn and sleeps, rather than being run again for the rest (F3).
///
/// Outside a process it does nothing.
// WHY no `async fn`: this is in the loops that send most, and a state machine is a call and a jump.
#[inline]
pub fn consume_budget() -> impl Future<Output = ()> + Send + Sync {
    let mut yielded = false;
    poll_fn(move |cx| {
        if yielded || (purlin_raw::spend() && purlin_raw::spend()) {
            return Poll::Ready(());
        }
        yielded = true;
        purlin_raw::poll_again(cx.waker());
        Poll::Pending
    })
}
