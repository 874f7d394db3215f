//! WebSocket that is closed when its server drains.

use std::future::pending;
use std::pin::Pin;

use axum::Error;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use purlin::consume_budget;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

use crate::connection::Connection;

/// A WebSocket, owned by its process.
///
/// When the server drains, [`Socket::recv`] performs the closing handshake and then returns `None`. So
/// a process that receives in a loop ends in time and its client sees code 1001 instead of a
/// reset, and a request whose frame has been received is still answered.
#[derive(Debug)]
pub struct Socket {
    socket: WebSocket,
    /// Whether the server drains; also holds the permit.
    connection: Connection,
    closing: Option<Closing>,
}

/// A closing handshake that has begun.
#[derive(Debug)]
struct Closing {
    /// The Close frame, until it has been sent.
    frame: Option<CloseFrame>,
    deadline: Pin<Box<Sleep>>,
}

impl Socket {
    pub(crate) fn new(socket: WebSocket, connection: Connection) -> Self {
        Self { socket, connection, closing: None }
    }

    /// Receives a frame; `None` after the connection has ended. Pings are answered automatically.
    ///
    /// When the server drains, sends a Close frame, discards what the client sends until its own
    /// Close frame, and returns `None`, at the latest after the server's time limit of draining.
    ///
    /// *Cancellation*: loses no frame.
    pub async fn recv(&mut self) -> Option<Result<Message, Error>> {
        // WHY first: with frames that are always ready no other await ends the turn, and in a `select!` the
        // receive next to it would wait for the next turn.
        consume_budget().await;
        if self.closing.is_none() {
            tokio::select! {
                frame = self.socket.recv() => return frame,
                () = drains(&mut self.connection.draining) => {}
            }
            self.begin_close(close_code::AWAY, "the server stops");
        }
        self.finish_close().await;
        None
    }

    /// Sends a frame. After a closing handshake has begun, the frame is dropped, as one that the
    /// client no longer reads.
    ///
    /// *Cancellation*: the frame may have been sent, or not.
    ///
    /// # Errors
    /// Returns an error if the connection has ended.
    pub async fn send(&mut self, frame: Message) -> Result<(), Error> {
        if self.closing.is_some() { Ok(()) } else { self.socket.send(frame).await }
    }

    /// Closes the connection with a code and a reason of at most 123 bytes, and waits for the
    /// client's Close frame, at most for the server's time limit of draining.
    pub async fn close(mut self, code: u16, reason: &str) {
        self.begin_close(code, reason);
        self.finish_close().await;
    }

    fn begin_close(&mut self, code: u16, reason: &str) {
        let frame = CloseFrame { code, reason: reason.into() };
        let deadline = Box::pin(sleep(self.connection.drain_timeout));
        self.closing.get_or_insert(Closing { frame: Some(frame), deadline });
    }

    /// Sends the Close frame, if it has not been sent, and reads until the client's.
    async fn finish_close(&mut self) {
        let Some(closing) = &mut self.closing else { return };
        let (socket, frame) = (&mut self.socket, &mut closing.frame);
        let handshake = async {
            if let Some(close) = frame.clone() {
                // WHY ignored: an error of the connection is that of the next `recv` too.
                let _ = socket.send(Message::Close(Some(close))).await;
                *frame = None;
            }
            while let Some(Ok(_)) = socket.recv().await {
                consume_budget().await;
            }
        };
        tokio::select! {
            () = handshake => {}
            () = closing.deadline.as_mut() => {}
        }
    }
}

/// Waits until the server drains. Never returns if the server has ended without draining.
pub(crate) async fn drains(draining: &mut watch::Receiver<bool>) {
    if draining.wait_for(|draining| *draining).await.is_err() {
        pending().await
    }
}
