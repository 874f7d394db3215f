//! Terms as text: printed as Erlang prints them, read as Erlang writes them.

mod atom;
mod float;
mod print;

pub use print::Written;
