//! Calls between tasks.

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// Sends a request with the channel for its reply, and awaits the reply. Returns `None` if the task has ended.
pub(super) async fn call<M, T>(
    server: &UnboundedSender<M>,
    request: impl FnOnce(oneshot::Sender<T>) -> M,
) -> Option<T> {
    let (reply, answer) = oneshot::channel();
    server.send(request(reply)).ok()?;
    answer.await.ok()
}
