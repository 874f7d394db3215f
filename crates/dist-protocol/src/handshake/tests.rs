use proptest::prelude::*;

use super::*;
use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::name::NodeName;

const CHALLENGES: (u32, u32) = (0x0102_0304, 0xf1f2_f3f4);

fn node(name: &str) -> NodeName {
    name.parse().expect("a name")
}

fn local(name: &str, creation: u32) -> LocalNode {
    LocalNode { name: node(name), creation, flags: Flags::OFFERED | Flags::PUBLISHED }
}

fn initiator(cookie: &str, out: &mut Vec<u8>) -> Initiator {
    Initiator::new(&local("a@h", 7), node("b@h"), Cookie::new(cookie), CHALLENGES.0, out)
}

fn acceptor() -> Acceptor {
    Acceptor::new(local("b@h", 8), CHALLENGES.1)
}

/// Splits the output into frames.
fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some((frame, used)) = take_frame(bytes).expect("short frames") {
        frames.push(frame.to_vec());
        bytes = &bytes[used..];
    }
    assert!(bytes.is_empty());
    frames
}

/// Outcome on one side.
type End = Result<Established, Refused>;

/// Runs both sides against each other until both have ended or wait.
fn run(
    mut from: Initiator,
    first: Vec<u8>,
    mut to: Acceptor,
    verdict: Verdict,
    cookie: &str,
    dead: bool,
) -> (Option<End>, Option<End>) {
    let (mut for_acceptor, mut for_initiator) = (first, Vec::new());
    let (mut ended_from, mut ended_to) = (None, None);
    while !(for_acceptor.is_empty() && for_initiator.is_empty()) {
        for frame in frames(&std::mem::take(&mut for_acceptor)) {
            if ended_to.is_some() {
                break;
            }
            match to.take(&frame, &mut for_initiator) {
                Ok(Step::Called(_)) => {
                    let decided = to.decide(verdict, Cookie::new(cookie), &mut for_initiator);
                    ended_to = decided.err().map(Err);
                }
                Ok(Step::Done(done)) => ended_to = Some(Ok(done)),
                Ok(Step::More) => {}
                Ok(Step::Alive) => panic!("an acceptor is not asked"),
                Err(refused) => ended_to = Some(Err(refused)),
            }
        }
        for frame in frames(&std::mem::take(&mut for_initiator)) {
            if ended_from.is_some() {
                break;
            }
            match from.take(&frame, &mut for_acceptor) {
                Ok(Step::Alive) => ended_from = from.go_on(dead, &mut for_acceptor).err().map(Err),
                Ok(Step::Done(done)) => ended_from = Some(Ok(done)),
                Ok(Step::More) => {}
                Ok(Step::Called(_)) => panic!("an initiator decides nothing"),
                Err(refused) => ended_from = Some(Err(refused)),
            }
        }
    }
    (ended_from, ended_to)
}

fn both(verdict: Verdict, cookies: (&str, &str), dead: bool) -> (End, End) {
    let mut first = Vec::new();
    let from = initiator(cookies.0, &mut first);
    let (from, to) = run(from, first, acceptor(), verdict, cookies.1, dead);
    (from.expect("an end"), to.unwrap_or(Err(Refused::OutOfTurn)))
}

#[test]
fn handshake_succeeds_if_both_nodes_know_the_cookie() {
    for verdict in [Verdict::Ok, Verdict::OkSimultaneous, Verdict::Alive] {
        let (from, to) = both(verdict, ("x", "x"), true);
        let flags = Flags::OFFERED | Flags::PUBLISHED;
        let b = Established { peer: node("b@h"), creation: 8, flags };
        assert_eq!(from, Ok(b));
        let a = Established { peer: node("a@h"), creation: 7, flags };
        assert_eq!(to, Ok(a));
    }
}

