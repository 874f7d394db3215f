//! Values of Rust as Erlang's terms, and back, by way of `serde`.
//!
//! # How values are written
//!
//! | in Rust | in Erlang |
//! |---|---|
//! | integers, floats, `bool` | integers, floats, `true` and `false` |
//! | `char` | the number of the character |
//! | `String`, `&str` | a binary in UTF-8; with [`Strings::List`] a list of characters |
//! | bytes (`Binary`, `serde_bytes`) | a binary |
//! | `Vec`, slices | a list |
//! | tuples, tuple structs, `()` | a tuple |
//! | `HashMap`, `BTreeMap` | a map |
//! | a struct | as [`Structs`] says: a map with atoms for keys, unless told otherwise |
//! | `None` | as [`Absent`] says: `undefined` or `nil`; `Some` is what it holds |
//! | `Variant` of an enum, a unit struct | the atom `'Variant'` |
//! | `Variant(a, b)` | `{'Variant', A, B}` |
//! | `Variant { a, b }` | `{'Variant', #{a => A, b => B}}`, or what else a struct is |
//! | [`Term`], [`Atom`](crate::Atom), [`Pid`](crate::Pid) and the like | themselves |
//!
//! Names are those that `serde` knows: `#[serde(rename_all = "snake_case")]` gives an enum Erlang's
//! atoms, `#[serde(rename = "user")]` on a struct names its record.
//!
//! # How values are read
//!
//! Reading takes no options: it takes every form there is. A struct is read from a map with atoms or
//! binaries for keys, a keyword list, a tuple, or a record whose tag is its name; `None` from
//! `undefined` and `nil`; a `String` from a binary, a list of characters or an atom; a `Vec<u8>` from a
//! list, a string or a binary. `__struct__` is passed over, so an Elixir struct is read as a struct.
//! What does not fit is an error, never a panic, and what is nested deeper than 128 levels as well.
//!
//! Two things `serde` cannot carry. An `Option` of something that may itself be the atom `undefined` or
//! `nil` is read as `None`. And what goes through `serde`'s own buffer, in enums that are untagged or
//! tagged inside and in fields that are flattened, can hold no [`Term`] and no identifier.
//!
//! # Choosing
//!
//! [`Options`] hold for a whole value. A field that is to be written in another way than what is around
//! it says so, with one of the modules in [`with`]:
//!
//! ```
//! use purlin_term::{Options, Structs, from_term, to_term, with};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, PartialEq, Debug)]
//! #[serde(rename = "user")]
//! struct User {
//!     id: u32,
//!     #[serde(with = "with::atom")]
//!     role: String,
//!     #[serde(with = "with::keyword")]
//!     limits: Limits,
//! }
//!
//! #[derive(Serialize, Deserialize, PartialEq, Debug)]
//! struct Limits {
//!     rate: f64,
//!     until: Option<u64>,
//! }
//!
//! let limits = Limits { rate: 0.5, until: None };
//! let user = User { id: 7, role: "admin".into(), limits };
//!
//! let term = to_term(&user)?;
//! let text = "#{id => 7,limits => [{rate,0.5},{until,undefined}],role => admin}";
//! assert_eq!(term.to_string(), text);
//!
//! let record = Options { structs: Structs::Record, ..Options::default() }.to_term(&user)?;
//! assert_eq!(record.to_string(), "{user,7,admin,[{rate,0.5},{until,undefined}]}");
//!
//! assert_eq!(from_term::<User>(&term)?, user);
//! assert_eq!(from_term::<User>(&record)?, user);
//! # Ok::<(), purlin_term::ValueError>(())
//! ```
//!
//! An enum is the protocol of a process:
//!
//! ```
//! use purlin_term::{Pid, Term, from_term};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, PartialEq, Debug)]
//! #[serde(rename_all = "snake_case")]
//! enum Request {
//!     Stop,
//!     Get(String),
//!     Put(String, Term),
//! }
//!
//! let request: Term = r#"{put, <<"key">>, [any, "term"]}"#.parse()?;
//! let any = r#"[any, "term"]"#.parse()?;
//! assert_eq!(from_term::<Request>(&request)?, Request::Put("key".into(), any));
//! assert_eq!(from_term::<Request>(&Term::atom("stop"))?, Request::Stop);
//! assert!(from_term::<Request>(&Term::atom("start")).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! COST: writing and reading bytes goes without a term in between, and what is read may borrow text and
//! binaries from the bytes. [`to_term`] and [`from_term`] go by way of bytes.

