use bytes::Buf;
use proptest::prelude::*;
use purlin_term::{Atom, Pid, PidParts, Term, Writer};

use super::*;
use crate::control::Control;
use crate::control::tests::{control, received};
use crate::flags::Flags;

fn pid(id: u32) -> Pid {
    Pid { node: Atom::from_static("a@h"), id, serial: 0, creation: 1 }
}

fn to(id: u32) -> Control {
    Control::SendSender { from: pid(1), to: pid(id), token: None }
}

/// Takes all encoded frames.
fn written(outgoing: &mut Outgoing) -> Vec<u8> {
    let mut frames = Frames::default();
    outgoing.swap(&mut frames);
    frames.copy_to_bytes(frames.remaining()).into()
}

/// Decodes all encoded frames, as the peer would.
fn read(outgoing: &mut Outgoing, incoming: &mut Incoming) -> Vec<Signal> {
    let bytes = written(outgoing);
    let mut rest = &bytes[..];
    let mut signals = Vec::new();
    while let Some((frame, used)) = take_frame(rest, usize::MAX).expect("no limit") {
        signals.extend(take(incoming, frame).expect("a signal"));
        rest = &rest[used..];
    }
    assert!(rest.is_empty());
    signals
}

/// Decodes a frame with its payload.
fn take(incoming: &mut Incoming, frame: &[u8]) -> Result<Option<Signal>, String> {
    let text = |invalid: InvalidMessage| invalid.to_string();
    let Some(frame) = incoming.take(frame).map_err(|broken| broken.to_string())? else {
        return Ok(None);
    };
    let (control, payload) = frame.signal().map_err(text)?;
    let payload = payload.map(Unread::term).transpose().map_err(text)?;
    Ok(Some(Signal { control, payload }))
}

/// The fragments of a payload, without a version byte.
fn portions(payload: &Term, most: usize) -> Vec<Encoded> {
    let mut encoded = Encoded::term(payload).expect("a term");
    let mut portions = Vec::new();
    while !encoded.is_empty() {
        portions.push(encoded.split_to(most));
    }
    portions
}

#[test]
fn message_without_header_is_encoded_as_pass_through() {
    let mut outgoing = Outgoing::new(Flags::REQUIRED);
    let payload = Payload::Term(Term::atom("hi"));
    let control = Control::Send { to: pid(7), token: None };
    assert_eq!(outgoing.put(&control, Some(&payload)), Ok(Size::Small));
    let bytes = written(&mut outgoing);
    let pid = b"\x58\x77\x03a@h\0\0\0\x07\0\0\0\0\0\0\0\x01";
    let due = [&b"\0\0\0\x1f\x70\x83\x68\x03\x61\x02\x77\0"[..], pid, b"\x83\x77\x02hi"].concat();
    assert_eq!(bytes, due);
}

#[test]
fn atom_is_sent_once_and_then_by_its_cache_entry() {
    let mut outgoing = Outgoing::new(Flags::OFFERED);
    let node = Atom::from_static("abc");
    let pid = Pid { node, id: 1, serial: 0, creation: 1 };
    let control = Control::Link { from: pid.clone(), to: pid };
    let mut frames = [Vec::new(), Vec::new()];
    for bytes in &mut frames {
        assert_eq!(outgoing.put(&control, None), Ok(Size::Small));
        *bytes = written(&mut outgoing);
    }
    // Version, header, one atom, its bits: new, with its segment; no long lengths.
    let [first, second] = &frames;
    let body = b"\x68\x03\x61\x01\x58\x52\0\0\0\0\x01\0\0\0\0\0\0\0\x01\x58\x52\0\0\0\0\x01\0\0\0\0\0\0\0\x01";
    assert_eq!(&first[..7], b"\0\0\0\x2b\x83\x44\x01");
    let (bits, slot) = (first[7], first[8]);
    assert_eq!(bits & 0xf8, 0x08);
    assert_eq!(first[9..], [b"\x03abc", &body[..]].concat());
    assert_eq!(&second[..7], b"\0\0\0\x27\x83\x44\x01");
    assert_eq!((second[7], second[8]), (bits & 0x07, slot));
    assert_eq!(&second[9..], body);
}

