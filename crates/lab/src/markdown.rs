//! Escaping for Markdown. Pure.

/// Escapes a text so that Markdown renders it literally.
pub(crate) fn plain(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            '|' | '*' | '_' | '`' | '<' | '[' | ']' | '\\' => text.extend(['\\', letter]),
            letter if letter.is_control() => text.push(' '),
            letter => text.push(letter),
        }
    }
    text
}
