//! A contender is sent any line: it answers or refuses, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_contender::{Request, Variant};

fuzz_target!(|line: &[u8]| {
    if let Err(refusal) = Request::parse(line, &[Variant::Moved, Variant::Copied]) {
        assert!(!refusal.contains('\n'), "a refusal is one line: {refusal:?}");
    }
});
