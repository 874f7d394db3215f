//! Reader task: decodes frames and passes signals to the receiver in order.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tracing::warn;

use crate::broken::{Broken, InvalidMessage};
use crate::control::Control;
use crate::frame::{Incoming, IncomingFrame, Recipient, Signal, Unread, take_frame};
use crate::link::ended::Ended;
use crate::link::shared::Shared;
use crate::log_limit::LogLimit;

/// Maximum number of bytes of one read, unless a frame is larger.
const BLOCK: usize = 64 << 10;
/// Number of frames passed on before the recipients get a turn. WHY so few: the memory of their messages is then still
/// in the processor's cache and is reused for the next ones.
const TURN: u32 = 256;
/// Maximum capacity retained by an empty buffer.
const KEPT: usize = 4 * BLOCK;

/// Receiver of incoming signals, in order.
pub trait Receive: Send + 'static {
    /// Handles a signal. The reader task reads nothing more until it returns.
    ///
    /// # Errors
    /// The message is invalid: it has been dropped, and the link counts it.
    fn signal(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
    ) -> impl Future<Output = Result<(), InvalidMessage>> + Send;

    /// Handles a message without waiting. Called before [`Receive::signal`], which is called if this returns `None`.
    /// [`Recipient::Same`] is the recipient of the last call.
    fn message(
        &mut self,
        to: Recipient<'_>,
        message: Unread<'_>,
    ) -> Option<Result<(), InvalidMessage>> {
        let _ = (to, message);
        None
    }
}

/// Drops signals after the channel is closed.
impl Receive for mpsc::Sender<Signal> {
    async fn signal(
        &mut self,
        control: Control,
        payload: Option<Unread<'_>>,
    ) -> Result<(), InvalidMessage> {
        let payload = payload.map(Unread::term).transpose()?;
        let _ = self.send(Signal { control, payload }).await;
        Ok(())
    }
}

pub(super) async fn run<S: AsyncRead + Unpin, R: Receive>(
    mut stream: S,
    shared: &Shared,
    mut receive: R,
) -> Ended {
    let limits = shared.settings.limits;
    let (mut incoming, mut dropped) = (Incoming::new(limits), Dropped(LogLimit::new(1)));
    let mut buffer = BytesMut::new();
    loop {
        // ORDER: relaxed; the ticker samples it, and a slightly old value is acceptable.
        shared.reading.store(true, Ordering::Relaxed);
        if buffer.is_empty() && buffer.capacity() > KEPT {
            buffer = BytesMut::new();
        }
        buffer.reserve(BLOCK);
        match stream.read_buf(&mut buffer).await {
            Ok(0) => return Ended::ByPeer,
            Ok(bytes) => shared.has_read(bytes),
            // WHY: a node that ends does not always close TLS properly, which then reports this error.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ended::ByPeer,
            Err(error) => return Ended::Io(error.kind()),
        }
        shared.reading.store(false, Ordering::Relaxed);
        if let Err(broken) =
            take_all(&mut buffer, &mut incoming, &mut dropped, shared, &mut receive).await
        {
            return Ended::Broken(broken);
        }
        // WHY: lets recipients process their messages before more are read.
        yield_now().await;
    }
}

async fn take_all<R: Receive>(
    buffer: &mut BytesMut,
    incoming: &mut Incoming,
    dropped: &mut Dropped,
    shared: &Shared,
    receive: &mut R,
) -> Result<(), Broken> {
    let (mut at, mut turn) = (0, TURN);
    while let Some((frame, used)) = take_frame(&buffer[at..], shared.settings.limits.frame)? {
        let incomplete = incoming.incomplete();
        if let Some(incoming_frame) = incoming.take(frame)? {
            let message = incoming_frame.message();
            let taken = match message.and_then(|(to, message)| receive.message(to, message)) {
                Some(taken) => taken,
                None => {
                    // ORDER: relaxed: the receiver, called next, reads it.
                    shared.incomplete.store(incomplete, Ordering::Relaxed);
                    signal(&incoming_frame, shared, receive).await
                }
            };
            if let Err(invalid) = taken {
                dropped.add(&invalid, shared);
            }
        }
        at += used;
        turn -= 1;
        if turn == 0 {
            turn = TURN;
            yield_now().await;
        }
    }
    buffer.advance(at);
    Ok(())
}

/// Decodes the control message of a frame and passes the signal on.
async fn signal<R: Receive>(
    incoming_frame: &IncomingFrame<'_>,
    shared: &Shared,
    receive: &mut R,
) -> Result<(), InvalidMessage> {
    let (control, payload) = incoming_frame.signal()?;
    if let Some(pid) = control.speaks_of()
        && *pid.node.as_str() != *shared.peer.peer.as_str()
    {
        return Err(InvalidMessage::NotItsOwn(pid.clone()));
    }
    receive.signal(control, payload).await
}

/// Invalid messages of a link.
struct Dropped(LogLimit);

impl Dropped {
    /// Counts a message, and logs it unless another one was logged within a second.
    #[cold]
    fn add(&mut self, invalid: &InvalidMessage, shared: &Shared) {
        // ORDER: relaxed: a counter.
        shared.dropped.fetch_add(1, Ordering::Relaxed);
        if let Some(messages) = self.0.count() {
            warn!(peer = %shared.peer.peer, messages, "dropped an incoming message: {invalid}");
        }
    }
}
