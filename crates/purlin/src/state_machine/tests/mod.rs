//! Comparison with OTP's own module: random programs of a machine that a table controls.

mod otp;
mod program;
mod puppet;
