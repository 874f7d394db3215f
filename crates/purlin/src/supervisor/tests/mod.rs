//! The rules of supervisors, without processes; and against the real module of OTP.

use std::num::NonZero;

use purlin_raw::Slot;

use crate::ProcessId;

mod otp;
mod rules;
mod scenario;

/// A process that is none.
pub(crate) fn process(number: u32) -> ProcessId {
    let bits = NonZero::new(u64::from(number)).expect("processes are numbered from 1 here");
    ProcessId::new(0, Slot::from_bits(bits))
}
