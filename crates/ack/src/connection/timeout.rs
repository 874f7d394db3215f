//! Waits with a timeout, on the clock of the process's node.
//!
//! Used by connection processes and acceptors. Messages that do not match stay in the mailbox.
//! COST: a timer per wait.

use std::future::Future;
use std::time::Duration;

use purlin::{Node, Process, receive};

/// Returns the time on the node's clock.
pub(crate) fn now() -> Duration {
    Node::current_uptime().unwrap_or_default()
}

/// Sleeps for `time`.
pub(crate) async fn sleep<M: Send + 'static>(me: &mut Process<M>, time: Duration) {
    receive!(me, { after time => {} });
}

/// Waits for a future. Returns `None` if it is not ready within `time`.
pub(crate) async fn within<M: Send + 'static, T>(
    me: &mut Process<M>,
    time: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = sleep(me, time) => None,
    }
}

/// Receives the next message. Returns `None` if none arrives within `time`.
pub(crate) async fn receive_within<M: Send + 'static>(
    me: &mut Process<M>,
    time: Duration,
) -> Option<M> {
    receive!(me, {
        message => Some(message),
        after time => None,
    })
}
