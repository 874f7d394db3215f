//! Arbitrary bytes are a term or an error. A term has the length that skipping finds, and survives a round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_term::{
    Atom, Decoder, Encoder, Limits, Reader, Term, from_bytes, from_reader, to_bytes,
};
use serde::{Deserialize, Serialize};

/// A value of every kind.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
enum Value {
    Unit,
    Number(i128),
    Text(String),
    List(Vec<Value>),
    Pair((Box<Value>, Option<char>)),
    Struct { a: bool, b: Option<Box<Value>> },
    Term(Term),
}

fuzz_target!(|input: &[u8]| {
    let [settings, bytes @ ..] = input else { return };
    let atoms = [Atom::OK, Atom::UNDEFINED];
    if let Ok(value) = from_reader::<Value>(&mut Reader::with_atoms(bytes, &atoms)) {
        let written = to_bytes(&value).expect("it was read");
        assert_eq!(from_bytes::<Value>(&written).as_ref(), Ok(&value));
    }
    let limits = Limits { depth: usize::from(settings >> 4) * 8, memory: 1 << 20 };
    let mut decoder = Decoder::with_atoms(bytes, &atoms).limits(limits);
    let versioned = settings & 1 == 0;
    let decoded = if versioned { decoder.decode() } else { decoder.decode_bare() };
    let Ok(term) = decoded else { return };
    if !versioned {
        let mut reader = Reader::with_atoms(bytes, &atoms);
        assert!(reader.skip().is_ok(), "what can be decoded can be skipped");
        assert_eq!(reader.position(), decoder.position());
    }

    // The term is the same whether written in portions or with indices for atoms.
    let mut index = |atom: &Atom| atoms.iter().position(|other| other == atom).map(|at| at as u8);
    let mut written = Vec::new();
    let mut encoder = Encoder::new(&term).index(&mut index);
    while !encoder.write_some(&mut written, usize::from(*settings) + 1).expect("it was decoded") {}
    let again = Decoder::with_atoms(&written, &atoms).decode();
    assert_eq!(again.as_ref(), Ok(&term));
    assert!(term.compare(&term).is_eq() && term.compare_exactly(&term).is_eq());
    assert!(!term.to_string().contains('\n'));
});
