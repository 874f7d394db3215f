//! Tests of the supervisor rules without processes, and against OTP's own module.

use std::num::NonZero;

use purlin_raw::Slot;

use crate::ProcessId;

mod otp;
mod rules;
mod scenario;

/// Returns an id that belongs to no process.
pub(crate) fn process(number: u32) -> ProcessId {
    let bits = NonZero::new(u64::from(number)).expect("processes are numbered from 1 here");
    ProcessId::new(0, Slot::from_bits(bits))
}
