//! Binary encoding of programs sent to the BEAM and of outcomes sent back: four bytes per step,
//! four per observation.
//!
//! The counterparts are `erlang/differential_process.erl`, `erlang/differential_log.erl` and
//! `erlang/differential_code.erl`. Decoding arbitrary bytes returns an outcome or `None`.

use crate::language::{After, By, How, Op, Pattern, Program, Reason};
use crate::outcome::{End, Item, Outcome, Seen, Trace, Watched};

/// Code for "no process", where a process is expected.
const NOBODY: u8 = u8::MAX;

/// Encodes a program; `seed` decides where its processes yield.
pub(crate) fn encode(program: &Program, seed: u32) -> Vec<u8> {
    let mut bytes = seed.to_be_bytes().to_vec();
    bytes.extend([program.bases, program.scripts.len() as u8]);
    for script in &program.scripts {
        bytes.extend((script.len() as u16).to_be_bytes());
        script.iter().for_each(|op| bytes.extend(step(op)));
    }
    bytes
}

fn step(op: &Op) -> [u8; 4] {
    match *op {
        Op::Spawn(child, How::Plain) => [1, child, 0, 0],
        Op::Spawn(child, How::Link) => [1, child, 1, 0],
        Op::Spawn(child, How::Monitor(slot)) => [1, child, 2, slot],
        Op::Send(to, tag) => [2, to, tag, 0],
        Op::SendName(name, tag) => [3, name, tag, 0],
        Op::Receive(pattern, after) => {
            let (pattern, argument) = match pattern {
                Pattern::Any => (0, 0),
                Pattern::Tag(tag) => (1, tag),
                Pattern::Request => (2, 0),
                Pattern::Down => (3, 0),
                Pattern::DownOf(slot) => (4, slot),
                Pattern::Exit => (5, 0),
            };
            let after = match after {
                After::Never => 0,
                After::Zero => 1,
                After::Idle => 2,
            };
            [4, pattern, argument, after]
        }
        Op::Link(to) => [5, to, 0, 0],
        Op::Unlink(to) => [6, to, 0, 0],
        Op::Monitor(to, slot) => [7, to, slot, 0],
        Op::MonitorName(name, slot) => [8, name, slot, 0],
        Op::Demonitor(slot, flush) => [9, slot, flush.into(), 0],
        Op::ExitSelf(reason) => [10, reason as u8, 0, 0],
        Op::Crash => [11, 0, 0, 0],
        Op::Exit(to, reason) => [12, to, reason as u8, 0],
        Op::Trap(on) => [13, on.into(), 0, 0],
        Op::Register(name, who) => [14, name, who, 0],
        Op::Unregister(name) => [15, name, 0, 0],
        Op::Whereis(name) => [16, name, 0, 0],
        Op::Call(to, tag) => [17, to, tag, 0],
        Op::Reply(tag) => [18, tag, 0, 0],
        Op::Park => [19, 0, 0, 0],
        Op::Cut(By::Wire) => [20, 0, 0, 0],
        Op::Cut(By::Node) => [20, 1, 0, 0],
    }
}

/// Decodes the outcome of a program with this number of processes; returns `None` if `bytes` is not
/// a valid encoding.
pub fn decode(bytes: &[u8], processes: usize) -> Option<Outcome> {
    let mut reader = Reader(bytes);
    let traces = (0..processes).map(|_| reader.trace()).collect::<Option<_>>()?;
    reader.0.is_empty().then_some(Outcome(traces))
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn trace(&mut self) -> Option<Trace> {
        let log = self.many(seen)?;
        let end = match self.take()? {
            [0] => End::Unborn,
            [1] => End::Ended(reason(self.take::<1>()?[0])?),
            [2] => End::Waits(self.many(item)?),
            _ => return None,
        };
        Some(Trace { log, end })
    }

    fn many<T>(&mut self, one: fn([u8; 4]) -> Option<T>) -> Option<Vec<T>> {
        let count = u16::from_be_bytes(self.take()?);
        (0..count).map(|_| one(self.take()?)).collect()
    }
}

fn seen(bytes: [u8; 4]) -> Option<Seen> {
    Some(match bytes {
        [6, ..] => Seen::Nothing,
        [7, done, ..] => Seen::Registered(done == 1),
        [8, done, ..] => Seen::Unregistered(done == 1),
        [9, who, ..] => Seen::Whereis((who != NOBODY).then_some(who)),
        [10, done, ..] => Seen::SentByName(done == 1),
        [11, there, ..] => Seen::Demonitored(there == 1),
        [12, tag, ..] => Seen::Answer(tag),
        [13, why, ..] => Seen::Failed(reason(why)?),
        [14, ..] => Seen::Refused,
        other => Seen::Got(item(other)?),
    })
}

fn item(bytes: [u8; 4]) -> Option<Item> {
    Some(match bytes {
        [1, from, tag, _] => Item::Message(from, tag),
        [2, from, tag, _] => Item::Request(from, tag),
        [3, slot, who, why] => Item::Down(slot, Watched::Process(who), reason(why)?),
        [4, slot, name, why] => Item::Down(slot, Watched::Name(name), reason(why)?),
        [5, from, why, _] => Item::Exit(from, reason(why)?),
        _ => return None,
    })
}

/// Returns the reason with this code.
pub(crate) fn reason(code: u8) -> Option<Reason> {
    Reason::ALL.get(usize::from(code)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_reason_is_its_index() {
        for (code, known) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(known as u8), code);
        }
    }

    #[test]
    fn an_outcome_encoded_by_erlang_is_decoded() {
        let bytes = [0, 1, 5, 1, 6, 0, 1, 0, 0, 0, 2, 0, 1, 1, 0, 2, 0];
        let log = vec![Seen::Got(Item::Exit(1, Reason::Boom))];
        let ended = Trace { log, end: End::Ended(Reason::Normal) };
        let waits = Trace { log: vec![], end: End::Waits(vec![Item::Message(0, 2)]) };
        assert_eq!(decode(&bytes, 2), Some(Outcome(vec![ended, waits])));
    }

    proptest::proptest! {
        #[test]
        fn decoding_arbitrary_bytes_does_not_panic(bytes: Vec<u8>, processes in 0..6_usize) {
            let _ = decode(&bytes, processes);
        }
    }
}
