//! A control message from a term of outside.

use std::fmt;

use purlin_term::{Atom, Pid, Reference, Sign, Term};

use crate::control::{Control, Named, Spawn, To};

/// A term that is no control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Its number, if it has one.
    pub number: Option<i64>,
    /// What is wrong.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "control message {number}: {}", self.what),
            None => write!(f, "no control message: {}", self.what),
        }
    }
}

impl std::error::Error for Malformed {}

/// The flags of `ALTACT_SIG_SEND`.
pub(super) mod altact {
    pub(crate) const PRIORITY: u8 = 1;
    pub(crate) const TOKEN: u8 = 2;
    pub(crate) const ALIAS: u8 = 4;
    pub(crate) const NAME: u8 = 8;
    pub(crate) const EXIT: u8 = 16;
}

/// The flags of `SPAWN_REPLY`.
pub(super) mod spawned {
    pub(crate) const LINKED: i64 = 1;
    pub(crate) const MONITORED: i64 = 2;
}

type Field<T> = Result<T, &'static str>;

impl TryFrom<Term> for Control {
    type Error = Malformed;

    fn try_from(term: Term) -> Result<Self, Malformed> {
        let Term::Tuple(elements) = term else {
            return Err(Malformed { number: None, what: "not a tuple" });
        };
        let mut fields = elements.into_iter();
        let Some(Term::Integer(number)) = fields.next() else {
            return Err(Malformed { number: None, what: "no number in front" });
        };
        control(number, Fields(fields)).map_err(|what| Malformed { number: Some(number), what })
    }
}

/// The fields that have not been taken.
struct Fields(std::vec::IntoIter<Term>);

fn control(number: i64, mut fields: Fields) -> Field<Control> {
    let f = &mut fields;
    let with_token = matches!(number, 12 | 13 | 16 | 18 | 23 | 25 | 27 | 30 | 32 | 34);
    let control = match number {
        1 => Control::Link { from: f.pid()?, to: f.pid()? },
        2 | 12 => {
            f.any()?;
            Control::Send { to: f.pid()?, token: f.token(with_token)? }
        }
        3 | 13 => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit { from, to, token, reason: Some(f.any()?) }
        }
        4 => Control::Unlink { from: f.pid()?, to: f.pid()? },
        6 | 16 => {
            let from = f.pid()?;
            f.any()?;
            Control::RegSend { from, to: f.atom()?, token: f.token(with_token)? }
        }
        7 => Control::GroupLeader { leader: f.pid()?, member: f.pid()? },
        8 | 18 => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit2 { from, to, token, reason: Some(f.any()?) }
        }
        19 => Control::Monitor { from: f.pid()?, to: f.named()?, reference: f.reference()? },
        20 => Control::Demonitor { from: f.pid()?, to: f.named()?, reference: f.reference()? },
        21 | 28 => {
            let (from, to, reference) = (f.named()?, f.pid()?, f.reference()?);
            let reason = if number == 21 { Some(f.any()?) } else { None };
            Control::Down { from, to, reference, reason }
        }
        22 | 23 => {
            Control::SendSender { from: f.pid()?, to: f.pid()?, token: f.token(with_token)? }
        }
        24 | 25 => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit { from, to, token, reason: None }
        }
        26 | 27 => {
            let (from, to, token) = (f.pid()?, f.pid()?, f.token(with_token)?);
            Control::Exit2 { from, to, token, reason: None }
        }
        29 | 30 => f.spawn(with_token)?,
        31 | 32 => f.spawned(with_token)?,
        33 | 34 => {
            Control::AliasSend { from: f.pid()?, to: f.reference()?, token: f.token(with_token)? }
        }
        35 => Control::UnlinkId { id: f.id()?, from: f.pid()?, to: f.pid()? },
        36 => Control::UnlinkIdAck { id: f.id()?, from: f.pid()?, to: f.pid()? },
        // It alone may have fields that are not known yet.
        37 => return f.altact(),
        _ => return Err("unknown"),
    };
    if fields.0.len() == 0 { Ok(control) } else { Err("too many fields") }
}

