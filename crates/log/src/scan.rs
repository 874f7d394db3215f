//! Scanner of a segment: its header and its batches.
//!
//! No length is believed before it is bounded: a batch's length is covered by the checksum of its
//! header, and by the bytes that the segment still has, before memory is allocated for it.

use std::io;

use crate::format::batch::{self, Header};
use crate::format::section::{self, Section};
use crate::format::segment::{self, Invalid};
use crate::storage::File;

/// Bytes per read.
const BLOCK: usize = 256 << 10;

/// Scanner over the batches of a segment.
pub(crate) struct Scanner {
    file: Box<dyn File>,
    marker: u64,
    /// Offset of the next batch, and the length of the file at the last look.
    offset: u64,
    length: u64,
    /// Buffered bytes from `start`.
    start: u64,
    buffer: Vec<u8>,
}

/// Result of a step.
#[derive(Debug)]
pub(crate) enum Step {
    /// A whole batch.
    Batch(Batch),
    /// The end of the file.
    End,
    /// The bytes at the offset are not a whole batch.
    Invalid(&'static str),
}

/// A whole batch.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) offset: u64,
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
}

impl Batch {
    /// Returns the offset after the batch.
    pub(crate) fn end(&self) -> u64 {
        self.offset + (batch::HEADER + self.body.len()) as u64
    }

    /// Returns the sequence number after the batch.
    pub(crate) fn next(&self) -> u64 {
        self.header.first + u64::from(self.header.records)
    }

    /// Returns the sections, each with the sequence number of its first record.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (u64, Section<'_>)> {
        let sections = section::decode(&self.body, self.header.records).unwrap_or_default();
        sections.into_iter().scan(self.header.first, |next, section| {
            let first = *next;
            *next += u64::from(section.records);
            Some((first, section))
        })
    }
}

/// Reads the header of a segment. The outer error is one of reading.
pub(crate) fn header(file: &dyn File) -> io::Result<Result<segment::Header, Invalid>> {
    if file.length()? < segment::HEADER as u64 {
        return Ok(Err(Invalid::Damaged));
    }
    let mut bytes = [0; segment::HEADER];
    file.read(&mut bytes, 0)?;
    Ok(segment::Header::from_bytes(&bytes))
}

/// Returns the marker with which the first batch of a segment begins.
pub(crate) fn first_marker(file: &dyn File) -> io::Result<Option<u64>> {
    let offset = segment::HEADER as u64;
    if file.length()? < offset + 8 {
        return Ok(None);
    }
    let mut bytes = [0; 8];
    file.read(&mut bytes, offset)?;
    Ok(Some(u64::from_le_bytes(bytes)))
}

impl Scanner {
    /// Creates a scanner at the first batch.
    pub(crate) fn new(file: Box<dyn File>, marker: u64) -> io::Result<Self> {
        let (offset, length) = (segment::HEADER as u64, file.length()?);
        Ok(Self { file, marker, offset, length, start: 0, buffer: Vec::new() })
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Reads the length of the file again, for a file that is being appended to.
    pub(crate) fn refresh(&mut self) -> io::Result<()> {
        self.length = self.file.length()?;
        // WHY: buffered bytes after the last whole batch may have been written meanwhile.
        self.buffer.clear();
        Ok(())
    }

    /// Reads the batch at the offset and moves behind it.
    pub(crate) fn step(&mut self) -> io::Result<Step> {
        let step = self.at(self.offset)?;
        if let Step::Batch(batch) = &step {
            self.offset = batch.end();
        }
        Ok(step)
    }

    /// Moves to the first whole batch from `offset` on that satisfies the predicate. Returns whether
    /// there is one.
    pub(crate) fn seek(
        &mut self,
        from: u64,
        mut wanted: impl FnMut(&Batch) -> bool,
    ) -> io::Result<bool> {
        let marker = self.marker.to_le_bytes();
        let mut offset = from;
        while offset + (batch::HEADER as u64) <= self.length {
            let window = self.window(offset, batch::HEADER)?;
            let Some(found) = window.windows(marker.len()).position(|bytes| bytes == marker) else {
                offset += (window.len() - (marker.len() - 1)) as u64;
                continue;
            };
            offset += found as u64;
            if let Step::Batch(batch) = self.at(offset)?
                && wanted(&batch)
            {
                self.offset = offset;
                return Ok(true);
            }
            offset += 1;
        }
        Ok(false)
    }

    /// Returns whether all bytes from the offset on are zeros.
    pub(crate) fn zeros(&mut self) -> io::Result<bool> {
        let mut offset = self.offset;
        while offset < self.length {
            let window = self.window(offset, 1)?;
            if window.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            offset += window.len() as u64;
        }
        Ok(true)
    }

    fn at(&mut self, offset: u64) -> io::Result<Step> {
        let left = self.length.saturating_sub(offset);
        if left == 0 {
            return Ok(Step::End);
        }
        if left < batch::HEADER as u64 {
            return Ok(Step::Invalid("a batch ends within its header"));
        }
        let marker = self.marker;
        let window = self.window(offset, batch::HEADER)?;
        let bytes = window.first_chunk();
        let Some(header) = bytes.and_then(|bytes| Header::from_bytes(bytes, marker)) else {
            return Ok(Step::Invalid("the header of a batch is damaged"));
        };
        let length = header.length as usize;
        if left - (batch::HEADER as u64) < u64::from(header.length) {
            return Ok(Step::Invalid("the file ends within a batch"));
        }
        let window = self.window(offset, batch::HEADER + length)?;
        let body = &window[batch::HEADER..batch::HEADER + length];
        if !header.matches(body) {
            return Ok(Step::Invalid("the checksum of a batch is wrong"));
        }
        if section::decode(body, header.records).is_none() {
            return Ok(Step::Invalid("the contents of a batch are invalid"));
        }
        Ok(Step::Batch(Batch { offset, header, body: body.to_vec() }))
    }

    /// Returns the buffered bytes from `offset` on, at least `count` of them. The file has as many.
    fn window(&mut self, offset: u64, count: usize) -> io::Result<&[u8]> {
        let end = self.start + self.buffer.len() as u64;
        if offset < self.start || offset + count as u64 > end {
            let left = usize::try_from(self.length - offset).unwrap_or(usize::MAX);
            self.buffer.resize(count.max(BLOCK).min(left), 0);
            self.start = offset;
            if let Err(error) = self.file.read(&mut self.buffer, offset) {
                self.buffer.clear();
                return Err(error);
            }
            self.buffer.shrink_to(count.max(BLOCK));
        }
        Ok(&self.buffer[(offset - self.start) as usize..])
    }
}