#[test]
fn a_header_is_read_as_the_protocol_describes_it() {
    // Three new atoms with one-byte lengths: `a`, `b` of segment 1, and `c`, with four bits each, the lower four first;
    // the last four bits state that no length is long.
    let header = b"\x83\x44\x03\x98\x08\x05\x01a\x06\x01b\x07\x01c";
    let body = b"\x68\x04\x61\x06\x67\x52\x00\0\0\0\x01\0\0\0\0\x01\x52\x01\x52\x02\x61\x2a";
    let mut incoming = Incoming::new(Limits::default());
    let signal =
        take(&mut incoming, &[&header[..], body].concat()).expect("a frame").expect("a signal");
    let from = Pid { node: Atom::from_static("a"), id: 1, serial: 0, creation: 1 };
    let control = Control::RegSend { from, to: Atom::from_static("c"), token: None };
    assert_eq!(signal, Signal { control, payload: Some(Term::from(42)) });
    // Once more by cache entry: `b` is entry 6 of segment 1.
    let frame = b"\x83\x44\x01\x01\x06\x68\x03\x61\x01\x52\0\x52\0";
    let malformed = take(&mut incoming, frame);
    assert_eq!(malformed, Err("control message 1: not a pid".to_owned()));
}

#[test]
fn atoms_of_more_than_255_bytes_make_all_lengths_of_a_header_long() {
    let mut outgoing = Outgoing::new(Flags::OFFERED);
    let mut incoming = Incoming::new(Limits::default());
    let long = Term::Atom(Atom::new(&"é".repeat(200)).expect("200 characters"));
    let payload = Term::list([long, Term::atom("short"), Term::atom("")]);
    for _ in 0..2 {
        assert_eq!(outgoing.put(&to(2), Some(&Payload::Term(payload.clone()))), Ok(Size::Small));
        let [signal] = &read(&mut outgoing, &mut incoming)[..] else { panic!("one signal") };
        assert_eq!(signal.payload, Some(payload.clone()));
    }
}

#[test]
fn large_payload_is_fragmented_and_other_frames_may_come_between() {
    let mut outgoing = Outgoing::new(Flags::OFFERED);
    let mut incoming = Incoming::new(Limits::default());
    let large = Term::from(vec![7; 3 * FRAGMENT_SIZE].as_slice());
    let small = Payload::Term(Term::atom("small"));
    assert_eq!(outgoing.put(&to(2), Some(&Payload::Term(large.clone()))), Ok(Size::Large));
    assert_eq!(outgoing.waiting(), 0);
    let portions = portions(&large, FRAGMENT_SIZE);
    let count = portions.len() as u64;
    let sequence = outgoing.first(&to(2), count, portions[0].clone()).expect("a term");
    let other = outgoing.first(&to(3), count, portions[0].clone()).expect("a term");
    for (left, portion) in (1..count).rev().zip(&portions[1..]) {
        assert_eq!(outgoing.put(&to(4), Some(&small)), Ok(Size::Small));
        outgoing.next(sequence, left, portion);
        outgoing.next(other, left, portion);
    }
    let signals = read(&mut outgoing, &mut incoming);
    let order: Vec<_> = signals.iter().map(|signal| signal.control.clone()).collect();
    assert_eq!(order, [to(4), to(4), to(4), to(2), to(3)]);
    assert_eq!(signals[3].payload, Some(large));
}

#[test]
fn atoms_of_the_last_frame_stay_cached_after_a_large_payload_was_refused() {
    let mut outgoing = Outgoing::new(Flags::OFFERED);
    let mut incoming = Incoming::new(Limits::default());
    let large = vec![7; FRAGMENT_SIZE + 1];
    for payload in [Payload::Bytes(&large), Payload::Encoded(large.clone().into())] {
        assert_eq!(outgoing.put(&to(2), Some(&Payload::Term(Term::NIL))), Ok(Size::Small));
        assert_eq!(outgoing.put(&to(3), Some(&payload)), Ok(Size::Large));
        assert_eq!(outgoing.put(&to(4), Some(&Payload::Term(Term::NIL))), Ok(Size::Small));
        let controls = read(&mut outgoing, &mut incoming).into_iter().map(|signal| signal.control);
        assert_eq!(controls.collect::<Vec<_>>(), [to(2), to(4)]);
    }
}

