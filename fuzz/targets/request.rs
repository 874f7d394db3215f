//! A contender that receives any line answers or refuses it, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_contender::Request;

fuzz_target!(|line: &[u8]| {
    if let Err(refusal) = Request::parse(line) {
        assert!(!refusal.contains('\n'), "a refusal is one line: {refusal:?}");
    }
});
