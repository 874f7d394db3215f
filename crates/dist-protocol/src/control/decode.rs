//! Decoder for control messages.

use std::cmp::Ordering;

use purlin_term::{Atom, DecodeError, Decoder, Pid, Reference, Term, Token};

use crate::broken::{InvalidMessage, Malformed};
use crate::control::{Control, Named, Spawn, To, operation as op};

/// Flags of `ALTACT_SIG_SEND`.
pub(super) mod altact {
    pub(crate) const PRIORITY: u8 = 1;
    pub(crate) const TOKEN: u8 = 2;
    pub(crate) const ALIAS: u8 = 4;
    pub(crate) const NAME: u8 = 8;
    pub(crate) const EXIT: u8 = 16;
}

/// Flags of `SPAWN_REPLY`.
pub(super) mod spawned {
    pub(crate) const LINKED: i64 = 1;
    pub(crate) const MONITORED: i64 = 2;
}

type Field<T> = Result<T, Wrong>;

/// Error in a field.
enum Wrong {
    What(&'static str),
    Term(DecodeError),
}

impl From<&'static str> for Wrong {
    fn from(what: &'static str) -> Self {
        Self::What(what)
    }
}

impl From<DecodeError> for Wrong {
    fn from(error: DecodeError) -> Self {
        Self::Term(error)
    }
}

impl Control {
    /// Decodes the next term as a control message.
    ///
    /// COST: allocates only for trace tokens, reasons and spawn requests.
    ///
    /// # Errors
    /// [`InvalidMessage::Term`] or [`InvalidMessage::Control`]: not a valid term, or not a control message.
    pub fn read(decoder: &mut Decoder<'_>) -> Result<Self, InvalidMessage> {
        let (mut control, is_in_tuple) = Self::read_to_reason(decoder)?;
        if let (
            true,
            Self::Exit { reason, .. } | Self::Exit2 { reason, .. } | Self::Down { reason, .. },
        ) = (is_in_tuple, &mut control)
        {
            *reason = Some(decoder.decode_bare()?);
        }
        Ok(control)
    }

    /// [`Control::read`], except that a reason in the tuple, its last field, is left undecoded. Returns whether there is
    /// one. WHY: an exit is delivered even if its reason cannot be decoded.
    pub(crate) fn read_to_reason(
        decoder: &mut Decoder<'_>,
    ) -> Result<(Self, bool), InvalidMessage> {
        let Token::Tuple(count) = decoder.reader().token()? else {
            return Err(Malformed { number: None, what: "not a tuple" }.into());
        };
        let mut fields = Fields { decoder, left: count };
        let number = match fields.beginning() {
            Ok(Token::Integer(number)) => number,
            Err(Wrong::Term(error)) => return Err(error.into()),
            _ => return Err(Malformed { number: None, what: "no number in front" }.into()),
        };
        control(number, fields).map_err(|wrong| match wrong {
            Wrong::What(what) => Malformed { number: Some(number), what }.into(),
            Wrong::Term(error) => error.into(),
        })
    }
}

/// The fields not yet read.
struct Fields<'d, 'a> {
    decoder: &'d mut Decoder<'a>,
    left: usize,
}

/// The control message, and whether a reason follows in the tuple.
fn control(number: i64, mut fields: Fields<'_, '_>) -> Field<(Control, bool)> {
    let f = &mut fields;
    let with_token = matches!(
        number,
        op::SEND_TT
            | op::EXIT_TT
            | op::REG_SEND_TT
            | op::EXIT2_TT
            | op::SEND_SENDER_TT
            | op::PAYLOAD_EXIT_TT
            | op::PAYLOAD_EXIT2_TT
            | op::SPAWN_REQUEST_TT
            | op::SPAWN_REPLY_TT
            | op::ALIAS_SEND_TT
    );
    let control = match number {
        op::LINK => Control::Link { from: f.pid()?, to: f.pid()? },
        op::SEND | op::SEND_TT => {
            f.skip()?;
            Control::Send { to: f.pid()?, token: f.token(with_token)? }
        }
        op::EXIT | op::EXIT_TT | op::PAYLOAD_EXIT | op::PAYLOAD_EXIT_TT => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit { from, to, token, reason: None }
        }
        op::UNLINK => Control::Unlink { from: f.pid()?, to: f.pid()? },
        op::REG_SEND | op::REG_SEND_TT => {
            let from = f.pid()?;
            f.skip()?;
            Control::RegSend { from, to: f.atom()?, token: f.token(with_token)? }
        }
        op::GROUP_LEADER => Control::GroupLeader { leader: f.pid()?, member: f.pid()? },
        op::EXIT2 | op::EXIT2_TT | op::PAYLOAD_EXIT2 | op::PAYLOAD_EXIT2_TT => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit2 { from, to, token, reason: None }
        }
        op::MONITOR_P => {
            Control::Monitor { from: f.pid()?, to: f.named()?, reference: f.reference()? }
        }
        op::DEMONITOR_P => {
            Control::Demonitor { from: f.pid()?, to: f.named()?, reference: f.reference()? }
        }
        op::MONITOR_P_EXIT | op::PAYLOAD_MONITOR_P_EXIT => {
            let (from, to, reference) = (f.named()?, f.pid()?, f.reference()?);
            Control::Down { from, to, reference, reason: None }
        }
        op::SEND_SENDER | op::SEND_SENDER_TT => {
            Control::SendSender { from: f.pid()?, to: f.pid()?, token: f.token(with_token)? }
        }
        op::SPAWN_REQUEST | op::SPAWN_REQUEST_TT => f.spawn(with_token)?,
        op::SPAWN_REPLY | op::SPAWN_REPLY_TT => f.spawned(with_token)?,
        op::ALIAS_SEND | op::ALIAS_SEND_TT => {
            Control::AliasSend { from: f.pid()?, to: f.reference()?, token: f.token(with_token)? }
        }
        op::UNLINK_ID => Control::UnlinkId { id: f.id()?, from: f.pid()?, to: f.pid()? },
        op::UNLINK_ID_ACK => Control::UnlinkIdAck { id: f.id()?, from: f.pid()?, to: f.pid()? },
        // The only control message that may have additional fields.
        op::ALTACT_SIG_SEND => return Ok((f.altact()?, false)),
        _ => return Err("unknown".into()),
    };
    let is_in_tuple =
        matches!(number, op::EXIT | op::EXIT_TT | op::EXIT2 | op::EXIT2_TT | op::MONITOR_P_EXIT);
    match fields.left.cmp(&usize::from(is_in_tuple)) {
        Ordering::Less => Err("too few fields".into()),
        Ordering::Equal => Ok((control, is_in_tuple)),
        Ordering::Greater => Err("too many fields".into()),
    }
}

