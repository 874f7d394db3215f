//! Line buffer: splits the bytes of a client into lines of bounded length.

use std::fmt;

/// Largest number of bytes of a line, without its end.
pub(crate) const MAX_LINE: usize = 1024;

/// Bytes that have been received and not yet taken as lines: at most [`MAX_LINE`] and the last bytes added.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// The rest of a line that was too long, up to its end, is dropped.
    skips: bool,
}

/// The reason why a line is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadLine {
    /// It is longer than [`MAX_LINE`].
    TooLong,
    /// It is not UTF-8.
    NotText,
}

impl LineBuffer {
    /// Adds received bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next line. A line that is too long is reported once, and before its end has arrived. Returns `None` if
    /// no further line is complete.
    pub(crate) fn take_line(&mut self) -> Option<Result<String, BadLine>> {
        loop {
            let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') else {
                if !self.skips && self.bytes.len() <= MAX_LINE {
                    return None;
                }
                self.bytes.clear();
                let reported = std::mem::replace(&mut self.skips, true);
                return (!reported).then_some(Err(BadLine::TooLong));
            };
            let mut line: Vec<u8> = self.bytes.drain(..=end).take(end).collect();
            if std::mem::take(&mut self.skips) {
                continue;
            }
            if line.len() > MAX_LINE {
                return Some(Err(BadLine::TooLong));
            }
            if line.ends_with(b"\r") {
                line.pop();
            }
            return Some(String::from_utf8(line).map_err(|_| BadLine::NotText));
        }
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "a line has at most {MAX_LINE} bytes"),
            Self::NotText => f.write_str("a line is UTF-8"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BadLine, LineBuffer, MAX_LINE};

    /// Adds the pieces, and takes all lines after each.
    fn lines<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<String, BadLine>> {
        let (mut buffer, mut lines) = (LineBuffer::default(), Vec::new());
        for piece in pieces {
            buffer.add(piece);
            lines.extend(std::iter::from_fn(|| buffer.take_line()));
            assert!(buffer.bytes.len() <= MAX_LINE);
        }
        lines
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces_in_which_they_arrive() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..200 {
            // Short and long lines of text and of other bytes.
            let mut input = Vec::new();
            for _ in 0..random.usize(..8) {
                let length = random.usize(..2) * random.usize(..3 * MAX_LINE) + random.usize(..9);
                let other = random.bool();
                input.extend((0..length).map(|_| if other { random.u8(128..) } else { b'a' }));
                input.extend_from_slice(if random.bool() { b"\n" } else { b"\r\n" });
            }
            let mut due = Vec::new();
            for line in input.split_inclusive(|byte| *byte == b'\n') {
                let line = &line[..line.len() - 1];
                due.push(match String::from_utf8(line.to_vec()) {
                    _ if line.len() > MAX_LINE => Err(BadLine::TooLong),
                    Ok(text) => Ok(text.trim_end_matches('\r').to_owned()),
                    Err(_) => Err(BadLine::NotText),
                });
            }
            let mut pieces = Vec::new();
            let mut rest = &input[..];
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(random.usize(1..=rest.len()));
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(lines(pieces), due);
        }
    }

    #[test]
    fn a_line_without_an_end_is_reported_once_and_not_kept() {
        let found = lines([[b'x'; 700].as_slice(); 100]);
        assert_eq!(found, [Err(BadLine::TooLong)]);
        let longest = [b'x'; MAX_LINE];
        assert_eq!(lines([&longest[..], b"\n"]), [Ok("x".repeat(MAX_LINE))]);
    }
}
