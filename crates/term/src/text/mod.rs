//! Text form of terms: printing and parsing in Erlang's syntax.

mod atom;
mod error;
mod float;
mod parse;
mod print;
mod scan;
mod segment;

pub use error::ParseError;
pub use print::Written;
