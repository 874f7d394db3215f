//! Integration tests: random terms compared with a real BEAM and other crates, and invariants.

mod beam;
mod elixir;
mod layout;
mod limits;
mod oracles;
mod properties;
mod terms;
mod values;
