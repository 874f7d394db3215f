//! Terms at random, and who judges them: the real BEAM, other crates, and what must always hold.

mod beam;
mod oracles;
mod properties;
mod terms;