#[test]
fn the_frames_are_those_of_the_protocol() {
    let mut out = Vec::new();
    let mut from = initiator("x", &mut out);
    let flags = (Flags::OFFERED | Flags::PUBLISHED).bits().to_be_bytes();
    assert_eq!(out, [&b"\0\x12N"[..], &flags, b"\0\0\0\x07\0\x03a@h"].concat());
    out.clear();

    let mut to = acceptor();
    let hello = [b"N", &flags[..], b"\0\0\0\x07\0\x03a@h and more"].concat();
    assert!(matches!(to.take(&hello, &mut out), Ok(Step::Called(_))));
    assert_eq!(to.decide(Verdict::Ok, Cookie::new("x"), &mut out), Ok(()));
    let status = b"\0\x03sok\0\x16N".as_slice();
    assert_eq!(out, [status, &flags, b"\xf1\xf2\xf3\xf4\0\0\0\x08\0\x03b@h"].concat());
    let challenge = out.split_off(7);
    out.clear();

    assert_eq!(from.take(b"sok", &mut out), Ok(Step::More));
    assert_eq!(from.take(&challenge, &mut out), Ok(Step::More));
    let proof = Cookie::new("x").digest(0xf1f2_f3f4);
    assert_eq!(out, [b"\0\x15r\x01\x02\x03\x04", &proof[..]].concat());
    let reply = out.split_off(2);
    out.clear();

    assert!(matches!(to.take(&reply, &mut out), Ok(Step::Done(_))));
    let proof = Cookie::new("x").digest(0x0102_0304);
    assert_eq!(out, [b"\0\x11a", &proof[..]].concat());
}

#[test]
fn a_wrong_cookie_is_refused_by_the_acceptor_before_it_proves_anything_itself() {
    let mut first = Vec::new();
    let from = initiator("x", &mut first);
    let (from, to) = run(from, first, acceptor(), Verdict::Ok, "y", true);
    assert_eq!((from, to), (None, Some(Err(Refused::WrongCookie))));
}

#[test]
fn an_acceptor_without_the_cookie_is_refused_by_the_initiator() {
    let mut out = Vec::new();
    let mut from = initiator("x", &mut out);
    let mut to = acceptor();
    out.clear();
    to.take(&frames(&hello_of("a@h"))[0], &mut out).expect("a name");
    to.decide(Verdict::Ok, Cookie::new("y"), &mut out).expect("welcome");
    for frame in frames(&std::mem::take(&mut out)) {
        assert_eq!(from.take(&frame, &mut out), Ok(Step::More));
    }
    let pretended = [b"a", &Cookie::new("y").digest(CHALLENGES.0)[..]].concat();
    assert_eq!(from.take(&pretended, &mut out), Err(Refused::WrongCookie));
}

fn hello_of(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let cookie = Cookie::new("");
    let _ = Initiator::new(&local(name, 1), node("b@h"), cookie, 0, &mut out);
    out
}

#[test]
fn every_status_that_ends_a_call_ends_it_on_both_sides() {
    for (verdict, dead, theirs, ours) in [
        (Verdict::Nok, true, Refused::TheirCall, Refused::OurCall),
        (Verdict::NotAllowed, true, Refused::NotAllowed, Refused::Unwanted),
        (Verdict::Alive, false, Refused::Connected, Refused::Connected),
    ] {
        assert_eq!(both(verdict, ("x", "x"), dead), (Err(theirs), Err(ours)));
    }
    let mut out = Vec::new();
    let refused = initiator("x", &mut out).take(b"smaybe", &mut out).expect_err("no such status");
    assert_eq!(refused, Refused::UnknownStatus("maybe".to_owned()));
}

#[test]
fn a_node_that_asks_for_a_dynamic_name_is_refused() {
    let mut out = Vec::new();
    let flags = (Flags::OFFERED | Flags::NAME_ME).bits().to_be_bytes();
    let hello = [b"N", &flags[..], b"\0\0\0\0\0\x01h"].concat();
    assert_eq!(acceptor().take(&hello, &mut out), Err(Refused::Nameless));
    assert_eq!(frames(&out), [b"snot_allowed"]);
    let named = initiator("x", &mut out).take(b"snamed:\0\x03c@h\0\0\0\x01", &mut out);
    assert!(matches!(named, Err(Refused::UnknownStatus(_))), "{named:?}");
}

