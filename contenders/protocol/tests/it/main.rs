//! Integration tests, linked into one executable.

mod beam;
mod built;
mod elixir;
mod go;
mod jvm;
mod own_runtime;
mod requests;
mod servers;
mod strangers;