impl<'a> Fields<'_, 'a> {
    /// The decoder for the next field.
    fn next(&mut self) -> Field<&mut Decoder<'a>> {
        self.left = self.left.checked_sub(1).ok_or("too few fields")?;
        Ok(self.decoder)
    }

    /// The first token of the next field.
    fn beginning(&mut self) -> Field<Token<'a>> {
        Ok(self.next()?.reader().token()?)
    }

    fn any(&mut self) -> Field<Term> {
        Ok(self.next()?.decode_bare()?)
    }

    fn skip(&mut self) -> Field<()> {
        self.next()?.reader().skip()?;
        Ok(())
    }

    fn pid(&mut self) -> Field<Pid> {
        Ok(self.next()?.reader().pid()?.ok_or("not a pid")?)
    }

    fn atom(&mut self) -> Field<Atom> {
        Ok(self.next()?.reader().atom()?.ok_or("not an atom")?)
    }

    fn reference(&mut self) -> Field<Reference> {
        Ok(self.next()?.reader().reference()?.ok_or("not a reference")?)
    }

    fn named(&mut self) -> Field<Named> {
        let reader = self.next()?.reader();
        if let Some(pid) = reader.pid()? {
            return Ok(Named::Pid(pid));
        }
        Ok(Named::Name(reader.atom()?.ok_or("neither a pid nor a name")?))
    }

    fn token(&mut self, there: bool) -> Field<Option<Term>> {
        if there { self.any().map(Some) } else { Ok(None) }
    }

    /// The id of an unlink, 1 to 2^64 - 1.
    fn id(&mut self) -> Field<u64> {
        let id = match self.beginning()? {
            Token::Integer(id) => u64::try_from(id).ok(),
            Token::BigInteger(id) => id.as_i128().and_then(|id| u64::try_from(id).ok()),
            _ => None,
        };
        Ok(id.filter(|id| *id > 0).ok_or("not the number of an unlink")?)
    }

    fn spawn(&mut self, with_token: bool) -> Field<Control> {
        let (request, from, group_leader) = (self.reference()?, self.pid()?, self.pid()?);
        let Token::Tuple(3) = self.beginning()? else { return Err("no function".into()) };
        self.left += 3;
        let (module, function) = (self.atom()?, self.atom()?);
        let Token::Integer(arity) = self.beginning()? else { return Err("no function".into()) };
        let arity = u8::try_from(arity).map_err(|_| "no function has as many arguments")?;
        let Term::List(options) = self.any()? else {
            return Err("the options are no list".into());
        };
        let token = self.token(with_token)?;
        let spawn = Spawn { request, from, group_leader, module, function, arity, options, token };
        Ok(Control::Spawn(Box::new(spawn)))
    }

    fn spawned(&mut self, with_token: bool) -> Field<Control> {
        let (request, to) = (self.reference()?, self.pid()?);
        let Token::Integer(flags @ 0..) = self.beginning()? else { return Err("no flags".into()) };
        let reader = self.next()?.reader();
        let result = match reader.pid()? {
            Some(pid) => Ok(pid),
            None => Err(reader.atom()?.ok_or("neither a pid nor a reason")?),
        };
        let token = self.token(with_token)?;
        let (linked, monitored) = (flags & spawned::LINKED != 0, flags & spawned::MONITORED != 0);
        Ok(Control::Spawned { request, to, linked, monitored, result, token })
    }

    fn altact(&mut self) -> Field<Control> {
        let flags = match self.beginning()? {
            Token::Integer(flags @ 0..) => flags as u8,
            // Future flags may need more bits; the known ones are in the lowest byte.
            Token::BigInteger(flags) if !flags.negative => {
                flags.digits.first().copied().unwrap_or(0)
            }
            _ => return Err("no flags".into()),
        };
        let has = |flag: u8| flags & flag != 0;
        let from = self.pid()?;
        let reader = self.next()?.reader();
        let to = match (has(altact::ALIAS), has(altact::NAME)) {
            (true, false) => reader.reference()?.map(To::Alias),
            (false, true) => reader.atom()?.map(To::Name),
            (false, false) => reader.pid()?.map(To::Pid),
            (true, true) => None,
        };
        let to = to.ok_or("its flags and its recipient do not agree")?;
        let token = self.token(has(altact::TOKEN))?;
        for _ in 0..self.left {
            self.skip()?;
        }
        let (priority, exit) = (has(altact::PRIORITY), has(altact::EXIT));
        Ok(Control::Altact { priority, exit, from, to, token })
    }
}
