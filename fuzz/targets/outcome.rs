//! Arbitrary bytes as the BEAM's answer in the differential test are decoded or refused, and never
//! cause a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_differential::{outcome::Outcome, tree::Event};
use purlin_term::from_bytes;

fuzz_target!(|bytes: &[u8]| {
    let _ = from_bytes::<Outcome>(bytes);
    let _ = from_bytes::<Vec<Event>>(bytes);
});
