//! Exports stored results: every sample as CSV, primary metrics as Markdown. Pure.
//!
//! `purlin lab export` calls this module. [`stored`](crate::stored) provides the JSON,
//! [`otp_text`](crate::otp_text) the text of OTP.

mod markdown;
mod rows;

pub(crate) use markdown::markdown;
pub(crate) use rows::csv;
