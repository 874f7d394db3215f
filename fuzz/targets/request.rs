//! A contender that receives any line answers or refuses it, and never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_contender::{Callee, Children, Flow, Request, Variants};

fuzz_target!(|line: &[u8]| {
    let variants = Variants {
        flows: vec![Flow::Unbounded, Flow::Bounded, Flow::ReceiveMany],
        children: vec![Children::Ending, Children::Alive],
        callees: vec![Callee::Server, Callee::Process],
    };
    if let Err(refusal) = Request::parse(line, &variants) {
        assert!(!refusal.contains('\n'), "a refusal is one line: {refusal:?}");
    }
});
