//! Arbitrary bytes as the BEAM's answer in the differential test are decoded or refused, and never
//! cause a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_differential::{code, tree};

fuzz_target!(|bytes: &[u8]| {
    let Some((processes, bytes)) = bytes.split_first() else { return };
    let _ = code::decode(bytes, (*processes).into());
    let _ = tree::code::decode(bytes);
});
