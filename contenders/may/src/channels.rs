//! Receiving from a channel of may, and calls.

use may::sync::mpsc::{Receiver, Sender};
use may::sync::spsc;

/// Receives the next message. Returns `None` when the channel is closed.
///
/// WHY `try_recv` first: `recv` allocates an entry for the waiting coroutine before it looks.
pub(crate) fn receive<M>(mailbox: &Receiver<M>) -> Option<M> {
    match mailbox.try_recv() {
        Ok(message) => Some(message),
        Err(_) => mailbox.recv().ok(),
    }
}

/// Sends a request with the channel for its reply, and waits for the reply. Returns `None` if the
/// called coroutine has ended.
pub(crate) fn call<M, T>(
    server: &Sender<M>,
    request: impl FnOnce(spsc::Sender<T>) -> M,
) -> Option<T> {
    let (reply, answer) = spsc::channel();
    server.send(request(reply)).ok()?;
    answer.recv().ok()
}