#[test]
fn old_first_frame_of_otp_24_is_accepted_with_a_complement() {
    let theirs = Flags::OFFERED - (Flags::MANDATORY_25_DIGEST | Flags::ALTACT_SIG);
    let [high, low] = [(theirs.bits() >> 32) as u32, theirs.bits() as u32].map(u32::to_be_bytes);
    let hello = [b"n\0\x05", &low[..], b"old@h"].concat();
    for (complement, ends) in [(high, None), ([0; 4], Some(Flags::V4_NC))] {
        let (mut to, mut out) = (acceptor(), Vec::new());
        let Ok(Step::Called(caller)) = to.take(&hello, &mut out) else { panic!("a caller") };
        assert_eq!((caller.name, caller.creation), (node("old@h"), None));
        to.decide(Verdict::Ok, Cookie::new("x"), &mut out).expect("welcome");
        let complement = [b"c", &complement[..], b"\0\0\0\x09"].concat();
        let completed = to.take(&complement, &mut out);
        if let Some(missing) = ends {
            assert_eq!(completed, Err(Refused::Missing(missing)));
            continue;
        }
        assert_eq!(completed, Ok(Step::More));
        let proof = Cookie::new("x").digest(CHALLENGES.1);
        let reply = [b"r\0\0\0\x05", &proof[..]].concat();
        let Ok(Step::Done(done)) = to.take(&reply, &mut out) else { panic!("done") };
        assert_eq!((done.peer, done.creation, done.flags), (node("old@h"), 9, theirs));
    }
}

#[test]
fn peer_without_required_flags_is_refused_and_the_flags_are_named() {
    let mut out = Vec::new();
    let little = Flags::MANDATORY_25_DIGEST | Flags::V4_NC;
    let hello = [b"N", &little.bits().to_be_bytes()[..], b"\0\0\0\x01\0\x03a@h"].concat();
    assert_eq!(acceptor().take(&hello, &mut out), Err(Refused::Missing(Flags::UNLINK_ID)));
    assert_eq!(frames(&out), [b"snot_allowed"]);

    out.clear();
    let mut from = initiator("x", &mut out);
    from.take(b"sok", &mut out).expect("welcome");
    let challenge =
        [b"N", &little.bits().to_be_bytes()[..], b"\0\0\0\x01\0\0\0\x01\0\x03b@h"].concat();
    assert_eq!(from.take(&challenge, &mut out), Err(Refused::Missing(Flags::UNLINK_ID)));
}

#[test]
fn initiator_sends_no_digest_to_a_node_it_did_not_call() {
    let (mut from, mut out) = (initiator("x", &mut Vec::new()), Vec::new());
    let mut to = Acceptor::new(local("c@h", 8), CHALLENGES.1);
    to.take(&frames(&hello_of("a@h"))[0], &mut out).expect("a name");
    to.decide(Verdict::Ok, Cookie::new("x"), &mut out).expect("welcome");
    let [status, challenge] = &frames(&std::mem::take(&mut out))[..] else { panic!("two frames") };
    from.take(status, &mut out).expect("welcome");
    let stranger = Refused::Stranger { called: node("b@h"), answered: node("c@h") };
    assert_eq!((from.take(challenge, &mut out), out.len()), (Err(stranger), 0));
}

#[test]
fn a_frame_longer_than_a_handshake_needs_is_refused_by_its_length() {
    assert_eq!(take_frame(b"\xff\xff"), Err(Refused::TooLong(65535)));
    assert_eq!(take_frame(b"\0"), Ok(None));
    assert_eq!(take_frame(b"\0\x02s"), Ok(None));
    assert_eq!(take_frame(b"\0\x02sok"), Ok(Some((&b"so"[..], 4))));
}

proptest! {
    #[test]
    fn any_frames_continue_or_fail_with_a_one_line_error_and_never_succeed(
        frames in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..60),
                (prop::sample::select(&b"NnsrcaN"[..]), prop::collection::vec(any::<u8>(), 0..40))
                    .prop_map(|(tag, rest)| [&[tag][..], &rest].concat()),
                Just(frames(&hello_of("a@h")).remove(0)),
                prop::sample::select(vec![&b"sok"[..], b"salive", b"strue"]).prop_map(<[u8]>::to_vec),
            ],
            0..6,
        ),
        calls in any::<bool>(),
    ) {
        let mut out = Vec::new();
        let (mut from, mut to) = (initiator("x", &mut out), acceptor());
        for frame in frames {
            let step = if calls { from.take(&frame, &mut out) } else { to.take(&frame, &mut out) };
            match step {
                Ok(Step::Done(_)) => prop_assert!(false, "the cookie was wrong"),
                Ok(Step::Alive) => from.go_on(true, &mut out).expect("it was asked"),
                Ok(Step::Called(_)) => {
                    let _ = to.decide(Verdict::Ok, Cookie::new("x"), &mut out);
                }
                Ok(Step::More) => {}
                Err(refused) => {
                    prop_assert_eq!(refused.to_string().lines().count(), 1);
                    break;
                }
            }
        }
    }
}
