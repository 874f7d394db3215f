//! Start of a connection of `best`: session handshake on the server side.
//!
//! The first message decides whether the connection has a session. Opening a session ends the
//! earlier connection of the same client; the answer contains the client's position. If the session
//! is refused, the client gets the reason and the connection ends. The answer is that the server is
//! busy if the earlier connection cannot be killed because its handler computes without awaiting,
//! or if a newer connection of the client arrives while this one waits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::connection::close_reason::CloseReason;
use crate::connection::event_log::Event;
use crate::connection::reader::{Amount, Reader};
use crate::connection::session_table::SessionTable;
use crate::connection::sessions::{Presence, Wait};
use crate::connection::shared::Shared;
use crate::connection::timeout::now;
use crate::handler::{Handler, Session, Stored};
use crate::wire::frames::Frames;
use crate::wire::read_buffer::ReadBuffer;
use crate::wire::session::{Answer, Level, OPENING, Opened, Opening, Status};
use crate::wire::{HEAD, Id, SizeOrder};

/// A session on this connection.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) session: Session,
    pub(super) level: Level,
    /// Address of the client, for the log.
    pub(super) peer: SocketAddr,
    /// All messages up to this one have been answered.
    pub(super) newest: Option<u64>,
    /// Whether the session table is full because of refusals: the connection must end.
    pub(super) over_budget: bool,
    _presence: Presence,
}

/// Waits for the first message, and consumes it if it opens a session. Without a session the
/// handler must offer the level of the server.
pub(super) async fn first<H: Handler>(
    reader: &mut Reader,
    buffer: &mut ReadBuffer,
    handler: &mut H,
    shared: &Arc<Shared>,
) -> Result<Option<Handshake>, CloseReason> {
    let mut frames = loop {
        let waiting = buffer.waiting();
        let frames = Frames::new(waiting, SizeOrder::Little, largest_first(waiting, shared));
        match frames.needed()? {
            0 => break frames,
            missing => reader.fill(buffer, missing, Amount::Available).await?,
        }
    };
    reader.message_completed();
    let asked = frames.next().map(|first| Opening::of(&first));
    let used = frames.used();
    match asked {
        None | Some(Ok(None)) => {
            let (level, offers) = (shared.level, handler.offers());
            if level > offers { Err(CloseReason::NotOffered { level, offers }) } else { Ok(None) }
        }
        Some(Err(bad)) => refuse(reader, bad.status()).await,
        Some(Ok(Some(opening))) => {
            buffer.consume(used);
            open(reader, opening, handler, shared).await.map(Some)
        }
    }
}

/// Returns the largest payload of the first message. The limit for messages does not apply to an
/// opening.
fn largest_first(waiting: &[u8], shared: &Shared) -> u32 {
    const OPENING_PAYLOAD: u32 = (OPENING - HEAD) as u32;
    let largest = shared.limits.largest;
    match waiting.first_chunk() {
        Some(id) if Opening::is_name(Id(*id)) => largest.max(OPENING_PAYLOAD),
        _ => largest,
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
    if epoch > latest_epoch(SystemTime::now()) {
        return refuse(reader, Status::EPOCH).await;
    }
    let peer = reader.socket().peer().map_err(CloseReason::lost)?;
    let certificate = reader.socket().certificate();
    let admitted = |table: &SessionTable| {
        if !table.belongs_to(client, certificate.as_ref()) {
            return Err(Status::NOT_ALLOWED);
        }
        table.check(client, epoch).map_err(|_stale| Status::STALE)
    };
    // WHY checked before the other connection is asked to end: a stale client must not end a newer
    // one.
    if let Err(status) = shared.sessions.table(|table| admitted(table)) {
        return refuse(reader, status).await;
    }
    let (presence, wait) = shared.sessions.enter(client, reader.process().pid(), now());
    if let Some(wait) = wait
        && !becomes_holder(reader, &presence, wait, peer, shared).await
    {
        return refuse(reader, Status::BUSY).await;
    }
    let Ok(stored) = handler.stored(client).await else {
        return refuse(reader, Status::BUSY).await;
    };
    let known = shared.sessions.table(|table| {
        admitted(table)?;
        let stale = |_| Status::STALE;
        table.open_with(client, epoch, certificate).map_err(stale)?;
        if let Some(Stored { epoch, newest, refused }) = stored {
            for refusal in refused {
                table.refused(client, epoch, refusal);
            }
            table.acked(client, epoch, newest);
        }
        // WHY again: the stored position may be of a later epoch.
        table.check(client, epoch).map_err(stale)?;
        Ok(table.known(client, epoch))
    });
    let known = match known {
        Ok(known) => known,
        Err(status) => return refuse(reader, status).await,
    };
    if known.newest.is_some() {
        reader.idle().has_session();
    }
    let answer = Answer::Opened(Opened {
        newest: known.newest,
        window: shared.limits.window(),
        largest: shared.limits.largest,
        refused: known.refused,
    });
    reader.write(&answer.to_bytes()).await?;
    let newest = known.newest;
    Ok(Handshake { session, level, peer, newest, over_budget: false, _presence: presence })
}

/// Waits until the client's older connection has ended, and kills it after the shutdown timeout.
/// Returns `false` if it does not end within twice that time, or if a newer connection displaces
/// this one.
async fn becomes_holder(
    reader: &mut Reader,
    presence: &Presence,
    wait: Wait,
    peer: SocketAddr,
    shared: &Shared,
) -> bool {
    let (Wait { mut turn, asked_at }, drain) = (wait, shared.limits.drain);
    let kill_at = asked_at.saturating_add(drain);
    if let Some(turn) = reader.within(kill_at.saturating_sub(now()), &mut turn).await {
        return turn.is_ok();
    }
    if presence.kill_holder() {
        let what = "killed the older connection of a session, whose handler has not finished";
        shared.counters.events.log(Event::HandlerKilled, &peer, &what);
    }
    // WHY a second timeout: a handler that never awaits would block this connection forever.
    let give_up_at = kill_at.saturating_add(drain);
    let turn = reader.within(give_up_at.saturating_sub(now()), turn).await;
    turn.is_some_and(|turn| turn.is_ok())
}

/// Returns the latest acceptable epoch at this time of day: one day ahead, in nanoseconds.
///
/// WHY a limit: otherwise a client with a wrong clock, or a stranger that knows the client's id,
/// could set an epoch that no restart of the client exceeds.
fn latest_epoch(time: SystemTime) -> u64 {
    const DAY: Duration = Duration::from_secs(86_400);
    /// WHY: a machine without a battery-backed clock starts in 1970, and must not refuse clients
    /// whose clocks are right.
    const CLOCK_IS_SET: Duration = Duration::from_secs(1_700_000_000);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    if since < CLOCK_IS_SET {
        return u64::MAX - 1;
    }
    let latest = since.saturating_add(DAY).as_nanos();
    u64::try_from(latest).unwrap_or(u64::MAX).min(u64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoch_may_be_one_day_ahead_of_a_clock_that_is_set() {
        let at = |seconds| latest_epoch(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(1_800_000_000), 1_800_086_400_000_000_000);
        assert_eq!(at(1_000_000), u64::MAX - 1);
        assert_eq!(at(u64::from(u32::MAX) * 9), u64::MAX - 1);
    }
}