#[test]
fn large_message_is_not_fragmented_for_a_peer_without_the_flag() {
    for flags in [Flags::REQUIRED, Flags::REQUIRED | Flags::DIST_HDR_ATOM_CACHE] {
        let mut outgoing = Outgoing::new(flags);
        let large = Term::from(vec![7; 3 * FRAGMENT_SIZE].as_slice());
        assert_eq!(outgoing.put(&to(2), Some(&Payload::Term(large.clone()))), Ok(Size::Small));
        let [signal] = &read(&mut outgoing, &mut Incoming::new(Limits::default()))[..] else {
            panic!("one signal")
        };
        assert_eq!(signal.payload, Some(large));
    }
}

/// The first of `left` fragments, without atoms.
fn first(sequence: u64, left: u64) -> Vec<u8> {
    let (sequence, left) = (sequence.to_be_bytes(), left.to_be_bytes());
    [b"\x83\x45", &sequence[..], &left, b"\0some"].concat()
}

fn next(sequence: u64, left: u64) -> Vec<u8> {
    [b"\x83\x46", &sequence.to_be_bytes()[..], &left.to_be_bytes(), b"more"].concat()
}

#[test]
fn fragments_out_of_order_are_a_protocol_error() {
    for frames in [
        vec![next(1, 1)],
        vec![first(1, 0)],
        vec![first(1, 3), next(1, 1)],
        vec![first(1, 3), next(1, 3)],
        vec![first(1, 3), first(1, 3)],
    ] {
        let mut incoming = Incoming::new(Limits::default());
        let results: Vec<_> = frames.iter().map(|frame| take(&mut incoming, frame)).collect();
        assert_eq!(results.last(), Some(&Err(Broken::Sequence(1).to_string())), "{frames:?}");
    }
}

#[test]
fn incomplete_messages_are_bounded_in_number_and_bytes() {
    let limits = Limits { sequences: 3, fragments: 20, ..Limits::default() };
    let mut incoming = Incoming::new(limits);
    for sequence in 0..3 {
        assert_eq!(take(&mut incoming, &first(sequence, 9)), Ok(None));
    }
    assert_eq!(take(&mut incoming, &first(3, 9)), Err(Broken::TooManySequences.to_string()));
    assert_eq!(take(&mut incoming, &next(0, 8)), Ok(None));
    assert_eq!(take(&mut incoming, &next(0, 7)), Ok(None));
    assert_eq!(take(&mut incoming, &next(1, 8)), Err(InvalidMessage::TooLarge.to_string()));
    // The other fragments of the dropped message are ignored, and its bytes no longer count.
    for left in (1..8).rev() {
        assert_eq!(take(&mut incoming, &next(1, left)), Ok(None));
    }
    assert_eq!(take(&mut incoming, &next(2, 8)), Ok(None));
}

#[test]
fn control_message_of_an_exit_beyond_the_limit_is_decoded() {
    let limits = Limits { fragments: 2 * FRAGMENT_SIZE, ..Limits::default() };
    let mut incoming = Incoming::new(limits);
    let exit = Control::Exit { from: pid(1), to: pid(2), reason: None, token: None };
    for (control, is_decoded) in [(exit, true), (to(2), false)] {
        let mut whole = Vec::new();
        control.write(&mut Writer::new(&mut whole)).expect("a term");
        whole.resize(4 * FRAGMENT_SIZE, 106);
        let count = whole.len().div_ceil(FRAGMENT_SIZE) as u64;
        let mut decoded = 0;
        for (part, left) in whole.chunks(FRAGMENT_SIZE).zip((1..=count).rev()) {
            let head = if left == count { &first(7, left)[..19] } else { &next(7, left)[..18] };
            let bytes = [head, part].concat();
            let Some(frame) = incoming.take(&bytes).expect("a fragment") else { continue };
            decoded += 1;
            match frame.signal() {
                Ok((received, payload)) => {
                    assert!(is_decoded && received == control);
                    let payload = payload.expect("a payload");
                    assert_eq!(payload.store().unread().term(), Err(InvalidMessage::TooLarge));
                }
                Err(invalid) => assert!(!is_decoded && invalid == InvalidMessage::TooLarge),
            }
        }
        assert_eq!((decoded, incoming.incomplete()), (1, 0));
    }
}

