//! Reads lines of bounded length.
//!
//! Used by the serving loop. A line that exceeds the limit is skipped to its end without being
//! buffered, so that the next line is read normally.

use std::io::{self, BufRead, Read};

/// Maximum length of a line in bytes, including its newline.
pub(crate) const LINE_MAX: usize = 1 << 20;

/// Result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A complete line is in the buffer.
    Whole,
    /// A line exceeded [`LINE_MAX`] and was skipped.
    TooLong,
    /// End of input.
    End,
}

/// Reads the next line into `buffer`, which is cleared first.
pub(crate) fn next_line(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<Line> {
    buffer.clear();
    let read = input.by_ref().take(LINE_MAX as u64).read_until(b'\n', buffer)?;
    if read == 0 {
        return Ok(Line::End);
    }
    if read < LINE_MAX || buffer.ends_with(b"\n") {
        return Ok(Line::Whole);
    }
    buffer.clear();
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlong_line_is_skipped_and_the_next_one_is_read() {
        let mut input = vec![b'x'; 3 * LINE_MAX];
        input.extend_from_slice(b"\nnext\nlast");
        let (mut input, mut buffer) = (&input[..], Vec::new());
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::TooLong);
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::Whole);
        assert_eq!(buffer, b"next\n");
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::Whole);
        assert_eq!(buffer, b"last");
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::End);
    }

    #[test]
    fn line_of_maximum_length_is_read() {
        let mut input = vec![b'x'; LINE_MAX - 1];
        input.push(b'\n');
        let (mut input, mut buffer) = (&input[..], Vec::new());
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::Whole);
        assert_eq!(buffer.len(), LINE_MAX);
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::End);
    }
}
