//! Arbitrary bytes to and from epmd: requests survive a round trip; answers are decoded or refused with a one-line
//! error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_dist_protocol::epmd::codec::{Request, read_alive, read_names, read_port};

fuzz_target!(|bytes: &[u8]| {
    match Request::read(bytes) {
        Ok(Some((request, used))) => {
            assert!(used <= bytes.len());
            let mut out = Vec::new();
            request.write(&mut out);
            assert_eq!(Request::read(&out), Ok(Some((request, out.len()))));
        }
        Ok(None) => {}
        Err(malformed) => assert_eq!(malformed.to_string().lines().count(), 1),
    }
    let _ = (read_alive(bytes), read_port(bytes), read_names(bytes));
});