impl Fields {
    fn any(&mut self) -> Field<Term> {
        self.0.next().ok_or("too few fields")
    }

    fn pid(&mut self) -> Field<Pid> {
        match self.any()? {
            Term::Pid(pid) => Ok(*pid),
            _ => Err("not a pid"),
        }
    }

    fn atom(&mut self) -> Field<Atom> {
        match self.any()? {
            Term::Atom(atom) => Ok(atom),
            _ => Err("not an atom"),
        }
    }

    fn reference(&mut self) -> Field<Reference> {
        match self.any()? {
            Term::Reference(reference) => Ok(*reference),
            _ => Err("not a reference"),
        }
    }

    fn named(&mut self) -> Field<Named> {
        match self.any()? {
            Term::Pid(pid) => Ok(Named::Pid(*pid)),
            Term::Atom(name) => Ok(Named::Name(name)),
            _ => Err("neither a pid nor a name"),
        }
    }

    fn token(&mut self, there: bool) -> Field<Option<Term>> {
        if there { self.any().map(Some) } else { Ok(None) }
    }

    /// The number of an unlink, 1 to 2^64 - 1.
    fn id(&mut self) -> Field<u64> {
        let id = match self.any()? {
            Term::Integer(id) => u64::try_from(id).ok(),
            Term::BigInteger(id) => u64::try_from(id.get()).ok(),
            _ => None,
        };
        id.filter(|id| *id > 0).ok_or("not the number of an unlink")
    }

    fn spawn(&mut self, with_token: bool) -> Field<Control> {
        let (request, from, group_leader) = (self.reference()?, self.pid()?, self.pid()?);
        let Term::Tuple(called) = self.any()? else { return Err("no function") };
        let [Term::Atom(module), Term::Atom(function), Term::Integer(arity)] = &called[..] else {
            return Err("no function");
        };
        let (module, function) = (module.clone(), function.clone());
        let arity = u8::try_from(*arity).map_err(|_| "no function has as many arguments")?;
        let Term::List(options) = self.any()? else { return Err("the options are no list") };
        let token = self.token(with_token)?;
        let spawn = Spawn { request, from, group_leader, module, function, arity, options, token };
        Ok(Control::Spawn(Box::new(spawn)))
    }

    fn spawned(&mut self, with_token: bool) -> Field<Control> {
        let (request, to) = (self.reference()?, self.pid()?);
        let Term::Integer(flags @ 0..) = self.any()? else { return Err("no flags") };
        let result = match self.any()? {
            Term::Pid(pid) => Ok(*pid),
            Term::Atom(reason) => Err(reason),
            _ => return Err("neither a pid nor a reason"),
        };
        let token = self.token(with_token)?;
        let (linked, monitored) = (flags & spawned::LINKED != 0, flags & spawned::MONITORED != 0);
        Ok(Control::Spawned { request, to, linked, monitored, result, token })
    }

    fn altact(&mut self) -> Field<Control> {
        let flags = match self.any()? {
            Term::Integer(flags @ 0..) => flags as u8,
            // Flags to come may need more bits; these are in the lowest.
            Term::BigInteger(flags) => match flags.get().to_bytes_le() {
                (Sign::Plus, bytes) => bytes[0],
                _ => return Err("negative flags"),
            },
            _ => return Err("no flags"),
        };
        let has = |flag: u8| flags & flag != 0;
        let (from, to) = (self.pid()?, self.any()?);
        let to = match (to, has(altact::ALIAS), has(altact::NAME)) {
            (Term::Reference(alias), true, false) => To::Alias(*alias),
            (Term::Atom(name), false, true) => To::Name(name),
            (Term::Pid(pid), false, false) => To::Pid(*pid),
            _ => return Err("its flags and who gets it do not agree"),
        };
        let token = self.token(has(altact::TOKEN))?;
        let (priority, exit) = (has(altact::PRIORITY), has(altact::EXIT));
        Ok(Control::Altact { priority, exit, from, to, token })
    }
}
