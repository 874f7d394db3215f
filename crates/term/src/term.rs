//! The term itself.

use crate::{
    Atom, BigInteger, Binary, BitString, Export, Float, Fun, ImproperList, Map, Pid, Port,
    Reference,
};

/// An Erlang term, owned.
///
/// Equality is Erlang's `=:=`: `1` and `1.0` differ. Erlang's order, in which they do not, is
/// [`Term::compare`]; so there is no `Ord`. `Display` and `Debug` print as `~0tp` does.
///
/// Equal terms have one form: an integer that fits is an [`Integer`](Term::Integer), a list with a
/// proper tail a [`List`](Term::List), a bit string of whole bytes a [`Binary`](Term::Binary). The
/// types inside see to it.
///
/// COST: 32 bytes; tuples, lists and maps hold theirs in one block of memory, identifiers, funs and
/// big integers lie behind a pointer. A clone copies everything but binaries and the texts of atoms.
/// Clone, drop, `==` and hashing recurse as deep as the term is; what was read from outside is no
/// deeper than [`Limits`](crate::Limits) allow.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Term {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// An integer that does not.
    BigInteger(BigInteger),
    /// A float.
    Float(Float),
    /// An atom.
    Atom(Atom),
    /// Bytes; a string of Elixir's.
    Binary(Binary),
    /// Bits that are no whole number of bytes.
    BitString(Box<BitString>),
    /// `{...}`
    Tuple(Vec<Term>),
    /// `[...]`, the empty list and Erlang's strings included.
    List(Vec<Term>),
    /// `[... | tail]`
    ImproperList(Box<ImproperList>),
    /// `#{...}`
    Map(Map),
    /// A process.
    Pid(Box<Pid>),
    /// A port.
    Port(Box<Port>),
    /// A reference.
    Reference(Box<Reference>),
    /// A fun with its variables.
    Fun(Box<Fun>),
    /// `fun module:function/arity`
    Export(Box<Export>),
    /// What a node encoded for itself alone, as it stands behind the tag; only ever a whole message.
    Local(Binary),
}

impl Term {
    /// The empty list.
    pub const NIL: Self = Self::List(Vec::new());

    /// An atom of a text that the program holds.
    ///
    /// # Panics
    ///
    /// The text has more than 255 bytes. For any other text there is [`Atom::new`].
    pub fn atom(text: &'static str) -> Self {
        Self::Atom(Atom::from_static(text))
    }

    /// A tuple.
    pub fn tuple(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// A list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// A map; of equal keys the last one counts.
    pub fn map(pairs: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::Map(pairs.into_iter().collect())
    }

    /// A string of Erlang's: the list of the text's characters.
    pub fn string(text: &str) -> Self {
        Self::list(text.chars().map(|c| Self::Integer(u32::from(c).into())))
    }

    /// The integer, if it is one that fits.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The float.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(value.get()),
            _ => None,
        }
    }

    /// The atom.
    pub fn as_atom(&self) -> Option<&Atom> {
        match self {
            Self::Atom(atom) => Some(atom),
            _ => None,
        }
    }

    /// Whether it is the atom of this text.
    pub fn is_atom(&self, text: &str) -> bool {
        self.as_atom().is_some_and(|atom| atom == text)
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_atom()?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The bytes of a binary.
    pub fn as_binary(&self) -> Option<&[u8]> {
        match self {
            Self::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn as_tuple(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements of a proper list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            _ => None,
        }
    }

    /// The map.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The process identifier.
    pub fn as_pid(&self) -> Option<&Pid> {
        match self {
            Self::Pid(pid) => Some(pid),
            _ => None,
        }
    }

    /// The reference.
    pub fn as_reference(&self) -> Option<&Reference> {
        match self {
            Self::Reference(reference) => Some(reference),
            _ => None,
        }
    }
}

macro_rules! from_integers {
    ($($small:ty)*; $($large:ty)*) => {
        $(impl From<$small> for Term {
            fn from(value: $small) -> Self {
                Self::Integer(value.into())
            }
        })*
        $(impl From<$large> for Term {
            fn from(value: $large) -> Self {
                Self::from(num_bigint::BigInt::from(value))
            }
        })*
    };
}

from_integers!(i8 i16 i32 i64 u8 u16 u32; u64 i128 u128 usize isize);

impl From<bool> for Term {
    fn from(value: bool) -> Self {
        Self::Atom(value.into())
    }
}

impl From<&str> for Term {
    /// A binary, as Elixir's strings are; [`Term::string`] makes Erlang's.
    fn from(text: &str) -> Self {
        Self::Binary(text.into())
    }
}

impl From<&[u8]> for Term {
    fn from(bytes: &[u8]) -> Self {
        Self::Binary(bytes.into())
    }
}

impl TryFrom<f64> for Term {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Self, NotFinite> {
        Float::new(value).map(Self::Float).ok_or(NotFinite)
    }
}

/// Erlang has no infinite float and none that is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotFinite;

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a float of Erlang's is finite")
    }
}

impl std::error::Error for NotFinite {}

macro_rules! from_parts {
    ($($part:ident)*; $($boxed:ident)*) => {
        $(impl From<$part> for Term {
            fn from(part: $part) -> Self {
                Self::$part(part)
            }
        })*
        $(impl From<$boxed> for Term {
            fn from(part: $boxed) -> Self {
                Self::$boxed(Box::new(part))
            }
        })*
    };
}

from_parts!(Float Atom Binary Map; BitString Pid Port Reference Fun Export);

#[cfg(test)]
mod tests {
    use super::Term;

    #[test]
    fn a_term_takes_32_bytes_and_can_go_to_another_thread() {
        fn sendable<T: Send + Sync + Clone + 'static>() {}
        sendable::<Term>();
        assert_eq!(size_of::<Term>(), 32);
    }

    #[test]
    fn integers_of_all_types_have_one_form() {
        assert_eq!(Term::from(7_u8), Term::Integer(7));
        assert_eq!(Term::from(7_u64), Term::from(7_i128));
        assert_eq!(Term::from(u64::MAX), Term::from(u128::from(u64::MAX)));
    }
}
