//! Two arbitrary files of results are compared, or refused with a one-line error.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use purlin_lab::comparison::{compare, markdown, text};
use purlin_lab::stored::figures;

fuzz_target!(|files: &[u8]| {
    let Ok(files) = std::str::from_utf8(files) else { return };
    // A NUL separates the files; without one the file is compared with itself.
    let (old, new) = files.split_once('\0').unwrap_or((files, files));
    let parsed = [old, new].map(|file| figures(file, Path::new("results.json")));
    let [Ok(old), Ok(new)] = parsed else {
        for refused in parsed.into_iter().filter_map(Result::err) {
            assert_eq!(refused.to_string().lines().count(), 1, "{refused}");
        }
        return;
    };
    if let Some(compared) = compare(("old", &old), ("new", &new), true) {
        assert!(!text(&compared).is_empty() && !markdown(&compared).is_empty());
    }
});
