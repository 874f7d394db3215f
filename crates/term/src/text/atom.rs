//! Quoting of atoms, and escaping of characters in atoms and strings.

use std::fmt::{self, Write};

use crate::Atom;

/// Reserved words, which are atoms only in quotes.
const RESERVED: [&str; 27] = [
    "after", "and", "andalso", "band", "begin", "bnot", "bor", "bsl", "bsr", "bxor", "case",
    "catch", "cond", "div", "end", "fun", "if", "let", "not", "of", "or", "orelse", "receive",
    "rem", "try", "when", "xor",
];

/// Returns whether a text is an atom without quotes.
fn is_bare(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(begins_atom) && chars.all(goes_on) && !is_reserved(text)
}

/// Returns whether a text is a reserved word.
pub(super) fn is_reserved(text: &str) -> bool {
    RESERVED.contains(&text)
}

/// Returns whether a character may begin an atom: a lower-case letter of ASCII or Latin-1.
pub(super) fn begins_atom(c: char) -> bool {
    matches!(c, 'a'..='z' | 'ß'..='ö' | 'ø'..='ÿ')
}

/// Returns whether a character may continue an atom or a variable.
pub(super) fn goes_on(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '@' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ')
}

/// Returns whether `~p` shows a character in a string: visible characters of Latin-1, and those
/// with an escape sequence.
pub(super) fn is_printable(c: u32) -> bool {
    matches!(c, 32..=126 | 160..=255 | 8..=13 | 27)
}

/// Writes a character within quotes, escaped if necessary.
pub(super) fn escaped(f: &mut impl Write, c: char, quote: char) -> fmt::Result {
    match c {
        _ if c == quote || c == '\\' => write!(f, "\\{c}"),
        '\n' => f.write_str("\\n"),
        '\t' => f.write_str("\\t"),
        '\r' => f.write_str("\\r"),
        '\u{b}' => f.write_str("\\v"),
        '\u{8}' => f.write_str("\\b"),
        '\u{c}' => f.write_str("\\f"),
        '\u{1b}' => f.write_str("\\e"),
        '\u{7f}' => f.write_str("\\d"),
        '\0'..' ' | '\u{80}'..'\u{a0}' => write!(f, "\\{:03o}", u32::from(c)),
        _ => f.write_char(c),
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_bare(self.as_str()) {
            return f.write_str(self.as_str());
        }
        f.write_char('\'')?;
        self.as_str().chars().try_for_each(|c| escaped(f, c, '\''))?;
        f.write_char('\'')
    }
}

#[cfg(test)]
mod tests {
    use crate::Atom;

    #[test]
    fn an_atom_has_quotes_where_it_needs_them() {
        for bare in ["ok", "a@b", "a_1", "maybe", "ß", "åland"] {
            assert_eq!(Atom::from_static(bare).to_string(), bare);
        }
        for quoted in ["", "A", "a b", "a.b", "_a", "1a", "if", "Å", "÷", "π", "a-b"] {
            assert_eq!(Atom::from_static(quoted).to_string(), format!("'{quoted}'"));
        }
        assert_eq!(Atom::from_static("a'b\\\n\u{7f}\u{80}\0").to_string(), r"'a\'b\\\n\d\200\000'");
    }
}
