//! Sanitizing of foreign text for a terminal. Pure.
//!
//! A process name is chosen by the program's author, or even by a client. Printed unchanged it could move the cursor,
//! change colours or reverse the line. Here every such character is escaped.

use unicode_width::UnicodeWidthChar;

/// Returns the text in one line of at most `columns` columns. Control, format and invisible characters are escaped.
/// Truncated text ends in an ellipsis.
pub(super) fn harmless(text: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    // Length at which to truncate so that the ellipsis fits.
    let mut cut = 0;
    for character in text.chars() {
        let (piece, width) = piece(character);
        if used + width > columns {
            shown.truncate(cut);
            if columns > 0 {
                shown.push('…');
            }
            return shown;
        }
        shown += &piece;
        used += width;
        if used < columns {
            cut = shown.len();
        }
    }
    shown
}

/// Returns the replacement of a character and its width in columns.
fn piece(character: char) -> (String, usize) {
    match character.width() {
        Some(width) if width > 0 && !commands(character) => (character.into(), width),
        _ => {
            let escape: String = character.escape_unicode().collect();
            let width = escape.len();
            (escape, width)
        }
    }
}

/// Returns whether a character changes how others are shown.
fn commands(character: char) -> bool {
    let formats = ['\u{ad}', '\u{61c}', '\u{180e}', '\u{feff}'];
    character.is_control()
        || formats.contains(&character)
        || ('\u{200b}'..='\u{200f}').contains(&character)
        || ('\u{2028}'..='\u{202e}').contains(&character)
        || ('\u{2060}'..='\u{206f}').contains(&character)
        || ('\u{fff9}'..='\u{fffb}').contains(&character)
        || ('\u{e0000}'..='\u{e0fff}').contains(&character)
}

#[cfg(test)]
mod tests {
    use super::harmless;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn plain_text_is_unchanged_and_long_text_ends_in_an_ellipsis() {
        assert_eq!(harmless("worker-1", 8), "worker-1");
        assert_eq!(harmless("worker-1", 7), "worker…");
        assert_eq!(harmless("日本語", 6), "日本語");
        assert_eq!(harmless("日本語", 5), "日本…");
        assert_eq!(harmless("abc", 0), "");
    }

    #[test]
    fn control_and_bidirectional_characters_are_escaped() {
        assert_eq!(harmless("\u{1b}[2Jgone", 40), "\\u{1b}[2Jgone");
        assert_eq!(harmless("a\r\nb\t\u{7}", 40), "a\\u{d}\\u{a}b\\u{9}\\u{7}");
        assert_eq!(harmless("\u{202e}evil\u{9b}31m", 40), "\\u{202e}evil\\u{9b}31m");
        assert_eq!(harmless("\u{200b}\u{301}", 40), "\\u{200b}\\u{301}");
    }

    proptest! {
        #[test]
        fn no_text_exceeds_its_columns(text in any::<String>(), columns in 0_usize..60) {
            let shown = harmless(&text, columns);
            prop_assert!(shown.width() <= columns, "{shown:?}");
            prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
    }
}