#[test]
fn reassembled_messages_no_longer_count_towards_the_limit() {
    let limits = Limits { fragments: 64, ..Limits::default() };
    let mut incoming = Incoming::new(limits);
    let mut bytes = Vec::new();
    let link = Control::Link { from: pid(1), to: pid(2) };
    link.write(&mut Writer::new(&mut bytes)).expect("a term");
    for sequence in 0..10u64 {
        let head = &first(sequence, 2)[..19];
        assert_eq!(take(&mut incoming, &[head, &bytes].concat()), Ok(None));
        let tail = &next(sequence, 1)[..18];
        assert!(matches!(take(&mut incoming, tail), Ok(Some(_))));
    }
}

#[test]
fn limits_for_terms_apply_to_values() {
    let term = purlin_term::Limits { memory: 100 * size_of::<Term>(), ..Default::default() };
    let mut incoming = Incoming::new(Limits { term, ..Limits::default() });
    let mut value = |elements: usize| {
        let mut outgoing = Outgoing::new(Flags::OFFERED);
        let payload = Payload::Term(Term::list(vec![Term::NIL; elements]));
        assert_eq!(outgoing.put(&to(2), Some(&payload)), Ok(Size::Small));
        let bytes = written(&mut outgoing);
        let received = incoming.take(&bytes[4..]).expect("a frame").expect("a message");
        let (_, message) = received.message().expect("a message");
        message.value::<Vec<Vec<u8>>>()
    };
    assert_eq!(value(80), Ok(vec![Vec::new(); 80]));
    assert!(matches!(value(200), Err(NoValue::Invalid(InvalidMessage::Term(_)))));
}

#[test]
fn evicted_atom_is_sent_again_before_a_template_uses_it() {
    let slot = |text: &str| {
        let mut cache = cache::SendCache::default();
        cache.begin();
        cache.index(&Atom::new(text).expect("a short text"));
        cache.listed().next().map(|(listed, _)| listed.slot)
    };
    let other = (0..).map(|n| format!("n{n}")).find(|text| slot(text) == slot("a@h"));
    let other = Atom::new(&other.expect("there are 2048 slots")).expect("a short text");
    let other = Payload::Term(Term::Atom(other));
    let message = Payload::Bytes(b"\x61\x01");
    let (mut once, mut again) = (Outgoing::new(Flags::OFFERED), Outgoing::new(Flags::OFFERED));
    let mut template = ControlTemplate::new(to(2));
    let elsewhere = Control::Send { to: Pid { node: Atom::EMPTY, ..pid(3) }, token: None };
    for _ in 0..3 {
        for _ in 0..3 {
            assert_eq!(once.put(&to(2), Some(&message)), Ok(Size::Small));
            assert_eq!(again.put(&mut template, Some(&message)), Ok(Size::Small));
        }
        for outgoing in [&mut once, &mut again] {
            assert_eq!(outgoing.put(&elsewhere, Some(&other)), Ok(Size::Small));
        }
    }
    let (expected, bytes) = (written(&mut once), written(&mut again));
    assert_eq!(bytes, expected);
}

