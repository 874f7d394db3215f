//! The differential test: random programs of processes and messages, run on the real BEAM and on
//! purlin, and judged by a model of the clauses.
//!
//! A [program](language) is a handful of processes, each with a short script. A
//! [generator](generate) makes one from a number; the same program runs on the BEAM (`beam.rs`) and
//! on [purlin](native), and the [model] says which [outcomes](outcome) the clauses allow. An outcome
//! that is not among them is a [difference](compare); its program is made smaller (`shrink.rs`) and
//! [printed](report) with the line that runs it again. A [campaign] does so with as many programs as
//! it is told. Every fourth program is a [tree] of supervisors. A program can also be [spread] over a node
//! of purlin's and one of the BEAM's, whose connection is cut meanwhile.
//!
//! Nothing here is part of purlin: it is a test that is too large for a file of tests.

mod beam;
pub mod campaign;
pub mod code;
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
