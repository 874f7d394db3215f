//! Erlang's portable term hash `phash2`, identical on all nodes and releases.
//!
//! An exception is a native record with two or more fields: OTP 29 hashes its values in the order in
//! which the node created the atoms that name them, so its nodes differ among themselves. Here the
//! values are hashed in the order of the definition.
//!
//! A 32-bit state is mixed with each part of the term by Jenkins' hash of 1996. The pairs of a map
//! are hashed from the initial state each, and combined independently of their order.
//!
//! COST: about ten instructions per byte, one pass, no recursion. Allocates a stack for compound
//! terms; the digits of a big integer are copied.

use std::num::NonZeroU32;
use std::slice::Iter;

use num_bigint::{BigInt, Sign};

use crate::order::Parts;
use crate::{Atom, NativeRecord, Term};

/// The golden ratio; each kind of term adds another multiple of it.
const RATIO: u32 = 0x9e37_79b9;
const NIL: u32 = times(2);
const ATOM: u32 = times(3);
const STRING: u32 = times(4);
const PID: u32 = times(5);
const PORT: u32 = times(6);
const REFERENCE: u32 = times(7);
const TUPLE: u32 = times(9);
const NEGATIVE: u32 = times(10);
const POSITIVE: u32 = times(11);
const FLOAT: u32 = times(12);
const BINARY: u32 = times(13);
const FUNCTION: u32 = times(14);
const BITS: u32 = times(15);
const MAP: u32 = times(16);
const PAIRS: u32 = times(19);
const NATIVE_RECORD: u32 = times(23);

/// Hash of an empty list at the beginning of a term, and the value mixed in elsewhere.
const LONE_NIL: u32 = 3_468_870_702;
const NIL_TAG: u32 = 2;

const fn times(n: u32) -> u32 {
    RATIO.wrapping_mul(n)
}

impl Term {
    /// Returns the hash of `erlang:phash2/1`, less than 2^27.
    ///
    /// ```
    /// use purlin_term::Term;
    ///
    /// assert_eq!(Term::atom("ok").phash2(), 1_883);
    /// ```
    pub fn phash2(&self) -> u32 {
        hash(self) & ((1 << 27) - 1)
    }

    /// Returns the hash of `erlang:phash2/2`, less than `range`, to choose one of `range` shards as
    /// Erlang nodes do.
    pub fn phash2_in(&self, range: NonZeroU32) -> u32 {
        hash(self) % range
    }
}

