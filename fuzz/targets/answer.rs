//! Any JSON object as a contender's answer to the lab is a sample or an error, and never causes a
//! panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_lab::contender::{Hello, Reply};
use serde_json::{Map, Value};

fuzz_target!(|line: &[u8]| {
    let Ok(answer) = serde_json::from_slice::<Map<String, Value>>(line) else { return };
    let _ = Hello::read(&answer);
    let _ = Reply::read(answer);
});
