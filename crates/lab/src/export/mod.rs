//! Stored results for other programs: every sample as CSV, principal figures as Markdown. Pure.
//!
//! `purlin lab export` calls it. JSON is what [`stored`](crate::stored) reads,
//! and OTP's text is [`otp_text`](crate::otp_text)'s.

mod markdown;
mod rows;

pub use markdown::markdown;
pub use rows::csv;
