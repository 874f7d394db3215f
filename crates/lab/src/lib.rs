//! The lab: what a process and a message cost, on any runtime that speaks the contender protocol.
//!
//! The command `purlin lab` calls [`commands`]; nothing else does. The lab links
//! nothing of what it measures: every runtime, purlin included, is a program that
//! it starts and asks for samples, one line of JSON at a time
//! (`docs/lab/contender-protocol.md`).
//!
//! # The way of a sample
//!
//! | module | role |
//! |---|---|
//! | [`experiments`] | what is asked, and what an honest answer holds |
//! | [`contender`] | finding, starting, asking and ending the programs |
//! | [`sampling`] | how much is asked, and in which order |
//! | [`store`], [`plan`] | every sample on disk as it arrives, and what was asked |
//! | [`results`] | samples made into figures, intervals and ratios |
//! | [`stats`] | the statistics behind them |
//! | [`host`], [`instrument`] | the machine, and what is measured with |
//! | [`warning`] | what takes away from the trust in figures, with advice |
//! | [`table`], [`page`] | what is shown |
//! | [`otp_text`], [`export`] | OTP's own benchmark read and written; other forms written |
//! | [`stopwatch`] | the time of a command, which is no experiment |
//! | [`advice`] | what a design costs, by the fits of a run |
//! | [`stored`], [`comparison`] | results read again, and which moved between two runs |

pub mod advice;
pub mod commands;
pub mod comparison;
pub mod contender;
pub mod error;
pub mod experiments;
pub mod export;
pub mod host;
pub mod instrument;
pub mod interrupt;
mod markdown;
pub mod otp_text;
pub mod page;
pub mod plan;
pub mod profile;
pub mod progress;
pub mod results;
pub mod sampling;
pub mod stats;
pub mod stopwatch;
pub mod store;
pub mod stored;
pub mod table;
pub mod warning;

pub use purlin_timing as timing;
