//! Integration tests, linked into one executable.

mod beam;
mod built;
mod elixir;
mod go;
mod own_runtime;
mod requests;
mod servers;
mod strangers;