mod access;
mod compound;
mod de;
mod enums;
mod error;
mod ser;
mod terms;
pub mod with;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

pub use error::ValueError;

use crate::{Reader, Reason, Term, tag};

/// The name of the newtype by which a term goes through `serde`, as the bytes that it is.
const RAW: &str = "$purlin_term::Term";

/// How values are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What a struct becomes.
    pub structs: Structs,
    /// What `None` becomes.
    pub absent: Absent,
    /// What a string becomes.
    pub strings: Strings,
}

/// What a struct becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structs {
    /// `#{field => Value}`
    #[default]
    Map,
    /// `#{<<"field">> => Value}`
    MapOfBinaries,
    /// `{Value, ...}`, in the order of the fields.
    Tuple,
    /// `{name, Value, ...}`, in the order of the fields.
    Record,
    /// `[{field, Value}]`
    Keyword,
    /// `#{'__struct__' => 'Elixir.Name', field => Value}`, a struct of Elixir's.
    Elixir,
}

/// What `None` becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absent {
    /// `undefined`, as in Erlang.
    #[default]
    Undefined,
    /// `nil`, as in Elixir.
    Nil,
}

/// What a string becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// A binary in UTF-8.
    #[default]
    Binary,
    /// A list of characters.
    List,
    /// An atom.
    Atom,
}

impl Options {
    /// What Elixir expects: its structs, and `nil` for what is absent.
    pub const ELIXIR: Self =
        Self { structs: Structs::Elixir, absent: Absent::Nil, strings: Strings::Binary };

    /// The bytes of a value, the version before them.
    ///
    /// # Errors
    ///
    /// A float is not finite, a name is no atom, or what the value says itself.
    pub fn to_bytes<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, ValueError> {
        let mut bytes = vec![tag::VERSION];
        self.write(value, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes a value behind what the buffer holds, without a version.
    ///
    /// # Errors
    ///
    /// As [`Options::to_bytes`]. What the buffer got is no term.
    pub fn write<T: Serialize + ?Sized>(
        self,
        value: &T,
        bytes: &mut Vec<u8>,
    ) -> Result<(), ValueError> {
        value.serialize(ser::Serializer::new(bytes, self))
    }

    /// The term of a value.
    ///
    /// # Errors
    ///
    /// As [`Options::to_bytes`]; or a map has two equal keys.
    pub fn to_term<T: Serialize + ?Sized>(self, value: &T) -> Result<Term, ValueError> {
        Ok(Term::decode(&self.to_bytes(value)?)?)
    }
}

/// The bytes of a value, as [`Options::to_bytes`] with the usual options.
///
/// # Errors
///
/// As there.
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ValueError> {
    Options::default().to_bytes(value)
}

/// The term of a value, as [`Options::to_term`] with the usual options.
///
/// # Errors
///
/// As there.
pub fn to_term<T: Serialize + ?Sized>(value: &T) -> Result<Term, ValueError> {
    Options::default().to_term(value)
}

/// The value that these bytes are, all of them, with the version before it.
///
/// # Errors
///
/// The bytes are no term, or none of such a value. A compressed term is refused, since a value may
/// borrow from the bytes: decode it first.
pub fn from_bytes<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ValueError> {
    let Some((&version, bytes)) = bytes.split_first() else {
        return Err(ValueError::wrong(0, Reason::Ended));
    };
    if version != tag::VERSION {
        return Err(ValueError::wrong(0, Reason::Version(version)));
    }
    let mut reader = Reader::new(bytes);
    let value = from_reader(&mut reader)?;
    if !reader.rest().is_empty() {
        return Err(ValueError::wrong(1 + reader.position(), Reason::Trailing));
    }
    Ok(value)
}

/// The value that the next term of a reader is; it has no version before it.
///
/// # Errors
///
/// There is none, or none of such a value; the reader then stands within it.
pub fn from_reader<'de, T: Deserialize<'de>>(reader: &mut Reader<'de>) -> Result<T, ValueError> {
    T::deserialize(de::Deserializer::new(reader))
}

/// The value that a term is.
///
/// # Errors
///
/// The term is none of such a value.
pub fn from_term<T: DeserializeOwned>(term: &Term) -> Result<T, ValueError> {
    from_bytes(&term.encode()?)
}
