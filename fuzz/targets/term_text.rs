//! Any text is a term that survives printing and parsing, or is refused with a one-line error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_term::Term;

fuzz_target!(|text: &[u8]| {
    let Ok(text) = std::str::from_utf8(text) else { return };
    match text.parse::<Term>() {
        Ok(term) => {
            assert_eq!(term.to_string().parse().as_ref(), Ok(&term));
            assert_eq!(term.written().to_string().parse(), Ok(term));
        }
        Err(error) => {
            assert!(text.is_char_boundary(error.offset));
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }
});
