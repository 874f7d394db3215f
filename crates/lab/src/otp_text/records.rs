//! Removes comments and joins lines to records. Pure.

use crate::error::Problem;

/// Prefix of a scenario's title.
pub(super) const SCENARIO: &str = "Scenario: ";
/// Maximum line length, in bytes; lines of the suite are below 300.
const LINE: usize = 4096;
/// Maximum number of lines per record; the suite prints one per sender count.
const LINES: usize = 4096;

/// The text between two `$`.
#[derive(Debug)]
pub(super) struct Record<'a> {
    /// The lines with their numbers, from 1; at least one.
    lines: Vec<(usize, &'a str)>,
}

/// A field of a record with its line number.
pub(super) type Field<'a> = (usize, &'a str);

impl<'a> Record<'a> {
    /// Returns the number of the first line.
    pub(super) fn line(&self) -> usize {
        self.lines.first().map_or(0, |(number, _)| *number)
    }

    /// Returns the text after `Scenario: ` if the record is a title.
    pub(super) fn title(&self) -> Option<Result<&'a str, Problem>> {
        let (number, first) = self.lines.first()?;
        let title = first.strip_prefix(SCENARIO)?;
        Some(match self.lines.get(1) {
            None => Ok(title),
            Some(_) => Err(at(*number, "the title has no $ at its end; copy the whole line")),
        })
    }

    /// Returns the fields, separated by semicolons; a field must not span two lines.
    pub(super) fn fields(&self) -> Result<Vec<Field<'a>>, Problem> {
        let mut fields: Vec<Field<'a>> = Vec::new();
        for &(number, line) in &self.lines {
            for (index, part) in line.split(';').enumerate() {
                let part = trim(part);
                match fields.last_mut() {
                    // A comment preceded this line, so its first part continues the last field.
                    Some(last) if index == 0 => match (last.1.is_empty(), part.is_empty()) {
                        (true, _) => *last = (number, part),
                        (false, true) => {}
                        (false, false) => {
                            let what = "the line before it has no $ at its end";
                            return Err(at(number, &format!("{what}; copy the record again")));
                        }
                    },
                    _ => fields.push((number, part)),
                }
            }
        }
        Ok(fields)
    }
}

/// Returns the records of a text, in order. Text outside of a benchmark is skipped.
pub(super) fn records(text: &str) -> Result<Vec<Record<'_>>, Problem> {
    let mut records = Vec::new();
    let mut open: Vec<Field<'_>> = Vec::new();
    let mut inside = false;
    let mut last = 0;
    for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        let line = trim(line);
        if line.starts_with('#') {
            if line.starts_with("#BENCHMARK ENDED") {
                unbroken(&open, number)?;
                inside = false;
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        if line.starts_with(SCENARIO) {
            unbroken(&open, number)?;
            inside = true;
        }
        last = number;
        let (content, ended) = line.strip_suffix('$').map_or((line, false), |line| (line, true));
        if !inside {
            if ended {
                let hint = format!("copy from the line that begins with {SCENARIO:?}");
                return Err(at(number, &format!("a record that belongs to no scenario; {hint}")));
            }
            continue;
        }
        if content.contains('$') {
            return Err(at(number, "a $ within the line; put what follows it into the next line"));
        }
        if line.len() > LINE || open.len() == LINES {
            let bound = format!("a line has at most {LINE} bytes and a record {LINES} lines");
            return Err(at(
                number,
                &format!("too long ({bound}); copy the text as it was printed"),
            ));
        }
        open.push((number, content));
        if ended {
            records.push(Record { lines: std::mem::take(&mut open) });
        }
    }
    unbroken(&open, last)?;
    Ok(records)
}

/// Returns an error if a record is still open at this line.
fn unbroken(open: &[Field<'_>], number: usize) -> Result<(), Problem> {
    open.first().map_or(Ok(()), |(begun, _)| {
        let what = format!("the record that begins in line {begun} breaks off before its $");
        Err(at(number, &format!("{what}; copy it again, or leave its scenario out")))
    })
}

/// Removes whitespace at both ends, as defined by JavaScript's `trim`, so that the page reads the
/// same.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|letter: char| match letter {
        '\u{feff}' => true,
        '\u{85}' => false,
        _ => letter.is_whitespace(),
    })
}

/// Parses a number of at most nine ASCII digits.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Returns a problem with its line number.
pub(super) fn at(line: usize, what: &str) -> Problem {
    Problem::new(format!("line {line}: {what}"))
}

/// Quotes input text, truncated to 40 characters, on one line.
pub(super) fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{:?}", format!("{short}{more}"))
}
