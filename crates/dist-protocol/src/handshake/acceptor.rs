//! Handshake of the acceptor. Pure.

use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::handshake::message::{
    Challenge, Hello, LOWER, Status, read_complement, read_reply, write_ack,
};
use crate::handshake::refused::{Refused, check};
use crate::handshake::step::{Called, Caller, Established, LocalNode, Step, Verdict};
use crate::name::{NodeName, is_part};

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
            Awaits::Dead(known) => match Status::read(frame)? {
                Status::Word(b"true") => {
                    self.ask(known, out);
                    Ok(Step::More)
                }
                Status::Word(b"false") => Err(Refused::Connected),
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
                Ok(Step::Done(Established { peer, creation, flags, named: None }))
            }
            Awaits::Decision(_) | Awaits::Nothing => Err(Refused::OutOfTurn),
        }
    }

    /// Continues after [`Step::Called`] with the status and the cookie that the caller must prove.
    ///
    /// # Errors
    /// The status refuses the caller, or does not fit it. The frames in `out` must still be sent.
    pub fn decide(
        &mut self,
        verdict: Verdict,
        cookie: Cookie,
        out: &mut Vec<u8>,
    ) -> Result<(), Refused> {
        let Awaits::Decision(caller) = std::mem::replace(&mut self.awaits, Awaits::Nothing) else {
            return Err(Refused::OutOfTurn);
        };
        let Caller { called, flags: theirs, creation } = caller;
        let (peer, creation) = match (called, &verdict) {
            (_, Verdict::Nok) => return Err(refuse(b"nok", Refused::OurCall, out)),
            (_, Verdict::NotAllowed) => {
                return Err(refuse(b"not_allowed", Refused::Unwanted, out));
            }
            (Called::Host(_), Verdict::Named(name, creation)) => {
                Status::Named { name: name.as_str(), creation: *creation }.write(out);
                (name.clone(), Some(*creation))
            }
            (Called::Name(name), Verdict::Ok | Verdict::OkSimultaneous | Verdict::Alive) => {
                let word: &[u8] = match verdict {
                    Verdict::OkSimultaneous => b"ok_simultaneous",
                    Verdict::Alive => b"alive",
                    _ => b"ok",
                };
                Status::Word(word).write(out);
                (name, creation)
            }
            _ => return Err(Refused::OutOfTurn),
        };
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
        let called = if flags.has(Flags::NAME_ME) && creation.is_some() {
            let host = is_part(name).then(|| name.to_owned());
            Called::Host(host.ok_or(Refused::NoName)?)
        } else {
            Called::Name(name.parse().map_err(|_| Refused::NoName)?)
        };
        // The old frame does not contain the upper half of the flags; the complement does.
        let higher = if creation.is_none() { !LOWER } else { 0 };
        check(flags | Flags::from_bits(higher))
            .map_err(|missing| refuse(b"not_allowed", missing, out))?;
        let caller = Caller { called, flags, creation };
        self.awaits = Awaits::Decision(caller.clone());
        Ok(Step::Called(caller))
    }

    /// Appends the challenge.
    fn ask(&mut self, known: Known, out: &mut Vec<u8>) {
        let LocalNode { name, creation, flags } = &self.local;
        let challenge = Challenge {
            flags: *flags | (known.theirs & Flags::NAME_ME),
            challenge: self.challenge,
            creation: *creation,
            name: name.as_str(),
        };
        challenge.write(out);
        self.awaits =
            if known.creation.is_some() { Awaits::Reply(known) } else { Awaits::Complement(known) };
    }
}

/// Appends the refusing status.
fn refuse(word: &[u8], why: Refused, out: &mut Vec<u8>) -> Refused {
    Status::Word(word).write(out);
    why
}
