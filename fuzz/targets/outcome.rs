//! The BEAM answers the differential test with any bytes: they are outcomes or not, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_differential::{code, tree};

fuzz_target!(|bytes: &[u8]| {
    let Some((processes, bytes)) = bytes.split_first() else { return };
    let _ = code::decode(bytes, (*processes).into());
    let _ = tree::code::decode(bytes);
});