#[test]
fn frame_with_the_same_prefix_has_another_recipient_after_a_cache_change() {
    let pid = b"\x58\x52\0\0\0\0\x01\0\0\0\0\0\0\0\x01";
    // One atom, entry 5: new, or already cached.
    let atom_definition =
        |text: &[u8]| [&b"\x83\x44\x01\x08\x05"[..], &[text.len() as u8], text].concat();
    let known = b"\x83\x44\x01\x00\x05".to_vec();
    let link = [&atom_definition(b"b@h"), &b"\x68\x03\x61\x01"[..], pid, pid].concat();
    let message = |header: &[u8]| [header, b"\x68\x03\x61\x16", pid, pid, b"\x61\x07"].concat();
    let mut incoming = Incoming::new(Limits::default());
    let mut recipient = |frame: &[u8]| {
        let received = incoming.take(frame).expect("a frame").expect("no tick");
        received.message().map(|(to, _)| match to {
            Recipient::Pid(pid) => pid.node.into_owned(),
            other => format!("{other:?}"),
        })
    };
    let frames = [
        message(&atom_definition(b"a@h")),
        message(&known),
        message(&known),
        link,
        message(&known),
    ];
    let recipients: Vec<_> = frames.iter().map(|frame| recipient(frame)).collect();
    let due = [Some("a@h"), Some("a@h"), Some("Same"), None, Some("b@h")];
    assert_eq!(recipients, due.map(|to| to.map(str::to_owned)));
}

#[test]
fn frame_length_of_four_gigabytes_is_refused_without_allocation() {
    assert_eq!(take_frame(b"\xff\xff\xff\xff\x70", 64 << 20), Err(Broken::TooLong(u32::MAX)));
}

#[test]
fn a_message_with_trailing_bytes_is_invalid() {
    let mut incoming = Incoming::new(Limits::default());
    let mut outgoing = Outgoing::new(Flags::FRAGMENTS);
    let link = Control::Link { from: pid(1), to: pid(2) };
    assert_eq!(outgoing.put(&link, Some(&Payload::Term(Term::NIL))), Ok(Size::Small));
    let mut bytes = written(&mut outgoing);
    let frame = &mut bytes[4..];
    assert_eq!(take(&mut incoming, frame), Err(InvalidMessage::Trailing.to_string()));
    // With an arity of four, the payload is another field.
    assert_eq!(frame[..5], *b"\x83\x44\0\x68\x03");
    frame[4] = 4;
    let too_many = Err("control message 1: too many fields".to_owned());
    assert_eq!(take(&mut incoming, frame), too_many);
}

fn payload() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Term::Integer),
        "[a-z]{0,3}".prop_map(|text| Term::Atom(Atom::new(&text).expect("short"))),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(|b| Term::from(b.as_slice())),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Term::List),
            prop::collection::vec(inner, 0..8).prop_map(Term::Tuple),
        ]
    })
}

