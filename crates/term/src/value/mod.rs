//! Conversion between Rust values and Erlang terms with `serde`.
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
//! | a struct | as [`Structs`] specifies: by default a map with atoms for keys |
//! | `None` | as [`Absent`] specifies: `undefined` or `nil`; `Some` is written as its contents |
//! | `Variant` of an enum, a unit struct | the atom `'Variant'` |
//! | `Variant(a, b)` | `{'Variant', A, B}` |
//! | `Variant { a, b }` | `{'Variant', #{a => A, b => B}}`, or another form of [`Structs`] |
//! | [`Term`], [`Atom`](crate::Atom), [`Pid`](crate::Pid) and the like | themselves |
//!
//! Names are those that `serde` uses: `#[serde(rename_all = "snake_case")]` gives an enum the atoms
//! that are usual in Erlang, `#[serde(rename = "user")]` on a struct names its record.
//!
//! # How values are read
//!
//! Reading takes no options: it accepts every form. A struct is read from a map with atoms or
//! binaries for keys, a keyword list, a tuple, or a record whose tag is its name; `None` from
//! `undefined` and `nil`; a `String` from a binary, a list of characters or an atom; a `Vec<u8>`
//! from a list, a string or a binary. `__struct__` is skipped, so an Elixir struct is read as a
//! struct, and so is a native record of OTP 29, whatever its name. A mismatch, and nesting deeper than 128 levels, is an error, never a panic.
//!
//! `serde` limits two cases. An `Option` whose contents may be the atom `undefined` or `nil` is
//! read as `None`. Values that `serde` buffers (untagged and internally tagged enums, flattened
//! fields) cannot contain a [`Term`] or an identifier.
//!
//! # Options
//!
//! [`Options`] apply to a whole value. A field that needs another form than its surroundings
//! selects it with one of the modules in [`with`]:
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
//! An enum can describe the protocol of a process:
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
//! COST: bytes are written and read without an intermediate term, and values may borrow text and
//! binaries from the bytes. [`to_term`] and [`from_term`] go through bytes.

mod de;
mod error;
mod options;
mod ser;
mod terms;
pub mod with;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

pub use error::ValueError;
pub use options::{Absent, Options, Strings, Structs};

use crate::{Reader, Reason, Term, tag};

impl Options {
    /// Elixir's conventions: its structs, and `nil` for absent values.
    pub const ELIXIR: Self =
        Self { structs: Structs::Elixir, absent: Absent::Nil, strings: Strings::Binary };

    /// Serializes a value to bytes with the version byte.
    ///
    /// # Errors
    ///
    /// Returns an error if a float is not finite, a name is not an atom, or the value's own
    /// serialization fails.
    pub fn to_bytes<T: Serialize + ?Sized>(self, value: &T) -> Result<Vec<u8>, ValueError> {
        let mut bytes = vec![tag::VERSION];
        self.write(value, &mut bytes)?;
        Ok(bytes)
    }

    /// Appends a serialized value to the buffer, without a version byte.
    ///
    /// # Errors
    ///
    /// See [`Options::to_bytes`]. The buffer then contains an incomplete term.
    pub fn write<T: Serialize + ?Sized>(
        self,
        value: &T,
        bytes: &mut Vec<u8>,
    ) -> Result<(), ValueError> {
        value.serialize(ser::Serializer::new(bytes, self))
    }

    /// Converts a value to a term.
    ///
    /// # Errors
    ///
    /// See [`Options::to_bytes`]. Also returns an error if a map has two equal keys.
    pub fn to_term<T: Serialize + ?Sized>(self, value: &T) -> Result<Term, ValueError> {
        Ok(Term::decode(&self.to_bytes(value)?)?)
    }
}

/// Serializes a value with the default options; see [`Options::to_bytes`].
///
/// # Errors
///
/// See [`Options::to_bytes`].
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, ValueError> {
    Options::default().to_bytes(value)
}

/// Converts a value to a term with the default options; see [`Options::to_term`].
///
/// # Errors
///
/// See [`Options::to_term`].
pub fn to_term<T: Serialize + ?Sized>(value: &T) -> Result<Term, ValueError> {
    Options::default().to_term(value)
}

/// Deserializes a value from these bytes, which must be exactly one term preceded by the version
/// byte.
///
/// # Errors
///
/// Returns an error if the bytes are not a term or do not match the type. A compressed term is
/// rejected, because a value may borrow from the bytes: decode it first.
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

/// Deserializes a value from the next term of a reader, without a version byte.
///
/// # Errors
///
/// Returns an error if the term is invalid or does not match the type. The position is then inside
/// of the term.
pub fn from_reader<'de, T: Deserialize<'de>>(reader: &mut Reader<'de>) -> Result<T, ValueError> {
    T::deserialize(de::Deserializer::new(reader))
}

/// Converts a term to a value.
///
/// # Errors
///
/// Returns an error if the term does not match the type.
pub fn from_term<T: DeserializeOwned>(term: &Term) -> Result<T, ValueError> {
    from_bytes(&term.encode()?)
}
