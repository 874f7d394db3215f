//! Output of OTP's benchmark is refused with a one-line error that has a line number, or survives a round trip.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use purlin_lab::otp_text::{is_text, read, write};
use purlin_lab::stored::figures;

fuzz_target!(|text: &[u8]| {
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let Err(refused) = read(text) {
        let refused = refused.to_string();
        assert!(refused.starts_with("line ") && refused.lines().count() == 1, "{refused}");
        return;
    }
    if !is_text(text) {
        return;
    }
    let file = Path::new("otp.txt");
    let written = write(&figures(text, file).expect("it was read")).expect("it can be written");
    let again = write(&figures(&written, file).expect("it reads")).expect("and can be written");
    assert_eq!(written, again);
});
