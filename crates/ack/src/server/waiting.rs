//! Waiting for no longer than a time, on the clock of the process's node.
//!
//! For the processes of a connection and the acceptors, each for itself. What is not
//! asked for stays in the mailbox. COST: of a wait a timer.

use std::future::Future;
use std::time::Duration;

use purlin::{Node, Process, receive};

/// The time on the node's clock.
pub(crate) fn now() -> Duration {
    Node::current_uptime().unwrap_or_default()
}

/// Lets time pass.
pub(crate) async fn pass<M: Send + 'static>(me: &mut Process<M>, time: Duration) {
    receive!(me, { after time => {} });
}

/// Waits for a future, but no longer than that; `None` if it is not ready by then.
pub(crate) async fn within<M: Send + 'static, T>(
    me: &mut Process<M>,
    time: Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = pass(me, time) => None,
    }
}

/// The next message, if it comes within that time.
pub(crate) async fn receive_within<M: Send + 'static>(
    me: &mut Process<M>,
    time: Duration,
) -> Option<M> {
    receive!(me, {
        message => Some(message),
        after time => None,
    })
}

/// Waits for a message that `ends` something, for so long; whether it came.
pub(crate) async fn told_within<M: Send + 'static>(
    me: &mut Process<M>,
    time: Duration,
    ends: impl Fn(&M) -> bool,
) -> bool {
    receive!(me, {
        message if ends(&message) => true,
        after time => false,
    })
}
