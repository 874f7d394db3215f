//! Any term as a control message: it is one and comes back from its own term, or is refused in a line.
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use purlin_dist::control::Control;
use purlin_term::{Decoder, Term};

/// Tuples of a number and what follows are what can be one: the first byte is that number.
fuzz_target!(|input: &[u8]| {
    let [number, fields @ ..] = input else { return };
    let mut decoder = Decoder::new(fields);
    let mut elements = vec![Term::from(*number % 40)];
    while let Ok(term) = decoder.decode_bare() {
        elements.push(term);
    }
    match Control::try_from(Term::Tuple(elements)) {
        Ok(control) => {
            assert_eq!(Control::try_from(Term::from(control.clone())), Ok(control));
        }
        Err(malformed) => assert_eq!(malformed.to_string().lines().count(), 1),
    }
});
