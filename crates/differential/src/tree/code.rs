//! Binary encoding of trees sent to the BEAM and of events sent back.
//!
//! The counterpart is `erlang/differential_tree.erl`. Decoding arbitrary bytes returns events or
//! `None`.

use super::{Answer, Event, Order, Supervisor, Tree};
use crate::code::reason;

/// Encodes a tree and its orders.
pub(crate) fn encode(tree: &Tree) -> Vec<u8> {
    let mut bytes = vec![tree.orders.len() as u8];
    for order in &tree.orders {
        bytes.extend(match *order {
            Order::End(id, reason) => [1, id, reason as u8, 0],
            Order::Kill(id) => [2, id, 0, 0],
            Order::Fail(id, starts) => [3, id, starts, 0],
            Order::Terminate(of, id) => [4, of, id, 0],
            Order::Restart(of, id) => [5, of, id, 0],
            Order::Delete(of, id) => [6, of, id, 0],
            Order::Start(of, id, restart) => [7, of, id, restart as u8],
            Order::Stranger(of) => [8, of, 0, 0],
        });
    }
    supervisor(&tree.top, &mut bytes);
    bytes
}

fn supervisor(of: &Supervisor, bytes: &mut Vec<u8>) {
    let policy = of.auto_shutdown as u8;
    bytes.extend([of.strategy as u8, of.intensity, policy, of.children.len() as u8]);
    for child in &of.children {
        bytes.extend([child.id, child.restart as u8, child.brutal.into()]);
        bytes.extend([child.significant, child.supervises.is_some()].map(u8::from));
        if let Some(supervises) = &child.supervises {
            supervisor(supervises, bytes);
        }
    }
}

/// Decodes the events of a tree; returns `None` if `bytes` is not a valid encoding.
pub fn decode(bytes: &[u8]) -> Option<Vec<Event>> {
    let (events, rest) = bytes.as_chunks::<3>();
    if rest.is_empty() { events.iter().map(event).collect() } else { None }
}

fn event(bytes: &[u8; 3]) -> Option<Event> {
    Some(match *bytes {
        [1, id, _] => Event::Started(id),
        [2, id, _] => Event::Refused(id),
        [3, id, why] => Event::Stopped(id, reason(why)?),
        [4, id, why] => Event::Ended(id, reason(why)?),
        [5, answer, _] => Event::Answered(*Answer::ALL.get(usize::from(answer))?),
        [6, id, runs] => Event::Child(id, runs == 1),
        [7, why, _] => Event::Over(reason(why)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_answer_is_its_index() {
        for (code, answer) in Answer::ALL.into_iter().enumerate() {
            assert_eq!(answer as usize, code);
        }
    }

    proptest::proptest! {
        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }
    }
}
