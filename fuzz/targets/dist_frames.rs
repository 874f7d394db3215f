//! Arbitrary frames are decoded into signals or refused with a one-line error; after an invalid message, the next frames
//! are decoded. Decoded signals survive a round trip, whatever the form of the frames.
#![no_main]

use bytes::Buf;
use libfuzzer_sys::fuzz_target;
use purlin_dist_protocol::Flags;
use purlin_dist_protocol::control::Control;
use purlin_dist_protocol::frame::{
    Broken, Encoded, Frames, Incoming, InvalidMessage, Limits, Outgoing, Payload, Recipient, Signal, Size, Unread,
    take_frame,
};
use purlin_term::{PidParts, Term};

fuzz_target!(|input: &[u8]| {
    let Some((choice, mut bytes)) = input.split_first() else { return };
    let term = purlin_term::Limits { memory: 1 << 20, ..Default::default() };
    let limits = Limits { frame: 4096, fragments: 8192, atoms: 8192, sequences: 4, term };
    let (mut incoming, mut last) = (Incoming::new(limits), None);
    let mut signals = Vec::new();
    // On the wire a length has four bytes, which a fuzzer rarely guesses; here it has one.
    let _ = take_frame(bytes, limits.frame);
    while let Some((length, behind)) = bytes.split_first() {
        let frame;
        (frame, bytes) = behind.split_at(usize::from(*length).min(behind.len()));
        match take(&mut incoming, &mut last, frame) {
            Ok(signal) => signals.extend(signal),
            Err(broken) => {
                assert_eq!(broken.to_string().lines().count(), 1);
                break;
            }
        }
    }
    let flags = match choice & 3 {
        0 => Flags::REQUIRED,
        1 => Flags::REQUIRED | Flags::FRAGMENTS,
        2 => Flags::REQUIRED | Flags::DIST_HDR_ATOM_CACHE,
        _ => Flags::OFFERED,
    };
    let portion = 1 + usize::from(choice >> 2);
    let (mut outgoing, mut due) = (Outgoing::new(flags), Vec::new());
    for signal in signals {
        if put(&mut outgoing, &signal, flags, portion) {
            due.push(signal);
        }
    }
    let mut frames = Frames::default();
    outgoing.swap(&mut frames);
    let written = frames.copy_to_bytes(frames.remaining());
    let (mut rest, mut came) = (&written[..], Vec::new());
    let (mut incoming, mut last) = (Incoming::new(Limits::default()), None);
    while let Some((frame, used)) = take_frame(rest, usize::MAX).expect("no limit") {
        came.extend(take(&mut incoming, &mut last, frame).expect("what was written"));
        rest = &rest[used..];
    }
    assert_eq!(came, due);
});

/// Decodes a frame and its payload. Returns `None` also for an invalid message, which is dropped. Asserts that the short
/// path for messages and the general path agree in recipient and contents. `last` is the recipient of the previous
/// message.
fn take(
    incoming: &mut Incoming,
    last: &mut Option<String>,
    frame: &[u8],
) -> Result<Option<Signal>, Broken> {
    let Some(said) = incoming.take(frame)? else { return Ok(None) };
    let message = said.message().map(|(to, message)| {
        if to != Recipient::Same {
            *last = Some(format!("{to:?}"));
        }
        let term = message.term();
        assert_eq!(message.store().unread().term(), term);
        if let (Some((from, tag, request)), Ok(Term::Tuple(call))) = (message.gen_call(), &term) {
            assert_eq!(call[1], Term::tuple([Term::from(from), tag]));
            assert_eq!(request.term().as_ref(), Ok(&call[2]));
            assert!(message.is_call());
        }
        term
    });
    let (control, payload) = match said.signal() {
        Ok(signal) => signal,
        Err(invalid) => {
            assert_eq!(message, None);
            is_one_line(&invalid);
            return Ok(None);
        }
    };
    let payload = payload.map(Unread::term).transpose();
    if let Some(term) = message {
        assert_eq!(term.map(Some), payload);
        assert_eq!(*last, recipient(&control).map(|to| format!("{to:?}")));
    }
    match payload {
        Ok(payload) => Ok(Some(Signal { control, payload })),
        Err(invalid) => {
            is_one_line(&invalid);
            Ok(None)
        }
    }
}

fn is_one_line(invalid: &InvalidMessage) {
    assert_eq!(invalid.to_string().lines().count(), 1);
}

/// Returns the recipient of a message.
fn recipient(control: &Control) -> Option<Recipient<'_>> {
    match control {
        Control::Send { to, .. } | Control::SendSender { to, .. } => {
            let (id, serial, creation) = (to.id, to.serial, to.creation);
            Some(Recipient::Pid(PidParts { node: to.node.as_str().into(), id, serial, creation }))
        }
        Control::RegSend { to, .. } => Some(Recipient::Name(to.as_str().into())),
        _ => None,
    }
}

/// Encodes a signal, in fragments if the flags allow them. Returns `false` if the flags do not allow the signal.
fn put(outgoing: &mut Outgoing, signal: &Signal, flags: Flags, portion: usize) -> bool {
    let control = &signal.control;
    let Some(payload) = signal.payload.as_ref().filter(|_| flags.contains(Flags::FRAGMENTS)) else {
        let payload = signal.payload.clone().map(Payload::Term);
        return matches!(outgoing.put(control, payload.as_ref()), Ok(Size::Small));
    };
    let Ok(mut encoded) = Encoded::term(payload) else { return false };
    let count = encoded.len().div_ceil(portion) as u64;
    let first = encoded.split_to(portion);
    let Ok(sequence) = outgoing.first(control, count, first) else { return false };
    for left in (1..count).rev() {
        outgoing.next(sequence, left, &encoded.split_to(portion));
    }
    true
}
