//! Erlang terms and the external term format.
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
//! | task | API |
//! |---|---|
//! | hold, inspect and build a term | [`Term`] and its component types |
//! | decode untrusted bytes | [`Term::decode`]; [`Decoder`] with [`Limits`]; [`Reader`] without copying |
//! | encode | [`Term::encode`]; [`Encoder`] into a given buffer, in fragments if the term is large; [`Writer`] without a [`Term`] |
//! | compare as Erlang does | [`Term::compare`] |
//! | choose a shard as Erlang does | [`Term::phash2`], [`Term::phash2_in`] |
//! | print as Erlang does | [`Display`](std::fmt::Display) for `~0tp`, [`Term::written`] for `~tw` |
//! | convert Rust types with `serde` | [`to_bytes`], [`from_bytes`], [`Options`]: see [`value`] |
//! | parse Erlang's syntax | [`FromStr`](std::str::FromStr): `"{ok, [1, 2]}".parse::<Term>()` |
//!
//! The crate does no I/O, reads no clock and has no global state; its types can be used from any
//! thread. It does not trust input: lengths are checked against the remaining bytes before anything
//! is allocated, depth and memory are limited, there is no atom table to fill, and errors state the
//! offset and the reason.

mod atom;
mod binary;
mod decode;
mod deep;
mod encode;
mod equal;
mod error;
mod identifier;
mod inflate;
mod list;
mod map;
mod native_record;
mod number;
mod order;
mod phash2;
mod put;
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
pub use encode::Encoder;
pub use error::{DecodeError, EncodeError, Reason};
pub use identifier::{Pid, Port, Reference};
pub use list::ImproperList;
pub use map::Map;
pub use native_record::NativeRecord;
pub use num_bigint::{BigInt, Sign};
pub use number::{BigInteger, Float};
pub use put::{AtomIndex, Buffer};
pub use reader::Reader;
pub use table::AtomTable;
pub use term::{Deep, Export, Fun, NotFinite, Term};
pub use text::{ParseError, Written};
pub use token::{FunHead, Magnitude, NativeRecordHead, PidParts, Token};
pub use value::{
    Absent, Options, Strings, Structs, ValueError, from_bytes, from_reader, from_term, to_bytes,
    to_term, with,
};
pub use writer::Writer;

/// Documents whose examples run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/guide/terms.md")]
    struct Terms;
}