/// Work item of the stack.
enum Left<'t> {
    One(&'t Term),
    Parts(Parts<'t>),
    /// Rest of a list; its tail is below it on the stack.
    List(&'t [Term]),
    /// Pairs of a map: the combined hash of earlier pairs, whether the state holds the hash of a
    /// pair to combine, and the state before the map.
    Pairs(Iter<'t, (Term, Term)>, u32, bool, u32),
}

static EMPTY: Term = Term::NIL;

fn hash(term: &Term) -> u32 {
    let mut state = State(0);
    let mut stack = vec![Left::One(term)];
    while let Some(left) = stack.pop() {
        match left {
            Left::One(term) => state.term(term, &mut stack),
            Left::Parts(mut parts) => {
                if let Some(term) = parts.next() {
                    stack.extend([Left::Parts(parts), Left::One(term)]);
                }
            }
            Left::List(elements) => {
                let rest = state.string(elements);
                if let Some((first, rest)) = rest.split_first() {
                    if !rest.is_empty() {
                        stack.push(Left::List(rest));
                    }
                    stack.push(Left::One(first));
                }
            }
            Left::Pairs(mut pairs, mut combined, add, before) => {
                if add {
                    combined ^= state.0;
                }
                if let Some((key, value)) = pairs.next() {
                    state.0 = 0;
                    stack.push(Left::Pairs(pairs, combined, true, before));
                    stack.extend([Left::One(value), Left::One(key)]);
                } else {
                    state.0 = before;
                    state.word(combined, PAIRS);
                }
            }
        }
    }
    state.0
}

/// Hash of the parts so far.
struct State(u32);

impl State {
    fn words(&mut self, first: u32, second: u32, kind: u32) {
        self.0 = mix(kind.wrapping_add(first), kind.wrapping_add(second), self.0).2;
    }

    fn word(&mut self, word: u32, kind: u32) {
        self.words(word, 0, kind);
    }

    /// Hashes a term without its parts, which are pushed to the stack in reverse order.
    fn term<'t>(&mut self, term: &'t Term, stack: &mut Vec<Left<'t>>) {
        match term {
            Term::Deep(deep) => self.term(deep.get(), stack),
            Term::Integer(value) => self.integer(*value),
            Term::BigInteger(value) => self.big(value.get()),
            Term::Float(value) => {
                // Both zeros have the same hash.
                let bits = (value.get() + 0.0).to_bits();
                self.words((bits >> 32) as u32, bits as u32, FLOAT);
            }
            Term::Atom(atom) if self.0 == 0 => self.0 = text(atom),
            Term::Atom(atom) => self.word(text(atom), ATOM),
            Term::Binary(bytes) => self.bits(bytes, None),
            Term::BitString(bits) => match bits.bytes().split_last() {
                Some((end, whole)) => self.bits(whole, Some((bits.last(), *end))),
                None => self.bits(&[], None),
            },
            Term::Tuple(elements) => {
                self.word(elements.len() as u32, TUPLE);
                stack.push(Left::Parts(Parts::Terms(elements.iter())));
            }
            Term::List(elements) if elements.is_empty() && self.0 == 0 => self.0 = LONE_NIL,
            Term::List(elements) if elements.is_empty() => self.word(NIL_TAG, NIL),
            Term::List(elements) => stack.extend([Left::One(&EMPTY), Left::List(elements)]),
            Term::ImproperList(list) => {
                stack.extend([Left::One(list.tail()), Left::List(list.elements())]);
            }
            Term::Map(map) => {
                self.word(map.len() as u32, MAP);
                if !map.is_empty() {
                    stack.push(Left::Pairs(map.pairs().iter(), 0, false, self.0));
                }
            }
            Term::NativeRecord(record) => {
                self.words(record.fields.len() as u32, definition(record), NATIVE_RECORD);
                stack.push(Left::Parts(Parts::Fields(record.fields.iter())));
            }
            Term::Pid(pid) => self.word(pid.id, PID),
            Term::Port(port) => self.words(port.id as u32, (port.id >> 32) as u32, PORT),
            Term::Reference(reference) => self.word(reference.words()[0], REFERENCE),
            Term::Fun(fun) => {
                self.words(fun.free.len() as u32, text(&fun.module), RATIO);
                self.words(fun.old_index as u32, fun.old_uniq as u32, RATIO);
                stack.push(Left::Parts(Parts::Terms(fun.free.iter())));
            }
            Term::Export(export) => {
                self.words(export.arity.into(), text(&export.module), RATIO);
                self.word(text(&export.function), FUNCTION);
            }
            Term::Local(bytes) => self.bits(bytes, None),
        }
    }

    fn integer(&mut self, value: i64) {
        if !(-(1 << 27)..1 << 27).contains(&value) {
            return self.digits(value < 0, &[value.unsigned_abs()]);
        }
        if value < 0 {
            self.word(value.unsigned_abs() as u32, RATIO);
        }
        self.word(value as u32, RATIO);
    }

    fn big(&mut self, value: &BigInt) {
        let (sign, digits) = value.to_u64_digits();
        self.digits(sign == Sign::Minus, &digits);
    }

    fn digits(&mut self, negative: bool, digits: &[u64]) {
        let kind = if negative { NEGATIVE } else { POSITIVE };
        for digit in digits {
            self.words(*digit as u32, (digit >> 32) as u32, kind);
        }
    }

    /// Hashes the leading bytes of a list, four per word. Returns the remaining elements.
    fn string<'t>(&mut self, elements: &'t [Term]) -> &'t [Term] {
        let byte = |term: &Term| u8::try_from(term.as_integer()?).ok();
        let (mut word, mut count) = (0_u32, 0);
        for element in elements {
            let Some(byte) = byte(element) else { break };
            word = word << 8 | u32::from(byte);
            count += 1;
            if count % 4 == 0 {
                self.word(word, STRING);
                word = 0;
            }
        }
        if count % 4 > 0 {
            self.word(word, STRING);
        }
        &elements[count..]
    }

    /// Hashes whole bytes, and the bits of a partial one if there is one.
    fn bits(&mut self, whole: &[u8], last: Option<(u8, u8)>) {
        let before = BINARY.wrapping_add(self.0);
        if whole.is_empty() && last.is_none() {
            self.0 = before;
            return;
        }
        self.0 = block(whole, before);
        if let Some((count, byte)) = last {
            self.words(count.into(), u32::from(byte) >> (8 - count), BITS);
        }
    }
}

/// Hash of a native record without its values: that of the tuple of its module, its name, whether
/// it is exported, and the names of its fields.
fn definition(record: &NativeRecord) -> u32 {
    let mut state = State(0);
    state.word(record.fields.len() as u32 + 3, TUPLE);
    let exported = Atom::from(record.exported);
    let names = record.fields.iter().map(|(name, _)| name);
    for atom in [&record.module, &record.name, &exported].into_iter().chain(names) {
        state.word(text(atom), ATOM);
    }
    state.0
}

/// Jenkins' hash of a block of bytes, twelve at a time.
fn block(bytes: &[u8], before: u32) -> u32 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let (mut a, mut b, mut c) = (RATIO, RATIO, before);
    let mut rest = bytes;
    while let Some((twelve, after)) = rest.split_at_checked(12) {
        a = a.wrapping_add(word(&twelve[..4]));
        b = b.wrapping_add(word(&twelve[4..8]));
        c = c.wrapping_add(word(&twelve[8..]));
        (a, b, c) = mix(a, b, c);
        rest = after;
    }
    // The lowest byte of the last word holds the length.
    c = c.wrapping_add(bytes.len() as u32);
    let part = |from: usize, to: usize| word(&rest[from.min(rest.len())..to.min(rest.len())]);
    a = a.wrapping_add(part(0, 4));
    b = b.wrapping_add(part(4, 8));
    c = c.wrapping_add(part(8, 12) << 8);
    mix(a, b, c).2
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for [first, second, third] in [[13, 8, 13], [12, 16, 5], [3, 10, 15]] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> first;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << second;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> third;
    }
    (a, b, c)
}

/// Hash of an atom's text by Weinberger's function: a Latin-1 character counts as one byte, any
/// other as its UTF-8 bytes.
fn text(atom: &Atom) -> u32 {
    let mut hash = 0_u32;
    let mut add = |byte: u8| {
        hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        hash ^= high >> 24 ^ high;
    };
    let mut buffer = [0; 4];
    for c in atom.as_str().chars() {
        match u8::try_from(c) {
            Ok(byte) => add(byte),
            Err(_) => c.encode_utf8(&mut buffer).bytes().for_each(&mut add),
        }
    }
    hash
}
