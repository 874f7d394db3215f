//! Receiving from a channel of may.

use may::sync::mpsc::Receiver;

/// Receives the next message. Returns `None` when the channel is closed.
///
/// WHY `try_recv` first: `recv` allocates an entry for the waiting coroutine before it looks.
pub(crate) fn receive<M>(mailbox: &Receiver<M>) -> Option<M> {
    match mailbox.try_recv() {
        Ok(message) => Some(message),
        Err(_) => mailbox.recv().ok(),
    }
}
