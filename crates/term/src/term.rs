//! Erlang term type, and funs: purlin can store a fun of another node and send it back, but not call it.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;

use crate::{
    Atom, BigInteger, Binary, BitString, Float, ImproperList, Map, NativeRecord, Pid, Port,
    Reference,
};

/// An owned Erlang term.
///
/// Equality is Erlang's `=:=`: `1` and `1.0` differ. Erlang's order, in which they are equal, is
/// [`Term::compare`]; therefore there is no `Ord`. `Display` and `Debug` print as `~0tp` does.
///
/// Terms are normalized: an integer that fits is an [`Integer`](Term::Integer), a list with a
/// proper tail a [`List`](Term::List), a bit string of whole bytes a [`Binary`](Term::Binary). The
/// component types guarantee this.
///
/// COST: 32 bytes; tuples, lists and maps hold their elements in one allocation; identifiers, funs
/// and big integers are boxed. A clone copies everything except binaries, the texts of atoms, and
/// parts below 1024 levels. Clone, drop and `==` recurse to the depth of the term, in a decoded term
/// to the next [`Term::Deep`], at most 1024 levels.
#[derive(Clone)]
#[non_exhaustive]
pub enum Term {
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A larger integer.
    BigInteger(BigInteger),
    /// A float.
    Float(Float),
    /// An atom.
    Atom(Atom),
    /// A binary; an Elixir string.
    Binary(Binary),
    /// A bit string whose length is not a multiple of eight bits.
    BitString(Box<BitString>),
    /// `{...}`
    Tuple(Vec<Term>),
    /// `[...]`, including the empty list and Erlang strings.
    List(Vec<Term>),
    /// `[... | tail]`
    ImproperList(Box<ImproperList>),
    /// `#{...}`
    Map(Map),
    /// A process identifier.
    Pid(Box<Pid>),
    /// A port identifier.
    Port(Box<Port>),
    /// A reference.
    Reference(Box<Reference>),
    /// A fun with its free variables.
    Fun(Box<Fun>),
    /// `fun module:function/arity`
    Export(Box<Export>),
    /// A native record of OTP 29: `#module:name{...}`
    NativeRecord(Box<NativeRecord>),
    /// A node's local encoding (LOCAL_EXT), the bytes after the tag; always a whole message.
    Local(Binary),
    /// A compound part of a decoded term at a multiple of 1024 levels; see [`Term::contents`].
    Deep(Deep),
}

/// A fun with its free variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fun {
    /// Module that defines it.
    pub module: Atom,
    /// Number of arguments.
    pub arity: u8,
    /// MD5 of the significant parts of the module.
    pub uniq: [u8; 16],
    /// Index in the module.
    pub index: u32,
    /// Index in the format of old releases.
    pub old_index: i64,
    /// Hash of the module in the format of old releases.
    pub old_uniq: i64,
    /// Process that created it.
    pub pid: Pid,
    /// Values of its free variables.
    pub free: Vec<Term>,
}

/// External fun: `fun module:function/arity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Export {
    /// The module.
    pub module: Atom,
    /// The function.
    pub function: Atom,
    /// Number of arguments.
    pub arity: u8,
}

/// A part of a decoded term at a multiple of [`Deep::LEVELS`] levels. Everything but pattern
/// matching treats it as its contents.
#[derive(Clone)]
pub struct Deep(Option<Arc<Term>>);

static NIL: Term = Term::NIL;

impl Deep {
    /// Number of levels between two such parts. Cloning, dropping and `==` of so many levels fit
    /// into 1 MiB of stack, half of a thread's usual 2 MiB.
    pub const LEVELS: usize = 1024;

    pub(crate) fn new(contents: Term) -> Self {
        Self(Some(Arc::new(contents)))
    }

    /// Returns the contents.
    pub fn get(&self) -> &Term {
        // It is `None` while it is dropped.
        self.0.as_deref().unwrap_or(&NIL)
    }

    /// Returns the contents. COST: copies them to the next such part if clones share them.
    pub fn into_contents(mut self) -> Term {
        self.0.take().map_or(Term::NIL, Arc::unwrap_or_clone)
    }

    /// Takes the contents if no clone shares them.
    pub(crate) fn take(&mut self) -> Option<Term> {
        self.0.take().and_then(Arc::into_inner)
    }
}

