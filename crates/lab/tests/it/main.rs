//! Integration tests, linked into one executable.

mod comparison;
mod control;
mod coverage;
mod doubts;
mod figures;
#[path = "support/noise.rs"]
mod noise;
mod otp_text;
mod page_in_browser;
mod quoted_figures;
mod references;
mod resume;
mod rounds;
mod support;
