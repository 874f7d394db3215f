//! The lab is answered with any JSON object: it is a sample or a reason, and never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_lab::contender::{Hello, Reply};
use serde_json::{Map, Value};

fuzz_target!(|line: &[u8]| {
    let Ok(answer) = serde_json::from_slice::<Map<String, Value>>(line) else { return };
    let _ = Hello::read(&answer);
    let _ = Reply::read(answer);
});
