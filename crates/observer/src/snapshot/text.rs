//! Substring search repeated over many texts.

use purlin::ProcessId;

/// Returns whether `text` contains `lower`, ignoring case. `lower` must be in lower case.
pub(super) fn contains(text: &str, lower: &str) -> bool {
    if lower.is_empty() {
        return true;
    }
    if !text.is_ascii() {
        return text.to_lowercase().contains(lower);
    }
    let wanted = lower.as_bytes();
    text.as_bytes().windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted))
}

/// Search text that may be part of a printed pid.
pub(super) struct Digits(Vec<u8>);

impl Digits {
    /// Returns `None` if no printed pid can contain `text`.
    pub(super) fn of(text: &str) -> Option<Self> {
        // The longest pid is `<0.4294967294.4294967295>`.
        let may_be =
            text.len() <= 25 && text.bytes().all(|c| b"<.>".contains(&c) || c.is_ascii_digit());
        may_be.then(|| Self(text.into()))
    }

    /// Returns whether the printed form of `id` contains the text.
    ///
    /// WHY not `Display`: formatting a million pids would take ten times as long.
    pub(super) fn are_in(&self, id: ProcessId) -> bool {
        // Filled from the end to the start.
        let mut room = [0; 32];
        let mut from = room.len();
        let mut put = |byte: u8| {
            from -= 1;
            room[from] = byte;
        };
        put(b'>');
        for mut number in [id.serial(), id.id()] {
            while {
                put(b'0' + (number % 10) as u8);
                number /= 10;
                number > 0
            } {}
            put(b'.');
        }
        put(b'0');
        put(b'<');
        let pid = &room[from..];
        self.0.is_empty() || pid.windows(self.0.len()).any(|part| part == self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use purlin::ProcessId;

    use super::{Digits, contains};

    proptest! {
        #[test]
        fn digits_match_what_the_printed_pid_contains(id in 0..u32::MAX, serial: u32, from in 0..30usize, len in 0..30usize, other in "[<.>0-9]{0,4}") {
            let pid = ProcessId::from_parts(id, serial, 7).expect("there can be such a pid");
            let printed = pid.to_string();
            let from = from.min(printed.len());
            let part = &printed[from..(from + len).min(printed.len())];
            prop_assert!(Digits::of(part).is_some_and(|digits| digits.are_in(pid)), "{part}");
            let found = Digits::of(&other).is_some_and(|digits| digits.are_in(pid));
            prop_assert_eq!(found, printed.contains(&other));
        }

        #[test]
        fn contains_agrees_with_a_search_in_lower_case(text in "\\PC{0,12}", part in "\\PC{0,3}") {
            let lower = part.to_lowercase();
            prop_assert_eq!(contains(&text, &lower), text.to_lowercase().contains(&lower));
        }
    }

    #[test]
    fn text_that_no_pid_can_contain_is_rejected() {
        assert!(Digits::of("a1").is_none());
        assert!(Digits::of("<0.4294967294.4294967295>").is_some());
        assert!(Digits::of("<0.4294967294.4294967295>.").is_none());
    }
}
