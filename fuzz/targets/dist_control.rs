//! Any term as a control message is decoded and survives a round trip, or is refused with a one-line error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_dist_protocol::control::Control;
use purlin_term::{Decoder, Writer};

// A control message is a tuple that starts with a number. The first byte is that number, the second determines the
// number of fields.
fuzz_target!(|input: &[u8]| {
    let [number, count, fields @ ..] = input else { return };
    let bytes = [&[104, 1 + *count % 8, 97, *number % 40], fields].concat();
    for bytes in [&bytes[..], input] {
        match Control::read(&mut Decoder::new(bytes)) {
            Ok(control) => {
                let mut written = Vec::new();
                control.write(&mut Writer::new(&mut written)).expect("what was read");
                let mut again = Decoder::new(&written);
                assert_eq!(Control::read(&mut again), Ok(control));
                assert!(again.rest().is_empty());
            }
            Err(broken) => assert_eq!(broken.to_string().lines().count(), 1),
        }
    }
});
