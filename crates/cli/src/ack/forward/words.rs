//! What the gateway and the process that it forwards to say to each other, in terms. Pure.
//!
//! | to | term |
//! |---|---|
//! | the process | `{purlin_ack, Gateway, Batch, Follows, Source, [{Id, Payload}]}` |
//! | the gateway | `{purlin_confirm, Batch}` |
//! | the gateway | `{purlin_credit, Messages}` |

use std::net::SocketAddr;

use purlin_ack::frames::Frames;
use purlin_ack::handler::Session;
use purlin_term::{Binary, Term};

/// What the process says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It has this batch.
    Confirm(u64),
    /// It will have so many messages that it has not confirmed.
    Credit(u32),
}

/// Reads what the process says; an error says what it is instead.
pub(super) fn said(term: &Term) -> Result<Said, String> {
    let number = |number: &Term| number.as_integer().and_then(|number| number.try_into().ok());
    let read = match term.as_tuple() {
        Some([tag, batch]) if tag.is_atom("purlin_confirm") => number(batch).map(Said::Confirm),
        Some([tag, credit]) if tag.is_atom("purlin_credit") => {
            number(credit).map(|credit: u64| Said::Credit(credit.try_into().unwrap_or(u32::MAX)))
        }
        _ => None,
    };
    read.ok_or_else(|| "it is no {purlin_confirm, Batch} and no {purlin_credit, Messages}".into())
}

/// Some messages of one connection; `follows` is the batch before it, 0 of the first since somebody was there.
pub(super) fn batch(
    gateway: &Term,
    number: u64,
    follows: u64,
    source: &Term,
    messages: Frames<'_>,
) -> Term {
    let messages = messages.map(|frame| {
        let payload = Term::Binary(Binary::copy(frame.payload));
        Term::tuple([Term::from(frame.id.number()), payload])
    });
    let (tag, messages) = (Term::atom("purlin_ack"), Term::list(messages));
    let [number, follows] = [number, follows].map(Term::from);
    Term::tuple([tag, gateway.clone(), number, follows, source.clone(), messages])
}

/// Where messages come from: a connection, and whose it is if the client has a session.
pub(super) fn source(connection: u64, peer: SocketAddr, session: Option<Session>) -> Term {
    let mut pairs = vec![
        (Term::atom("connection"), Term::from(connection)),
        (Term::atom("peer"), Term::from(peer.to_string().as_str())),
    ];
    if let Some(Session { client, epoch }) = session {
        pairs.push((Term::atom("client"), Term::Binary(Binary::copy(&client))));
        pairs.push((Term::atom("epoch"), Term::from(epoch)));
    }
    Term::map(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_process_says_is_read_and_all_else_is_refused() {
        let pair = |tag, number: Term| Term::tuple([Term::atom(tag), number]);
        assert_eq!(said(&pair("purlin_confirm", Term::from(7))), Ok(Said::Confirm(7)));
        assert_eq!(said(&pair("purlin_credit", Term::from(0))), Ok(Said::Credit(0)));
        let all = pair("purlin_credit", Term::from(i64::MAX));
        assert_eq!(said(&all), Ok(Said::Credit(u32::MAX)));
        for wrong in [
            pair("purlin_confirm", Term::from(-1)),
            pair("purlin_confirm", Term::atom("all")),
            pair("purlin_thanks", Term::from(1)),
            Term::NIL,
        ] {
            assert!(said(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_source_names_a_session_if_there_is_one() {
        let peer = "127.0.0.1:80".parse().unwrap();
        let plain = source(3, peer, None);
        assert_eq!(plain.to_string(), r#"#{connection => 3,peer => <<"127.0.0.1:80">>}"#);
        let session = Session { client: *b"0123456789abcdef", epoch: 2 };
        let named = source(3, peer, Some(session)).to_string();
        assert!(named.contains(r#"client => <<"0123456789abcdef">>"#), "{named}");
        assert!(named.contains("epoch => 2"), "{named}");
    }
}
