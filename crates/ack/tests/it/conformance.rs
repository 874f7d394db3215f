//! Conformance: each strategy against `docs/ack/protocol.md`, for any split of the bytes, over TCP
//! and TLS.

use std::io::Write as _;

use crate::common::over::{Wire, cases};
use crate::common::{
    Client, Recorder, counting, for_each_at_once, message, payload, rest, start, start_with,
    untimed,
};
use purlin_ack::frames::Frames;
use purlin_ack::handler::Count;
use purlin_ack::server::Limits;
use purlin_ack::strategy::Strategy;
use purlin_ack::wire::{ACK, Ack, HEAD, Id, REPLY};

/// Payload lengths, including the limit.
const LENGTHS: [usize; 9] = [0, 1, 5, 99, 100, 101, 65_535, 65_536, LIMIT];
/// More than any strategy reads at a time.
const LIMIT: usize = 300_000;

/// Positions at which a message of that length is split: every byte, except inside a large payload.
fn cuts(length: usize) -> impl Iterator<Item = usize> {
    let end = HEAD + length;
    (0..=end).filter(move |cut| {
        length <= 100 || *cut <= HEAD + 2 || end - cut <= 2 || cut % (64 << 10) == 0
    })
}

#[test]
fn a_message_split_at_any_byte_is_acknowledged_once() {
    for_each_at_once(cases(), |case| {
        let limits = Limits { largest: LIMIT as u32, ..untimed() };
        let server = start(case.builder().limits(limits));
        let mut client = Client::connect(server.address(), case);
        let mut id = 0;
        // A head without payload, a head whose payload is read together with it, and a payload that
        // takes several reads.
        // WHY not over TLS: TLS splits large messages into records, wherever the client splits
        // them.
        for length in [0, 5, LIMIT].into_iter().filter(|length| !case.tls || *length < LIMIT) {
            for cut in cuts(length) {
                let (one, two) = (
                    message(id, b"first", client.order),
                    message(id + 1, &payload(id + 1, length), client.order),
                );
                // The first part is sent with a whole message, whose ack shows that it was read.
                client.send(&[&one[..], &two[..cut]].concat());
                if cut < two.len() {
                    client.until(id);
                }
                client.send(&two[cut..]);
                client.until(id + 1);
                id += 2;
            }
        }
        drop(client);
        assert_eq!(server.drain().messages, id, "{case}");
    });
}

#[test]
fn message_sent_byte_by_byte_is_acknowledged() {
    for_each_at_once(cases(), |case| {
        let server = counting(case);
        let mut client = Client::connect(server.address(), case);
        for byte in message(0, &payload(0, 100), client.order) {
            client.send(&[byte]);
        }
        client.until(0);
        drop(client);
        server.drain();
    });
}

#[test]
fn payloads_of_any_length_arrive_unchanged() {
    for_each_at_once(cases(), |case| {
        let recorder = Recorder::default();
        let limits = Limits { largest: LIMIT as u32, ..untimed() };
        let server = start_with(case.builder().limits(limits), &recorder);
        let mut client = Client::connect(server.address(), case);
        // Twice, so that each length appears before and after others.
        let sent: Vec<_> =
            (0..).zip(LENGTHS.repeat(2)).map(|(id, length)| (id, payload(id, length))).collect();
        let stream: Vec<u8> =
            sent.iter().flat_map(|(id, bytes)| message(*id, bytes, client.order)).collect();
        client.send(&stream);
        client.until(sent.len() as u64 - 1);
        assert!(recorder.0.take() == sent, "{case}: what came is not what was sent");
        drop(client);
        server.drain();
    });
}

#[test]
fn many_messages_in_one_segment_are_all_acknowledged() {
    const MANY: u64 = 3000;
    for_each_at_once(cases(), |case| {
        let recorder = Recorder::default();
        let server = start_with(case.builder(), &recorder);
        let mut client = Client::connect(server.address(), case);
        for first in (0..MANY).step_by(1000) {
            let order = client.order;
            let segment: Vec<u8> =
                (first..first + 1000).flat_map(|id| message(id, b"hello", order)).collect();
            client.send(&segment);
        }
        client.until(MANY - 1);
        assert_eq!(recorder.0.ids(), (0..MANY).collect::<Vec<_>>(), "{case}");
        drop(client);
        let counts = server.drain();
        assert_eq!(counts.messages, MANY);
        if case.strategy == Strategy::RequestReply {
            assert_eq!(counts.acks, MANY);
        }
    });
}

#[test]
fn message_over_the_limit_closes_the_connection_after_earlier_acks() {
    for_each_at_once(cases(), |case| {
        let limits = Limits { largest: 100, ..untimed() };
        let server = start(case.builder().limits(limits));
        let mut client = Client::connect(server.address(), case);
        let order = client.order;
        let stream = [
            message(0, &payload(0, 100), order),
            message(1, b"", order),
            message(2, &payload(2, 101), order),
            message(3, b"behind", order),
        ];
        client.send(&stream.concat());
        assert_eq!(client.until_closed(), Some(1), "{case}");
        drop(client);
        server.until("it is counted", |counts| counts.too_large == 1 && counts.connections == 0);
        assert_eq!(server.drain().messages, 2);
    });
}

