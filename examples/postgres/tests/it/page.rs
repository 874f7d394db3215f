//! Parser of a page of documentation, for tests of its commands.

/// Returns the contents of the code blocks in this language, in order.
pub(crate) fn blocks<'a>(page: &'a str, language: &'a str) -> impl Iterator<Item = &'a str> {
    // Every second fence ends a block.
    let inside = page.split("```").skip(1).step_by(2);
    inside.filter_map(move |block| block.strip_prefix(language)?.strip_prefix('\n'))
}
