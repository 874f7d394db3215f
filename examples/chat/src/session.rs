//! Session: the process of a client's WebSocket.

use std::sync::Arc;
use std::time::Duration;

use axum::Error;
use axum::extract::ws::{Message as Frame, close_code};
use purlin::server::ServerRef;
use purlin::{Down, Message, Process};
use purlin_axum::Socket;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::room::{ROOMS, Room, RoomClient, Rooms};
use crate::storage::Line;

/// Largest text of a line, in bytes.
const MAX_TEXT: usize = 2000;
/// Pause before a room that cannot be joined is tried again, and the number of attempts.
const PAUSE: Duration = Duration::from_millis(50);
const ATTEMPTS: u32 = 200;

/// Message of a session.
#[derive(Message)]
pub enum Delivery {
    /// A line of the room.
    Line(Arc<Line>),
    /// The room has ended.
    #[from]
    Down(Down),
}

/// A client's line. The answer has the same `id`.
#[derive(Deserialize)]
struct Said {
    id: u64,
    text: String,
}

/// Room and author of a session, and its position in the journal.
pub(crate) struct Visit {
    pub(crate) room: String,
    pub(crate) who: String,
    /// Number of the last line that the client knows.
    pub(crate) after: u64,
}

/// Process function. Sends `{"line": …}` for each line of the room, and answers each line of the
/// client with `{"ack": id, "number": …}` or `{"nack": id, "error": …}`.
pub(crate) async fn session(
    mut me: Process<Delivery>,
    mut socket: Socket,
    mut visit: Visit,
) -> Result<(), Error> {
    let Some(mut room) = join(&mut me, &mut socket, &mut visit).await? else {
        socket.close(close_code::AGAIN, "the room cannot be joined: try again later").await;
        return Ok(());
    };
    loop {
        tokio::select! {
            delivery = me.receive() => match delivery {
                Delivery::Line(line) => send_line(&mut socket, &mut visit, &line).await?,
                Delivery::Down(_) => match join(&mut me, &mut socket, &mut visit).await? {
                    Some(next) => room = next,
                    None => {
                        socket.close(close_code::AGAIN, "the room has ended: try again later").await;
                        return Ok(());
                    }
                },
            },
            frame = socket.recv() => match frame.transpose()? {
                Some(Frame::Text(text)) => {
                    let answer = say(&room, &visit.who, &text).await;
                    send(&mut socket, &answer).await?;
                }
                Some(_) => {}
                None => return Ok(()),
            },
        }
    }
}

/// Joins the room, which is started if it does not run, and sends the lines that the client does not
/// know. Returns `None` if the room cannot be joined.
async fn join(
    me: &mut Process<Delivery>,
    socket: &mut Socket,
    visit: &mut Visit,
) -> Result<Option<ServerRef<Room>>, Error> {
    for _ in 0..ATTEMPTS {
        if let Ok(rooms) = Rooms::whereis(ROOMS)
            && let Ok(room) = rooms.find_or_start(&visit.room, visit.room.clone()).await
            && let Ok(Some(lines)) = room.join(me.pid(), visit.after).await
        {
            me.monitor(room.pid());
            for line in &lines {
                send_line(socket, visit, line).await?;
            }
            return Ok(Some(room));
        }
        sleep(PAUSE).await;
    }
    Ok(None)
}

/// Sends a line, unless the client has it: a line can be both in the mailbox and in the history.
async fn send_line(socket: &mut Socket, visit: &mut Visit, line: &Line) -> Result<(), Error> {
    if line.number <= visit.after {
        return Ok(());
    }
    visit.after = line.number;
    send(socket, &json!({ "line": line })).await
}

async fn send(socket: &mut Socket, value: &Value) -> Result<(), Error> {
    socket.send(Frame::Text(value.to_string().into())).await
}

/// Passes a client's line to the room. Returns the answer.
async fn say(room: &ServerRef<Room>, who: &str, frame: &str) -> Value {
    let Ok(Said { id, text }) = serde_json::from_str(frame) else {
        return json!({ "error": "send {\"id\": NUMBER, \"text\": TEXT}" });
    };
    if text.is_empty() || text.len() > MAX_TEXT {
        return json!({ "nack": id, "error": format!("a line has 1 to {MAX_TEXT} bytes") });
    }
    match room.say(who.to_owned(), text).await {
        Ok(Some(number)) => json!({ "ack": id, "number": number }),
        // The line may be in the journal all the same.
        Ok(None) | Err(_) => json!({ "nack": id, "error": "not confirmed: send it again" }),
    }
}
