//! Integration tests of this crate, one program for all that need no process of their own.

mod beam;
mod built;
mod elixir;
mod go;
mod own_runtime;
mod requests;
mod servers;
mod strangers;
