//! Frame headers: encoding and decoding.

use purlin_term::Atom;

use crate::broken::Broken;
use crate::cursor::Cursor;
use crate::frame::cache::{ReceiveCache, SendCache};

pub(super) const PASS_THROUGH: u8 = 112;
pub(super) const VERSION: u8 = 131;
const WHOLE: u8 = 68;
const FIRST: u8 = 69;
const NEXT: u8 = 70;

/// Length of the header of a further fragment.
pub(super) const NEXT_LENGTH: usize = 2 + 8 + 8;

/// Bit in the four bits of an entry: a new atom follows.
const NEW: u8 = 8;
/// Bit in the four bits after all entries: lengths of atoms have two bytes.
const LONG: u8 = 1;

/// Kind of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Form {
    Tick,
    /// Terms with version bytes.
    PassThrough,
    /// Terms without version bytes, after a list of atoms.
    Whole,
    /// First fragment: a list of atoms, the control message and a part of the payload.
    First {
        sequence: u64,
        left: u64,
    },
    /// Further fragment: a part of the payload.
    Next {
        sequence: u64,
        left: u64,
    },
}

/// Decodes the header of a frame. Returns the rest of the frame; the listed cache entries are stored in `listed`.
pub(super) fn read<'a>(
    frame: &'a [u8],
    cache: &mut ReceiveCache,
    listed: &mut Vec<u16>,
) -> Result<(Form, &'a [u8]), Broken> {
    listed.clear();
    let mut cursor = match frame {
        [] => return Ok((Form::Tick, frame)),
        [PASS_THROUGH, rest @ ..] => return Ok((Form::PassThrough, rest)),
        [VERSION, WHOLE | FIRST | NEXT, rest @ ..] => Cursor(rest),
        _ => return Err(Broken::Unknown),
    };
    if frame[1] == WHOLE {
        list(&mut cursor, cache, listed)?;
        return Ok((Form::Whole, cursor.0));
    }
    let (sequence, left) = cursor.u64().zip(cursor.u64()).ok_or(Broken::Header)?;
    if frame[1] == NEXT {
        return Ok((Form::Next { sequence, left }, cursor.0));
    }
    list(&mut cursor, cache, listed)?;
    Ok((Form::First { sequence, left }, cursor.0))
}

fn list(
    cursor: &mut Cursor<'_>,
    cache: &mut ReceiveCache,
    listed: &mut Vec<u16>,
) -> Result<(), Broken> {
    let count = usize::from(cursor.u8().ok_or(Broken::Header)?);
    if count == 0 {
        return Ok(());
    }
    let flags = cursor.bytes(count / 2 + 1).ok_or(Broken::Header)?;
    // Four bits for each entry, the lower four first.
    let bits = |entry: usize| flags[entry / 2] >> (4 * (entry % 2)) & 0xf;
    let long = bits(count) & LONG != 0;
    for entry in 0..count {
        let segment = u16::from(bits(entry) & !NEW);
        let slot = segment << 8 | u16::from(cursor.u8().ok_or(Broken::Header)?);
        if bits(entry) & NEW == 0 {
            cache.has(slot)?;
            listed.push(slot);
            continue;
        }
        let length = if long { cursor.u16() } else { cursor.u8().map(u16::from) };
        let text = length.and_then(|length| cursor.bytes(length.into())).ok_or(Broken::Header)?;
        let text = std::str::from_utf8(text).map_err(|_| Broken::Atom)?;
        let atom = Atom::new(text).map_err(|_| Broken::Atom)?;
        cache.put(slot, atom);
        listed.push(slot);
    }
    Ok(())
}

/// Appends the header of an unfragmented message, with the atoms of this frame.
pub(super) fn write_whole(cache: &SendCache, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, WHOLE]);
    write_list(cache, out);
}

/// Appends the header of the first of `left` fragments, with the atoms of this frame.
pub(super) fn write_first(sequence: u64, left: u64, cache: &SendCache, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, FIRST]);
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&left.to_be_bytes());
    write_list(cache, out);
}

/// Appends the header of a further fragment; the last one has `left` 1.
pub(super) fn write_next(sequence: u64, left: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION, NEXT]);
    out.extend_from_slice(&sequence.to_be_bytes());
    out.extend_from_slice(&left.to_be_bytes());
}

fn write_list(cache: &SendCache, out: &mut Vec<u8>) {
    let count = cache.listed().len();
    out.push(count as u8);
    if count == 0 {
        return;
    }
    let long = cache.listed().any(|(listed, text)| listed.is_new && text.len() > 255);
    let flags = out.len();
    out.resize(flags + count / 2 + 1, 0);
    let mut put = |entry: usize, bits: u8| out[flags + entry / 2] |= bits << (4 * (entry % 2));
    for (entry, (listed, _)) in cache.listed().enumerate() {
        put(entry, (listed.slot >> 8) as u8 | if listed.is_new { NEW } else { 0 });
    }
    put(count, if long { LONG } else { 0 });
    for (listed, text) in cache.listed() {
        out.push(listed.slot as u8);
        if listed.is_new {
            // At most 255 characters of four bytes.
            let length = (text.len() as u16).to_be_bytes();
            out.extend_from_slice(if long { &length } else { &length[1..] });
            out.extend_from_slice(text.as_bytes());
        }
    }
}
