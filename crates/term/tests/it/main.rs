//! Integration tests of terms: random terms judged by the real BEAM and by other crates, and invariants.

mod beam;
mod elixir;
mod layout;
mod limits;
mod oracles;
mod properties;
mod terms;
mod values;
