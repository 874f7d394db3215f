//! Handshake of the acceptor. Pure.

use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::handshake::message::{
    Challenge, Hello, LOWER, read_complement, read_reply, read_status, write_ack, write_status,
};
use crate::handshake::refused::{Refused, check};
use crate::handshake::step::{Caller, Established, LocalNode, Step, Verdict};
use crate::name::NodeName;

/// State machine of the acceptor.
#[derive(Debug)]
pub struct Acceptor {
    local: LocalNode,
    challenge: u32,
    awaits: Awaits,
}

#[derive(Debug)]
enum Awaits {
    Name,
    Decision(Caller),
    /// The answer to `alive`: whether the old connection is dead.
    Dead(Known),
    Complement(Known),
    Reply(Known),
    Nothing,
}

/// Data of an accepted caller.
#[derive(Debug)]
struct Known {
    peer: NodeName,
    creation: Option<u32>,
    theirs: Flags,
    cookie: Cookie,
}

impl Acceptor {
    /// Creates the state machine. `challenge` must be unpredictable.
    #[must_use]
    pub fn new(local: LocalNode, challenge: u32) -> Self {
        Self { local, challenge, awaits: Awaits::Name }
    }

    /// Handles the next frame of the initiator. Appends frames to send to `out`.
    ///
    /// # Errors
    /// See [`Refused`]. The frames in `out` must be sent before the connection is closed.
    pub fn take(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<Step, Refused> {
        match std::mem::replace(&mut self.awaits, Awaits::Nothing) {
            Awaits::Name => self.named(frame, out),
            Awaits::Dead(known) => match read_status(frame)? {
                b"true" => {
                    self.ask(known, out);
                    Ok(Step::More)
                }
                b"false" => Err(Refused::Connected),
                _ => Err(Refused::Malformed("true or false")),
            },
            Awaits::Complement(mut known) => {
                let (higher, creation) = read_complement(frame)?;
                known.theirs = (known.theirs | higher).expanded();
                known.creation = Some(creation);
                check(known.theirs)?;
                self.awaits = Awaits::Reply(known);
                Ok(Step::More)
            }
            Awaits::Reply(known) => {
                let (challenge, digest) = read_reply(frame)?;
                if !known.cookie.proves(digest, self.challenge) {
                    return Err(Refused::WrongCookie);
                }
                write_ack(known.cookie.digest(challenge), out);
                let Known { peer, creation, theirs, .. } = known;
                let creation = creation.ok_or(Refused::OutOfTurn)?;
                let flags = theirs & self.local.flags;
                Ok(Step::Done(Established { peer, creation, flags }))
            }
            Awaits::Decision(_) | Awaits::Nothing => Err(Refused::OutOfTurn),
        }
    }

    /// Continues after [`Step::Called`] with the status and the cookie that the caller must prove.
    ///
    /// # Errors
    /// The status refuses the caller. The frames in `out` must still be sent.
    pub fn decide(
        &mut self,
        verdict: Verdict,
        cookie: Cookie,
        out: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let Awaits::Decision(caller) = std::mem::replace(&mut self.awaits, Awaits::Nothing) else {
            return Err(Refused::OutOfTurn);
        };
        let (status, refused): (&[u8], _) = match verdict {
            Verdict::Ok => (b"ok", None),
            Verdict::OkSimultaneous => (b"ok_simultaneous", None),
            Verdict::Alive => (b"alive", None),
            Verdict::Nok => (b"nok", Some(Refused::OurCall)),
            Verdict::NotAllowed => (b"not_allowed", Some(Refused::Unwanted)),
        };
        write_status(status, out);
        if let Some(refused) = refused {
            return Err(refused);
        }
        let Caller { name: peer, flags: theirs, creation } = caller;
        let known = Known { peer, creation, theirs, cookie };
        if verdict == Verdict::Alive {
            self.awaits = Awaits::Dead(known);
        } else {
            self.ask(known, out);
        }
        Ok(())
    }

    fn named(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<Step, Refused> {
        let Hello { flags, creation, name } = Hello::read(frame)?;
        let flags = flags.expanded();
        // The old frame does not contain the upper half of the flags; the complement does.
        let higher = if creation.is_none() { !LOWER } else { 0 };
        let checked = if flags.contains(Flags::NAME_ME) && creation.is_some() {
            Err(Refused::Nameless)
        } else {
            check(flags | Flags::from_bits_retain(higher))
        };
        if let Err(refused) = checked {
            write_status(b"not_allowed", out);
            return Err(refused);
        }
        let caller = Caller { name: name.parse().map_err(|_| Refused::NoName)?, flags, creation };
        self.awaits = Awaits::Decision(caller.clone());
        Ok(Step::Called(caller))
    }

    /// Appends the challenge.
    fn ask(&mut self, known: Known, out: &mut Vec<u8>) {
        let LocalNode { name, creation, flags } = &self.local;
        let challenge = Challenge {
            flags: *flags,
            challenge: self.challenge,
            creation: *creation,
            name: name.as_str(),
        };
        challenge.write(out);
        self.awaits =
            if known.creation.is_some() { Awaits::Reply(known) } else { Awaits::Complement(known) };
    }
}
