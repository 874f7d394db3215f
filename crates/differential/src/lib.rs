//! The differential test: random programs of processes and messages run on the real BEAM and on purlin, and a model of
//! the clauses judges the outcomes.
//!
//! A [program](language) is up to five processes, each with a short script. A [generator](generate) derives it from a
//! seed; the same program runs on the BEAM (`beam.rs`) and on [purlin](native), and the [model] computes the
//! [outcomes](outcome) that the clauses allow. Any other outcome is a [difference](compare); its program is shrunk
//! (`shrink.rs`) and [printed](report) with the command that repeats it. A [campaign] does this for a given number of
//! programs. Every fourth program is a [tree] of supervisors. A program can also be [spread] over a node of purlin and
//! one of the BEAM, whose connection is cut during the run.
//!
//! This crate is not part of purlin: it is a test that is too large for a test file.

mod beam;
pub mod campaign;
pub mod compare;
pub mod generate;
pub mod language;
pub mod model;
pub mod native;
pub mod outcome;
pub mod report;
mod shrink;
pub mod spread;
pub mod tree;
