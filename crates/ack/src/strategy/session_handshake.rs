//! Start of a connection of `best`: session handshake on the server side.
//!
//! The first message decides whether the connection has a session. Opening a session ends the
//! earlier connections of the same client; the answer contains the client's position. If the
//! session is refused, the client gets the reason and the connection ends. If an earlier connection
//! cannot be killed because its handler computes without awaiting, the answer is that the server is
//! busy.

use std::sync::Arc;

use super::handle_batch::missing_bytes;
use crate::connection::close_reason::CloseReason;
use crate::connection::reader::{Amount, Reader};
use crate::connection::sessions::Presence;
use crate::connection::shared::Shared;
use crate::handler::{Handler, Session, Stored};
use crate::wire::SizeOrder;
use crate::wire::frames::Frames;
use crate::wire::read_buffer::ReadBuffer;
use crate::wire::session::{Answer, Level, Opened, Opening, Status};

/// A session on this connection.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) session: Session,
    pub(super) level: Level,
    /// All messages up to this one have been answered.
    pub(super) newest: Option<u64>,
    _presence: Presence,
}

/// Waits for the first message, and consumes it if it opens a session.
pub(super) async fn first<H: Handler>(
    reader: &mut Reader,
    buffer: &mut ReadBuffer,
    handler: &mut H,
    shared: &Arc<Shared>,
) -> Result<Option<Handshake>, CloseReason> {
    loop {
        let missing = missing_bytes(buffer.waiting(), shared)?;
        if missing == 0 {
            break;
        }
        reader.fill(buffer, missing, Amount::Available).await?;
    }
    reader.heard();
    let mut frames = Frames::new(buffer.waiting(), SizeOrder::Little, shared.limits.largest);
    let asked = frames.next().map(|first| Opening::of(&first));
    let used = frames.used();
    match asked {
        None | Some(Ok(None)) => Ok(None),
        Some(Err(bad)) => refuse(reader, bad.status()).await,
        Some(Ok(Some(opening))) => {
            buffer.consume(used);
            open(reader, opening, handler, shared).await.map(Some)
        }
    }
}

async fn refuse<T>(reader: &mut Reader, status: Status) -> Result<T, CloseReason> {
    reader.write(&Answer::Refused(status).to_bytes()).await?;
    Err(CloseReason::NoSession(status))
}

async fn open<H: Handler>(
    reader: &mut Reader,
    opening: Opening,
    handler: &mut H,
    shared: &Arc<Shared>,
) -> Result<Handshake, CloseReason> {
    let Opening { client, epoch, level } = opening;
    let session = Session { client, epoch };
    if level > handler.offers() {
        return refuse(reader, Status::LEVEL).await;
    }
    // WHY checked before the other connections are ended: a stale client must not end a newer one.
    let stale = shared.sessions.table().open(client, epoch).is_err();
    if stale {
        return refuse(reader, Status::STALE).await;
    }
    let (presence, others) = shared.sessions.enter(client, reader.process().pid());
    if !others.is_empty() && !reader.replace(&others, shared.limits.drain).await {
        return refuse(reader, Status::BUSY).await;
    }
    let Ok(stored) = handler.stored(client).await else {
        return refuse(reader, Status::BUSY).await;
    };
    let known = {
        let mut remembered = shared.sessions.table();
        if let Some(Stored { epoch, newest, refused }) = stored
            && remembered.open(client, epoch).is_ok()
        {
            for refusal in refused {
                remembered.refused(client, epoch, refusal);
            }
            remembered.acked(client, epoch, newest);
        }
        remembered.open(client, epoch)
    };
    let Ok(known) = known else { return refuse(reader, Status::STALE).await };
    let answer = Answer::Opened(Opened {
        newest: known.newest,
        window: shared.limits.window(),
        largest: shared.limits.largest,
        refused: known.refused,
    });
    reader.write(&answer.to_bytes()).await?;
    Ok(Handshake { session, level, newest: known.newest, _presence: presence })
}
