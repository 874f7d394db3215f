//! Calls between tasks, and counts of messages.

use std::ops::AddAssign;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Numbers of messages a task has sent and received.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
    }
}

/// Sends a request with the channel for its reply, and awaits the reply. Returns `None` if the task has ended.
pub(super) async fn call<M, T>(
    server: &UnboundedSender<M>,
    request: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    server.send(request(reply)).ok()?;
    answer.await.ok()
}
