//! An ack client that receives arbitrary bytes, split at any point, accepts a consistent sequence
//! or returns a one-line error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_ack::frames::Frame;
use purlin_ack::session;
use purlin_ack::verifier::{AckVerifier, Answer, Gap};
use purlin_ack::wire::Id;

fn read(mut verifier: AckVerifier, pieces: [&[u8]; 2]) -> (Vec<Answer>, Option<Gap>) {
    let mut answers = Vec::new();
    for mut bytes in pieces {
        loop {
            match verifier.take(&mut bytes) {
                Ok(Some(answer)) => answers.push(answer),
                Ok(None) => break,
                Err(gap) => return (answers, Some(gap)),
            }
        }
    }
    (answers, None)
}

fuzz_target!(|input: &[u8]| {
    let [kind, cut, bytes @ ..] = input else { return };
    let verifier = match kind % 3 {
        0 => AckVerifier::replies(),
        1 => AckVerifier::acks(),
        _ => AckVerifier::session(kind.checked_sub(128).map(u64::from)),
    };
    let whole = read(verifier.clone(), [bytes, &[]]);
    let (one, other) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    assert_eq!(read(verifier, [one, other]), whole);
    assert!(whole.1.is_none_or(|gap| gap.to_string().lines().count() == 1));

    let mut id = session::NAME;
    id.0[7] = *kind;
    for id in [session::NAME, id, Id::from(u64::from(*kind))] {
        let first = Frame { id, payload: bytes };
        match session::Opening::of(&first) {
            Ok(None) => assert!(id.0[..7] != *b"PURLIN "),
            Ok(Some(opening)) => assert_eq!(&opening.to_bytes()[12..], bytes),
            Err(bad) => assert_eq!(bad.to_string().lines().count(), 1),
        }
        match session::Answer::of(&first) {
            Ok(session::Answer::Refused(status)) => assert_eq!(status.0.get(), bytes[0]),
            Ok(opened) => assert_eq!(&opened.to_bytes()[12..], bytes),
            Err(bad) => assert_eq!(bad.to_string().lines().count(), 1),
        }
    }
});
