//! Lines of bounded length from any reader.
//!
//! Used by the serving loop only. A line that is too long is skipped to its end without being
//! kept, so that the next one is read as if nothing had happened.

use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes, newline included.
pub(crate) const LINE_MAX: usize = 1 << 20;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line is in the buffer.
    Whole,
    /// A line was longer than [`LINE_MAX`] and is gone.
    TooLong,
    /// There is no more input.
    End,
}

/// Reads the next line into `buffer`, which is emptied first.
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
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_whole() {
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
    fn a_line_of_just_the_longest_length_is_whole() {
        let mut input = vec![b'x'; LINE_MAX - 1];
        input.push(b'\n');
        let (mut input, mut buffer) = (&input[..], Vec::new());
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::Whole);
        assert_eq!(buffer.len(), LINE_MAX);
        assert_eq!(next_line(&mut input, &mut buffer).unwrap(), Line::End);
    }
}
