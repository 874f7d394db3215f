//! A client of the chat: sends lines until they are acknowledged, and records what it receives.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::support::HANG;

pub(crate) type Any = Box<dyn std::error::Error + Send + Sync>;

/// An acknowledged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acked {
    pub(crate) number: u64,
    pub(crate) room: String,
    pub(crate) who: String,
    pub(crate) text: String,
}

/// A frame of the service.
#[derive(Debug)]
pub(crate) enum Heard {
    Line,
    Ack(u64),
    Nack,
    /// The service closed the connection with this code.
    Closed(u16),
}

pub(crate) struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    room: String,
    who: String,
    next_id: u64,
    /// Numbers of the lines received.
    pub(crate) lines: BTreeSet<u64>,
    pub(crate) acked: Vec<Acked>,
}

impl Client {
    pub(crate) async fn connect(at: SocketAddr, room: &str, who: &str) -> Result<Self, Any> {
        let url = format!("ws://{at}/rooms/{room}?who={who}");
        let (socket, _) = tokio_tungstenite::connect_async(url).await?;
        let (room, who) = (room.to_owned(), who.to_owned());
        Ok(Self { socket, room, who, next_id: 1, lines: BTreeSet::new(), acked: Vec::new() })
    }

    /// Sends a line, again after each negative answer, until it is acknowledged. Returns `false` if
    /// the service has closed the connection.
    pub(crate) async fn say(&mut self, text: &str) -> Result<bool, Any> {
        let id = self.next_id;
        self.next_id += 1;
        loop {
            let frame = json!({ "id": id, "text": text }).to_string();
            // An error of the connection is that of `hear` too.
            let _ = self.socket.send(Message::text(frame)).await;
            loop {
                match self.hear().await? {
                    Heard::Line => {}
                    Heard::Nack => break,
                    Heard::Ack(number) => {
                        let (room, who) = (self.room.clone(), self.who.clone());
                        self.acked.push(Acked { number, room, who, text: text.to_owned() });
                        return Ok(true);
                    }
                    Heard::Closed(code) => {
                        assert_eq!(code, 1001, "the service stops");
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Receives the next frame.
    pub(crate) async fn hear(&mut self) -> Result<Heard, Any> {
        loop {
            let frame =
                timeout(HANG, self.socket.next()).await?.ok_or("ended without a Close frame")?;
            match frame? {
                Message::Text(text) => {
                    let said: Value = serde_json::from_str(&text)?;
                    if let Some(line) = said["line"].as_object() {
                        let number = line["number"].as_u64().ok_or("a line has a number")?;
                        assert!(self.lines.insert(number), "line {number} came twice");
                        return Ok(Heard::Line);
                    }
                    if said["ack"] == self.next_id - 1 {
                        return Ok(Heard::Ack(
                            said["number"].as_u64().ok_or("an ack has a number")?,
                        ));
                    }
                    assert_eq!(said["nack"], self.next_id - 1, "{said}");
                    return Ok(Heard::Nack);
                }
                Message::Close(close) => {
                    let code = close.map_or(CloseCode::Status, |close| close.code);
                    // The closing handshake ends without an error.
                    while let Some(frame) = timeout(HANG, self.socket.next()).await? {
                        frame?;
                    }
                    return Ok(Heard::Closed(code.into()));
                }
                _ => {}
            }
        }
    }

    /// Receives until the client has these lines.
    pub(crate) async fn hear_all(&mut self, lines: &BTreeSet<u64>) -> Result<(), Any> {
        while !lines.is_subset(&self.lines) {
            if let Heard::Closed(code) = self.hear().await? {
                return Err(format!("closed with {code}").into());
            }
        }
        Ok(())
    }
}

/// Checks that the journal has each acknowledged line.
pub(crate) fn assert_journaled(journal: &std::path::Path, acked: &[Acked]) {
    let lines = chat::read(journal).expect("the journal is valid");
    for one in acked {
        let index = usize::try_from(one.number).expect("a small number") - 1;
        let line = lines.get(index).unwrap_or_else(|| panic!("{one:?} is missing"));
        let found = (&line.room, &line.who, &line.text);
        assert_eq!(found, (&one.room, &one.who, &one.text), "line {}", one.number);
    }
}
