//! Terms exchanged between the gateway and the target, a process on another node. Pure.
//!
//! | to | term |
//! |---|---|
//! | the target | `{purlin_ack, Gateway, Batch, Follows, Source, [{Id, Payload}]}` |
//! | the gateway | `{purlin_confirm, Batch}` |
//! | the gateway | `{purlin_credit, Messages}` |

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use purlin_ack::frames::Frames;
use purlin_ack::handler::Session;
use purlin_ack::wire::SizeOrder;
use purlin_term::{Binary, Pid, Term};
use serde::ser::SerializeTupleVariant;
use serde::{Serialize, Serializer};

/// A message of the target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TargetMessage {
    /// The target confirms this batch.
    Confirm(u64),
    /// The target accepts this number of unconfirmed messages.
    Credit(u32),
}

/// Parses a message of the target. The error describes what was expected.
pub(super) fn target_message(term: &Term) -> Result<TargetMessage, String> {
    let number = |number: &Term| number.as_integer().and_then(|number| number.try_into().ok());
    let read = match term.as_tuple() {
        Some([tag, batch]) if tag.is_atom("purlin_confirm") => {
            number(batch).map(TargetMessage::Confirm)
        }
        Some([tag, credit]) if tag.is_atom("purlin_credit") => number(credit)
            .map(|credit: u64| TargetMessage::Credit(credit.try_into().unwrap_or(u32::MAX))),
        _ => None,
    };
    read.ok_or_else(|| "it is no {purlin_confirm, Batch} and no {purlin_credit, Messages}".into())
}

/// Messages of one connection. COST: serialized directly from the received bytes.
pub(super) struct Batch {
    /// Pid of the gateway, which receives the confirmation.
    pub(super) gateway: Pid,
    /// Batch number.
    pub(super) number: u64,
    /// Number of the previous batch; 0 for the first since the target was found.
    pub(super) follows: u64,
    pub(super) piece: Piece,
}

/// The part of a block that belongs to a batch.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) source: Arc<Source>,
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) place: Range<usize>,
    pub(super) order: SizeOrder,
}

/// Origin of messages: the connection, and the client's session if there is one.
#[derive(Debug, Serialize)]
pub(super) struct Source {
    connection: u64,
    peer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<Binary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u64>,
}

impl Source {
    pub(super) fn new(connection: u64, peer: SocketAddr, session: Option<Session>) -> Self {
        Self {
            connection,
            peer: peer.to_string(),
            client: session.map(|session| Binary::copy(&session.client)),
            epoch: session.map(|session| session.epoch),
        }
    }
}

impl Piece {
    /// Returns the messages.
    pub(super) fn frames(&self) -> Frames<'_> {
        Frames::new(&self.bytes[self.place.clone()], self.order, u32::MAX)
    }
}

impl Serialize for Batch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple_variant("Batch", 0, "purlin_ack", 5)?;
        tuple.serialize_field(&self.gateway)?;
        tuple.serialize_field(&self.number)?;
        tuple.serialize_field(&self.follows)?;
        tuple.serialize_field(&*self.piece.source)?;
        tuple.serialize_field(&Messages(&self.piece))?;
        tuple.end()
    }
}

/// `[{Id, Payload}]`
struct Messages<'a>(&'a Piece);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages = self.0.frames().map(|frame| (frame.id.number(), Payload(frame.payload)));
        serializer.collect_seq(messages)
    }
}

/// Payload of a message, serialized as a binary.
struct Payload<'a>(&'a [u8]);

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[cfg(test)]
mod tests {
    use purlin_ack::wire::{Head, Id};

    use super::*;

    #[test]
    fn confirm_and_credit_are_parsed_and_all_else_is_refused() {
        let pair = |tag, number: Term| Term::tuple([Term::atom(tag), number]);
        assert_eq!(
            target_message(&pair("purlin_confirm", Term::from(7))),
            Ok(TargetMessage::Confirm(7))
        );
        assert_eq!(
            target_message(&pair("purlin_credit", Term::from(0))),
            Ok(TargetMessage::Credit(0))
        );
        let all = pair("purlin_credit", Term::from(i64::MAX));
        assert_eq!(target_message(&all), Ok(TargetMessage::Credit(u32::MAX)));
        for wrong in [
            pair("purlin_confirm", Term::from(-1)),
            pair("purlin_confirm", Term::atom("all")),
            pair("purlin_thanks", Term::from(1)),
            Term::NIL,
        ] {
            assert!(target_message(&wrong).is_err(), "{wrong}");
        }
    }

    fn batch(session: Option<Session>) -> String {
        let mut bytes = b"before".to_vec();
        for (id, payload) in [(u64::MAX, &b"tea"[..]), (1, b"")] {
            let head = Head { id: Id::from(id), size: payload.len() as u32 };
            bytes.extend(head.to_bytes(SizeOrder::Big));
            bytes.extend(payload);
        }
        let source = Arc::new(Source::new(3, "127.0.0.1:80".parse().unwrap(), session));
        let (place, bytes) = (6..bytes.len(), Arc::new(bytes));
        let piece = Piece { source, bytes, place, order: SizeOrder::Big };
        let node = purlin_term::Atom::from_static("door@127.0.0.1");
        let gateway = Pid { node, id: 9, serial: 0, creation: 1 };
        let batch = Batch { gateway, number: 7, follows: 6, piece };
        purlin_term::to_term(&batch).unwrap().to_string()
    }

    #[test]
    fn a_batch_is_serialized_as_documented() {
        let text = batch(None);
        assert!(text.starts_with("{purlin_ack,<"), "{text}");
        let source = r#"#{connection => 3,peer => <<"127.0.0.1:80">>}"#;
        let messages = r#"[{18446744073709551615,<<"tea">>},{1,<<>>}]"#;
        assert!(text.ends_with(&format!(">,7,6,{source},{messages}}}")), "{text}");
    }

    #[test]
    fn a_source_includes_the_session_if_there_is_one() {
        let session = Session { client: *b"0123456789abcdef", epoch: 2 };
        let text = batch(Some(session));
        assert!(text.contains(r#"client => <<"0123456789abcdef">>"#), "{text}");
        assert!(text.contains("epoch => 2"), "{text}");
    }
}
