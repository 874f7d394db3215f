//! Judges what was seen.