#[test]
fn garbage_closes_the_connection_without_acks() {
    for_each_at_once(cases(), |case| {
        let server = counting(case);
        let mut client = Client::connect(server.address(), case);
        client.send(&[0xff; 4096]);
        assert_eq!(client.until_closed(), None, "{case}");
        drop(client);
        server.until("it is counted", |counts| counts.too_large == 1);
        server.drain();
    });
}

#[test]
fn size_over_the_limit_is_detected_for_any_split_of_the_head() {
    for_each_at_once(cases(), |case| {
        let limits = Limits { largest: 100, ..untimed() };
        let server = start(case.builder().limits(limits));
        for cut in 0..HEAD {
            let mut client = Client::connect(server.address(), case);
            let (one, two) =
                (message(0, b"first", client.order), message(1, &payload(1, 101), client.order));
            client.send(&[&one[..], &two[..cut]].concat());
            client.until(0);
            // The error must not depend on bytes after the head.
            client.send(&two[cut..HEAD]);
            assert_eq!(client.until_closed(), Some(0), "{case}");
        }
        server.until("they are counted", |counts| counts.too_large == HEAD as u64);
        server.drain();
    });
}

#[test]
fn only_whole_messages_of_any_bytes_are_acknowledged() {
    for_each_at_once(cases(), |case| {
        let mut chance = fastrand::Rng::with_seed(6);
        let limits = Limits { largest: 1000, ..untimed() };
        let server = start(case.builder().limits(limits));
        for _ in 0..30 {
            // Some messages, then random bytes, some of which may look like messages.
            let mut bytes = Vec::new();
            for id in 0..chance.u64(..5) {
                let length = chance.usize(..1000);
                bytes.extend(message(id, &payload(id, length), case.strategy.order()));
            }
            let most = chance.u8(1..);
            bytes.extend((0..chance.usize(..5000)).map(|_| chance.u8(..most)));
            let mut frames = Frames::new(&bytes, case.strategy.order(), 1000);
            let ids: Vec<Id> = frames.by_ref().map(|frame| frame.id).collect();

            let mut stream = Wire::connect(server.address(), case.tls);
            // The server may close before everything is written.
            let _ = stream.write_all(&bytes);
            let _ = stream.finish();
            let received = rest(&mut stream);
            let received: Vec<(Id, u64)> = match case.strategy {
                Strategy::RequestReply => {
                    received.as_chunks::<REPLY>().0.iter().map(|reply| (Id(*reply), 1)).collect()
                }
                _ => received
                    .as_chunks::<ACK>()
                    .0
                    .iter()
                    .map(|ack| Ack::from_bytes(*ack))
                    .map(|Ack { id, skipped }| (id, u64::from(skipped) + 1))
                    .collect(),
            };
            let mut count = 0;
            for (id, more) in received {
                count += more;
                assert_eq!(Some(&id), ids.get(count as usize - 1), "{case}: {bytes:?}");
            }
            assert_eq!(count, ids.len() as u64, "{case}: {bytes:?}");
        }
        server.drain();
    });
}

#[test]
fn half_close_is_answered_and_incomplete_message_is_dropped() {
    for_each_at_once(cases(), |case| {
        let recorder = Recorder::default();
        let server = start_with(case.builder(), &recorder);
        let mut client = Client::connect(server.address(), case);
        let order = client.order;
        let cut = message(2, b"incomplete", order);
        let whole = [message(0, b"a", order), message(1, b"b", order)].concat();
        client.send(&[&whole[..], &cut[..cut.len() - 1]].concat());
        client.stream.finish().expect("it is connected");
        assert_eq!(client.until_closed(), Some(1), "{case}");
        drop(client);
        assert_eq!(recorder.0.ids(), [0, 1]);
        server.drain();
    });
}

#[test]
fn ids_are_echoed_unchanged() {
    for_each_at_once(cases(), |case| {
        let server = counting(case);
        let mut client = Client::connect(server.address(), case);
        let mut bytes = message(0, b"hello", client.order);
        bytes[..8].copy_from_slice(b"anything");
        client.send(&bytes);
        client.stream.finish().expect("it is connected");
        let answer = match case.strategy {
            Strategy::RequestReply => &b"anything"[..],
            _ => b"anything\0\0\0\0",
        };
        assert_eq!(rest(&mut client.stream), answer, "{case}");
        server.drain();
    });
}

#[test]
fn connection_without_data_closes_without_answers() {
    for_each_at_once(cases(), |case| {
        let server = start(case.builder().handler(|_| Count));
        let mut client = Client::connect(server.address(), case);
        client.stream.finish().expect("it is connected");
        assert_eq!(client.until_closed(), None);
        drop(client);
        assert_eq!(server.drain().messages, 0);
    });
}
