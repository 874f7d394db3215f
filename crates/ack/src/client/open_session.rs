//! Session handshake on a new connection, client side.
//!
//! Runs before anything else is written. Reads exactly the bytes of the answer. The caller sets the
//! timeout.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::error::{ConnectError, Lost};
use crate::wire::frames::Frame;
use crate::wire::session::{Answer, BadAnswer, Opened, Opening, Status};
use crate::wire::{HEAD, Head, LARGEST, SizeOrder};

/// Requests a session and waits for the answer.
pub(crate) async fn open<S>(stream: &mut S, opening: &Opening) -> Result<Opened, ConnectError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(&opening.to_bytes()).await.map_err(Lost::Io)?;
    stream.flush().await.map_err(Lost::Io)?;
    let mut head = [0; HEAD];
    stream.read_exact(&mut head).await.map_err(ended)?;
    let Head { id, size } = Head::from_bytes(head, SizeOrder::Little);
    if size > LARGEST {
        return Err(Lost::BadAnswer(BadAnswer::Size(size as usize)).into());
    }
    let mut payload = vec![0; size as usize];
    stream.read_exact(&mut payload).await.map_err(ended)?;
    match Answer::of(&Frame { id, payload: &payload }).map_err(Lost::BadAnswer)? {
        Answer::Opened(opened) => Ok(opened),
        Answer::Refused(status) if is_final(status) => Err(ConnectError::Refused(status)),
        Answer::Refused(status) => Err(Lost::Busy(status).into()),
    }
}

/// Whether a retry with the same opening cannot succeed.
fn is_final(status: Status) -> bool {
    [
        Status::VERSION,
        Status::MALFORMED,
        Status::LEVEL,
        Status::STALE,
        Status::NOT_ALLOWED,
        Status::EPOCH,
    ]
    .contains(&status)
}

fn ended(error: std::io::Error) -> Lost {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Lost::Ended,
        _ => Lost::Io(error),
    }
}
