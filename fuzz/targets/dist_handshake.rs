//! Arbitrary handshake frames, to either side: the handshake continues or is refused with a one-line error, and no peer
//! without the cookie is accepted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_dist_protocol::handshake::{
    Acceptor, Initiator, LocalNode, MOST_BYTES, Refused, Step, Verdict, take_frame,
};
use purlin_dist_protocol::{Cookie, Flags};

fn local(name: &str) -> LocalNode {
    LocalNode { name: name.parse().expect("a name"), creation: 1, flags: Flags::OFFERED }
}

fuzz_target!(|input: &[u8]| {
    let Some((choice, mut bytes)) = input.split_first() else { return };
    let (mut out, cookie) = (Vec::new(), Cookie::new("not known"));
    let mut from = Initiator::new(&local("a@h"), local("b@h").name, cookie.clone(), 1, &mut out);
    let mut to = Acceptor::new(local("b@h"), 2);
    loop {
        let (frame, used) = match take_frame(bytes) {
            Ok(Some(taken)) => taken,
            Ok(None) => return,
            Err(refused) => {
                return assert!(matches!(refused, Refused::TooLong(n) if n > MOST_BYTES));
            }
        };
        bytes = &bytes[used..];
        out.clear();
        let step =
            if choice & 2 == 0 { from.take(frame, &mut out) } else { to.take(frame, &mut out) };
        let went_on = match step {
            Ok(Step::Done(_)) => panic!("the cookie is not known"),
            Ok(Step::More) => Ok(()),
            Ok(Step::Alive) => from.go_on(choice & 4 == 0, &mut out),
            Ok(Step::Called(_)) => {
                let verdict = match choice >> 4 {
                    0 => Verdict::Alive,
                    1 => Verdict::Nok,
                    _ => Verdict::Ok,
                };
                to.decide(verdict, cookie.clone(), &mut out)
            }
            Err(refused) => Err(refused),
        };
        // The output consists of whole frames.
        let mut said = &out[..];
        while let Some((_, used)) = take_frame(said).expect("short frames") {
            said = &said[used..];
        }
        assert!(said.is_empty());
        if let Err(refused) = went_on {
            return assert_eq!(refused.to_string().lines().count(), 1);
        }
    }
});
