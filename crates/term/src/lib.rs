//! Erlang's terms, and the external format in which nodes send them to each other.
//!
//! ```
//! use purlin_term::Term;
//!
//! let term = Term::tuple([Term::atom("ok"), Term::list([Term::from(1), Term::from("two")])]);
//! let bytes = term.encode()?;
//! assert_eq!(Term::decode(&bytes)?, term);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | hold a term, look into it, make one | [`Term`] and what it is made of |
//! | read bytes of strangers | [`Term::decode`]; [`Decoder`] with [`Limits`]; [`Reader`] to copy nothing |
//! | write bytes | [`Term::encode`]; [`Encoder`] into a buffer of one's own, in portions if it is large; [`Writer`] without a [`Term`] |
//! | compare as Erlang does | [`Term::compare`] |
//! | choose a shard as Erlang does | [`Term::phash2`], [`Term::phash2_in`] |
//! | print as Erlang does | [`Display`](std::fmt::Display) for `~0tp`, [`Term::written`] for `~tw` |
//! | send and receive Rust's own types, by `serde` | [`to_bytes`], [`from_bytes`], [`Options`]: see [`value`] |
//! | read Erlang's syntax | [`FromStr`](std::str::FromStr): `"{ok, [1, 2]}".parse::<Term>()` |
//!
//! Everything here is data: no input or output, no clock, no global state; any thread may use any of
//! it. What comes from outside is not believed: lengths are compared with what is there before any
//! room is made, depth and memory have limits, atoms fill no table, and errors say where and why.

mod atom;
mod binary;
mod decode;
mod encode;
mod error;
mod fun;
mod identifier;
mod inflate;
mod list;
mod map;
mod number;
mod order;
mod phash2;
mod reader;
mod table;
mod tag;
mod term;
mod text;
mod token;
pub mod value;
mod writer;

pub use atom::{Atom, AtomTooLong};
pub use binary::{Binary, BitString};
pub use decode::{Decoder, Limits};
pub use encode::{Buffer, Encoder};
pub use error::{DecodeError, EncodeError, Reason};
pub use fun::{Export, Fun};
pub use identifier::{Pid, Port, Reference};
pub use list::ImproperList;
pub use map::Map;
pub use num_bigint::{BigInt, Sign};
pub use number::{BigInteger, Float};
pub use reader::Reader;
pub use table::AtomTable;
pub use term::{NotFinite, Term};
pub use text::{ParseError, Written};
pub use token::{FunHead, Magnitude, PidParts, Token};
pub use value::{
    Absent, Options, Strings, Structs, ValueError, from_bytes, from_reader, from_term, to_bytes,
    to_term, with,
};
pub use writer::{AtomIndex, Writer};

/// Documents whose examples are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/terms.md")]
    struct Terms;
}
