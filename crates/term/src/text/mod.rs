//! Text form of terms: printing and parsing in Erlang's syntax.

mod atom;
mod float;
mod parse;
mod print;
mod scan;
mod segment;

pub use parse::ParseError;
pub use print::Written;
