//! Reads what the other node says, and hands it over in order.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::yield_now;

use crate::frame::{Broken, Incoming, take_frame};
use crate::link::shared::Shared;
use crate::link::{Ended, Receive};

/// How much is read at a time, at most, unless a frame is larger.
const BLOCK: usize = 64 << 10;
/// How many messages are handed over before those who get them have a turn. WHY so few: their memory is then still
/// at hand, and is used again for the next.
const TURN: u32 = 256;
/// How large a buffer is kept when it is empty.
const KEPT: usize = 4 * BLOCK;

pub(super) async fn run<S: AsyncRead + Unpin, R: Receive>(
    mut stream: S,
    shared: &Shared,
    mut receive: R,
) -> Ended {
    let limits = shared.settings.limits;
    let mut incoming = Incoming::new(limits);
    let mut buffer = BytesMut::new();
    loop {
        // ORDER: relaxed; the ticker reads it now and then, and what it says of a moment ago will do.
        shared.reading.store(true, Ordering::Relaxed);
        if buffer.is_empty() && buffer.capacity() > KEPT {
            buffer = BytesMut::new();
        }
        buffer.reserve(BLOCK);
        match stream.read_buf(&mut buffer).await {
            Ok(0) => return Ended::ByPeer,
            Ok(bytes) => shared.has_read(bytes),
            // WHY: a node that ends does not always say so first to TLS, which would have it.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ended::ByPeer,
            Err(error) => return Ended::Io(error.kind()),
        }
        shared.reading.store(false, Ordering::Relaxed);
        if let Err(broken) = take_all(&mut buffer, &mut incoming, shared, &mut receive).await {
            return Ended::Broken(broken);
        }
        // WHY: they are to receive what came, before there is more of it.
        yield_now().await;
    }
}

async fn take_all<R: Receive>(
    buffer: &mut BytesMut,
    incoming: &mut Incoming,
    shared: &Shared,
    receive: &mut R,
) -> Result<(), Broken> {
    let (mut at, mut turn) = (0, TURN);
    while let Some((frame, used)) = take_frame(&buffer[at..], shared.settings.limits.frame)? {
        if let Some(said) = incoming.take(frame)? {
            let message = said.message();
            match message.and_then(|(to, message)| receive.message(to, message)) {
                Some(taken) => taken?,
                None => {
                    let (control, payload) = said.signal()?;
                    if let Some(pid) = control.speaks_of()
                        && *pid.node.as_str() != *shared.peer.peer.as_str()
                    {
                        return Err(Broken::NotItsOwn(pid.clone()));
                    }
                    receive.signal(control, payload).await?;
                }
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