fn flags() -> impl Strategy<Value = Flags> {
    prop::sample::select(vec![
        Flags::REQUIRED,
        Flags::REQUIRED | Flags::FRAGMENTS,
        Flags::REQUIRED | Flags::DIST_HDR_ATOM_CACHE,
        Flags::OFFERED,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn signals_survive_the_round_trip_with_any_flags(
        flags in flags(),
        signals in prop::collection::vec((control(), payload(), 1..200usize), 1..30),
    ) {
        let mut outgoing = Outgoing::new(flags);
        let mut incoming = Incoming::new(Limits::default());
        let mut due = Vec::new();
        for (control, payload, most) in signals {
            let payload = control.has_payload().then_some(payload);
            match &payload {
                // With fragments much smaller than usual.
                Some(payload) if most < 100 && flags.contains(Flags::FRAGMENTS) => {
                    let portions = portions(payload, most);
                    let count = portions.len() as u64;
                    let sequence = outgoing.first(&control, count, portions[0].clone()).expect("a term");
                    for (left, portion) in (1..count).rev().zip(&portions[1..]) {
                        outgoing.next(sequence, left, portion);
                    }
                }
                _ => {
                    let payload = payload.clone().map(Payload::Term);
                    prop_assert_eq!(outgoing.put(&control, payload.as_ref()), Ok(Size::Small));
                }
            }
            due.push(received(control, payload));
        }
        prop_assert_eq!(read(&mut outgoing, &mut incoming), due);
    }

    #[test]
    fn templates_encode_the_same_bytes_and_decode_to_the_same_signals(
        flags in flags(),
        controls in prop::collection::vec(control(), 1..4),
        sent in prop::collection::vec((any::<prop::sample::Index>(), payload(), any::<bool>()), 1..40),
    ) {
        let (mut once, mut again) = (Outgoing::new(flags), Outgoing::new(flags));
        let repeated = |control: Control| (control.clone(), ControlTemplate::new(control));
        let mut repeated: Vec<_> = controls.into_iter().map(repeated).collect();
        let mut due = Vec::new();
        for (which, payload, as_bytes) in sent {
            let (control, template) = which.get_mut(&mut repeated[..]);
            let payload = control.has_payload().then_some(payload);
            due.push(received(control.clone(), payload.clone()));
            let encoded = payload.as_ref().map(|term| term.encode().expect("a term"));
            let payload = match (&encoded, payload) {
                (Some(encoded), _) if as_bytes => Some(Payload::Bytes(&encoded[1..])),
                (_, payload) => payload.map(Payload::Term),
            };
            prop_assert_eq!(once.put(&*control, payload.as_ref()), Ok(Size::Small));
            prop_assert_eq!(again.put(template, payload.as_ref()), Ok(Size::Small));
        }
        let (expected, bytes) = (written(&mut once), written(&mut again));
        prop_assert_eq!(&bytes, &expected);
        let mut incoming = Incoming::new(Limits::default());
        let (mut rest, mut due, mut last) = (&bytes[..], due.into_iter(), None);
        while let Some((frame, used)) = take_frame(rest, usize::MAX).expect("no limit") {
            let received = incoming.take(frame).expect("a frame").expect("no tick");
            let due = due.next().expect("no more than was sent");
            let (control, payload) = received.signal().expect("a signal");
            let payload = payload.map(|payload| payload.term().expect("a term"));
            if let Some((to, message)) = received.message() {
                if to != Recipient::Same {
                    last = Some(format!("{to:?}"));
                }
                prop_assert_eq!(Some(message.term().expect("a term")), payload.clone());
                let recipient = match &control {
                    Control::Send { to, .. } | Control::SendSender { to, .. } => {
                        let (id, serial, creation) = (to.id, to.serial, to.creation);
                        let node = to.node.as_str().into();
                        Recipient::Pid(PidParts { node, id, serial, creation })
                    }
                    Control::RegSend { to, .. } => Recipient::Name(to.as_str().into()),
                    other => return Err(TestCaseError::fail(format!("{other:?} is a message"))),
                };
                prop_assert_eq!(last.clone(), Some(format!("{recipient:?}")));
            }
            prop_assert_eq!(Signal { control, payload }, due);
            rest = &rest[used..];
        }
        prop_assert!(due.next().is_none());
    }

    #[test]
    fn a_call_is_split_into_caller_tag_and_request(
        mark in prop::sample::select(&["$gen_call", "$gen_cast"][..]),
        (tag, request) in (payload(), payload()),
    ) {
        let from = Term::tuple([Term::from(pid(3)), tag.clone()]);
        let call = Term::tuple([Term::atom(mark), from, request.clone()]);
        let bytes = call.encode().expect("it is not too large");
        let split = Unread::whole(&bytes).gen_call();
        let split = split.map(|(from, tag, request)| (from, tag, request.term()));
        prop_assert_eq!(split, (mark == "$gen_call").then_some((pid(3), tag, Ok(request))));
    }

    #[test]
    fn any_frames_decode_or_are_refused_with_a_one_line_error(
        frames in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..60),
                (prop::sample::select(&[112u8, 131][..]), 68..71u8, prop::collection::vec(0..8u8, 0..40))
                    .prop_map(|(a, b, rest)| [&[a, b][..], &rest].concat()),
                (0..3u64, 0..3u64).prop_map(|(sequence, left)| first(sequence, left)),
                (0..3u64, 0..3u64).prop_map(|(sequence, left)| next(sequence, left)),
            ],
            0..12,
        ),
    ) {
        let mut incoming = Incoming::new(Limits::default());
        for frame in frames {
            if let Err(refused) = take(&mut incoming, &frame) {
                prop_assert_eq!(refused.lines().count(), 1);
                break;
            }
        }
    }
}
