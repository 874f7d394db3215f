//! Text of others, made fit for a terminal. Pure.
//!
//! The name of a process is chosen by whoever wrote the program, or by whoever sent it something. Printed as
//! it is it could move the cursor, change colours, or turn the line round. Here it becomes text and nothing
//! else.

use unicode_width::UnicodeWidthChar;

/// The text in one line of at most that many columns. What would command the terminal, or is invisible,
/// stands there as an escape; where something was cut off there is an ellipsis.
pub(super) fn harmless(text: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    // Where the text is cut, should it turn out too long, to make room for the ellipsis.
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

/// What stands for a character, and how many columns it takes.
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

/// Whether a character is there to change how others are shown.
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
    fn what_is_plain_is_left_alone_and_what_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(harmless("worker-1", 8), "worker-1");
        assert_eq!(harmless("worker-1", 7), "worker…");
        assert_eq!(harmless("日本語", 6), "日本語");
        assert_eq!(harmless("日本語", 5), "日本…");
        assert_eq!(harmless("abc", 0), "");
    }

    #[test]
    fn escapes_bells_and_turned_lines_are_shown_and_not_obeyed() {
        assert_eq!(harmless("\u{1b}[2Jgone", 40), "\\u{1b}[2Jgone");
        assert_eq!(harmless("a\r\nb\t\u{7}", 40), "a\\u{d}\\u{a}b\\u{9}\\u{7}");
        assert_eq!(harmless("\u{202e}evil\u{9b}31m", 40), "\\u{202e}evil\\u{9b}31m");
        assert_eq!(harmless("\u{200b}\u{301}", 40), "\\u{200b}\\u{301}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_out_of_its_columns(text in any::<String>(), columns in 0_usize..60) {
            let shown = harmless(&text, columns);
            prop_assert!(shown.width() <= columns, "{shown:?}");
            prop_assert!(!shown.chars().any(char::is_control), "{shown:?}");
        }
    }
}