impl fmt::Debug for Deep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// Methods that return the content of one variant.
macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident: $variant:ident($part:ident) -> $type:ty { $value:expr })*) => {
        $($(#[$doc])* pub fn $name(&self) -> Option<$type> {
            match self.contents() {
                Self::$variant($part) => Some($value),
                _ => None,
            }
        })*
    };
}

impl Term {
    /// The empty list.
    pub const NIL: Self = Self::List(Vec::new());

    /// Creates an atom from a static text.
    ///
    /// # Panics
    ///
    /// Panics if the text has more than 255 bytes. Use [`Atom::new`] for any other text.
    pub fn atom(text: &'static str) -> Self {
        Self::Atom(Atom::from_static(text))
    }

    /// Creates a tuple.
    pub fn tuple(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// Creates a list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// Creates a map. If a key occurs more than once, the last value is kept.
    pub fn map(pairs: impl IntoIterator<Item = (Self, Self)>) -> Self {
        Self::Map(pairs.into_iter().collect())
    }

    /// Creates an Erlang string: the list of the text's characters.
    pub fn string(text: &str) -> Self {
        Self::list(text.chars().map(|c| Self::Integer(u32::from(c).into())))
    }

    /// Returns whether the term is the atom with this text.
    pub fn is_atom(&self, text: &str) -> bool {
        self.as_atom().is_some_and(|atom| atom == text)
    }

    /// Returns the boolean if the term is `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.as_atom()?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    accessors! {
        /// Returns the integer if it fits 64 bits.
        as_integer: Integer(value) -> i64 { *value }
        /// Returns the float.
        as_float: Float(value) -> f64 { value.get() }
        /// Returns the atom.
        as_atom: Atom(atom) -> &Atom { atom }
        /// Returns the bytes of a binary.
        as_binary: Binary(bytes) -> &[u8] { bytes }
        /// Returns the elements of a tuple.
        as_tuple: Tuple(elements) -> &[Self] { elements }
        /// Returns the elements of a proper list.
        as_list: List(elements) -> &[Self] { elements }
        /// Returns the map.
        as_map: Map(map) -> &Map { map }
        /// Returns the native record.
        as_record: NativeRecord(record) -> &NativeRecord { record }
        /// Returns the process identifier.
        as_pid: Pid(pid) -> &Pid { pid }
        /// Returns the reference.
        as_reference: Reference(reference) -> &Reference { reference }
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
                Self::from(BigInt::from(value))
            }
        })*
    };
}

from_integers!(i8 i16 i32 i64 u8 u16 u32; u64 i128 u128 usize isize);

impl From<BigInt> for Term {
    fn from(value: BigInt) -> Self {
        match i64::try_from(&value) {
            Ok(small) => Self::Integer(small),
            Err(_) => Self::BigInteger(BigInteger(Box::new(value))),
        }
    }
}

impl From<bool> for Term {
    fn from(value: bool) -> Self {
        Self::Atom(value.into())
    }
}

impl From<&str> for Term {
    /// Creates a binary, as an Elixir string is; [`Term::string`] creates an Erlang string.
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

/// Error: the float is infinite or not a number, which Erlang does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a float of Erlang's is finite")]
pub struct NotFinite;

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

from_parts!(Float Atom Binary Map; BitString Pid Port Reference Fun Export NativeRecord);

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::Term;

    #[test]
    fn a_term_takes_32_bytes_and_can_go_to_another_thread() {
        fn sendable<T: Send + Sync + Clone + 'static>() {}
        sendable::<Term>();
        assert_eq!(size_of::<Term>(), 32);
    }

    #[test]
    fn integers_that_fit_64_bits_are_normalized() {
        for small in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(Term::from(BigInt::from(small)), Term::Integer(small));
        }
        assert!(matches!(Term::from(BigInt::from(i64::MAX) + 1), Term::BigInteger(_)));
    }

    #[test]
    fn integers_of_all_types_are_normalized() {
        assert_eq!(Term::from(7_u8), Term::Integer(7));
        assert_eq!(Term::from(7_u64), Term::from(7_i128));
        assert_eq!(Term::from(u64::MAX), Term::from(u128::from(u64::MAX)));
    }
}
