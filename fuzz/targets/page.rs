//! A page rendered from any JSON: the data never closes the script element that contains it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|results: &[u8]| {
    let Ok(results) = serde_json::from_slice::<Value>(results) else { return };
    let empty = purlin_lab::page::render(&[]).matches("</script").count();
    let drawn = purlin_lab::page::render(&[results]).matches("</script").count();
    assert_eq!(empty, drawn);
});
