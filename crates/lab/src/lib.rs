//! Benchmark harness for processes and messages, on any runtime that speaks the contender protocol.
//!
//! The command `purlin lab` is in [`commands`]. The lab links no runtime under
//! test: every runtime, purlin included, is a separate program that the lab starts and asks for
//! samples, one line of JSON per request (`docs/lab/contender-protocol.md`).
//!
//! # Modules, in the order a sample passes them
//!
//! | module | role |
//! |---|---|
//! | [`experiments`] | the experiments: parameters, and the conditions of a valid answer |
//! | [`contender`] | finding, starting, querying and ending the contenders' programs |
//! | [`sampling`] | the number of samples and their order |
//! | [`store`], `plan` | every sample on disk as it arrives, and the request of the run |
//! | [`measured`] | hash of the sources that a run measures |
//! | [`results`] | figures, intervals and ratios computed from samples |
//! | [`stats`] | the statistical methods |
//! | [`host`], `instrument` | the machine, and the cost of measuring |
//! | `warning` | threats to the validity of figures, with advice |
//! | [`interrupt`] | Ctrl-C and SIGTERM |
//! | `table`, [`page`] | terminal table and report page |
//! | [`otp_text`], `export` | reading and writing the text of OTP's benchmark; other export formats |
//! | `stopwatch` | timing a command, which is not an experiment |
//! | `advice` | cost estimate of a design, from the fits of a run |
//! | `options`, [`values`] | command-line options of a run, and parsers of their values |
//! | [`stored`], [`comparison`] | reading stored results; changes between two runs |

// WHY: `eprintln!` panics if standard error is closed or full; see `commands::print_error`.
#![warn(clippy::print_stderr)]

mod advice;
pub mod commands;
pub mod comparison;
pub mod contender;
pub mod error;
pub mod experiments;
mod export;
mod format;
pub mod host;
mod instrument;
pub mod interrupt;
mod markdown;
pub mod measured;
mod options;
pub mod otp_text;
pub mod page;
mod plan;
pub mod profile;
mod progress;
pub mod results;
pub mod sampling;
pub mod stats;
mod stopwatch;
pub mod store;
pub mod stored;
mod table;
pub mod values;
mod warning;
