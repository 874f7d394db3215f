//! Handshake of the initiator. Pure.

use crate::cookie::Cookie;
use crate::flags::Flags;
use crate::handshake::message::{
    Challenge, Hello, read_ack, read_status, write_reply, write_status,
};
use crate::handshake::refused::{Refused, check};
use crate::handshake::step::{Established, LocalNode, Step};
use crate::name::NodeName;

/// State machine of the initiator.
#[derive(Debug)]
pub struct Initiator {
    flags: Flags,
    peer: NodeName,
    cookie: Cookie,
    challenge: u32,
    awaits: Awaits,
}

#[derive(Debug)]
enum Awaits {
    Status,
    /// Our answer to `alive`: whether the old connection is dead.
    GoOn,
    Challenge,
    Digest {
        creation: u32,
        flags: Flags,
    },
    Nothing,
}

impl Initiator {
    /// Starts a handshake with `peer` and appends the first frame to `out`. `challenge` must be unpredictable.
    #[must_use]
    pub fn new(
        local: &LocalNode,
        peer: NodeName,
        cookie: Cookie,
        challenge: u32,
        out: &mut Vec<u8>,
    ) -> Self {
        let LocalNode { name, creation, flags } = local;
        Hello::write(*flags, *creation, name.as_str(), out);
        Self { flags: *flags, peer, cookie, challenge, awaits: Awaits::Status }
    }

    /// Handles the next frame of the acceptor. Appends frames to send to `out`.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn take(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<Step, Refused> {
        match std::mem::replace(&mut self.awaits, Awaits::Nothing) {
            Awaits::Status => self.status(frame),
            Awaits::Challenge => self.challenged(frame, out),
            Awaits::Digest { creation, flags } => {
                if !self.cookie.proves(read_ack(frame)?, self.challenge) {
                    return Err(Refused::WrongCookie);
                }
                Ok(Step::Done(Established { peer: self.peer.clone(), creation, flags }))
            }
            Awaits::GoOn | Awaits::Nothing => Err(Refused::OutOfTurn),
        }
    }

    /// Continues after [`Step::Alive`]. `dead` states that the old connection is dead and this one replaces it.
    ///
    /// # Errors
    /// The acceptor has not asked, or `dead` is false; the connection must then be closed.
    pub fn go_on(&mut self, dead: bool, out: &mut Vec<u8>) -> Result<(), Refused> {
        if !matches!(self.awaits, Awaits::GoOn) {
            return Err(Refused::OutOfTurn);
        }
        write_status(if dead { b"true" } else { b"false" }, out);
        self.awaits = Awaits::Challenge;
        if dead { Ok(()) } else { Err(Refused::Connected) }
    }

    /// Whether our digest has been sent and that of the acceptor is expected.
    pub(crate) fn awaits_proof(&self) -> bool {
        matches!(self.awaits, Awaits::Digest { .. })
    }

    fn status(&mut self, frame: &[u8]) -> Result<Step, Refused> {
        self.awaits = Awaits::Challenge;
        match read_status(frame)? {
            b"ok" | b"ok_simultaneous" => Ok(Step::More),
            b"alive" => {
                self.awaits = Awaits::GoOn;
                Ok(Step::Alive)
            }
            b"nok" => Err(Refused::TheirCall),
            b"not_allowed" => Err(Refused::NotAllowed),
            word => {
                let text = String::from_utf8_lossy(&word[..word.len().min(40)]);
                Err(Refused::UnknownStatus(text.into_owned()))
            }
        }
    }

    fn challenged(&mut self, frame: &[u8], out: &mut Vec<u8>) -> Result<Step, Refused> {
        let Challenge { flags, challenge, creation, name } = Challenge::read(frame)?;
        let answered: NodeName = name.parse().map_err(|_| Refused::NoName)?;
        if answered != self.peer {
            return Err(Refused::Stranger { called: self.peer.clone(), answered });
        }
        let theirs = flags.expanded();
        check(theirs)?;
        write_reply(self.challenge, self.cookie.digest(challenge), out);
        self.awaits = Awaits::Digest { creation, flags: theirs & self.flags };
        Ok(Step::More)
    }
}
