//! Terms as text: printed as Erlang prints them, read as Erlang writes them.

mod atom;
mod float;
mod parse;
mod print;
mod scan;
mod segment;

pub use parse::ParseError;
pub use print::Written;
