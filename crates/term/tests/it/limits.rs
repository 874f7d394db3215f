//! Untrusted bytes: decoding costs little, and invalid input ends in one error.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use proptest::prelude::*;
use purlin_term::{
    Atom, DecodeError, Decoder, Deep, Limits, Reader, Reason, Term, from_term, to_term,
};

fn refused(bytes: &[u8]) -> DecodeError {
    Term::decode(bytes).expect_err("no term")
}

/// Returns nested lists, the innermost empty.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![131];
    bytes.extend([108, 0, 0, 0, 1].repeat(depth - 1));
    bytes.push(106);
    bytes.extend([106].repeat(depth - 1));
    bytes
}

fn compressed(claimed: usize, term: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(vec![131, 80], Compression::best());
    encoder.get_mut().extend((claimed as u32).to_be_bytes());
    encoder.write_all(term).unwrap();
    encoder.finish().unwrap()
}

// An occurrence of an atom of the table has two bytes; each copy of its text would have up to a thousand.
#[test]
fn atoms_of_a_table_share_their_text() {
    let atoms = [Atom::new("a name of more than twenty-three characters").unwrap()];
    let bytes = [108, 0, 0, 0, 2, 82, 0, 82, 0, 106];
    let decoded = Decoder::with_atoms(&bytes, &atoms[..]).decode_bare();
    let Term::List(list) = decoded.unwrap() else { panic!() };
    assert_eq!(list.len(), 2);
    for element in &list {
        let Term::Atom(atom) = element else { panic!("{element}") };
        assert_eq!(atom.as_str().as_ptr(), atoms[0].as_str().as_ptr());
    }
}

#[test]
fn a_million_levels_are_rejected() {
    for tag in [&[108, 0, 0, 0, 1][..], &[104, 1], &[116, 0, 0, 0, 1]] {
        let mut bytes = vec![131];
        bytes.extend(tag.repeat(1_000_000));
        bytes.extend([106].repeat(2_000_000));
        let error = refused(&bytes);
        let offset = 1 + Limits::DEEPEST * tag.len();
        assert_eq!(error, DecodeError { offset, reason: Reason::Depth });
    }
    assert_eq!(refused(&nested(Limits::DEEPEST + 2)).reason, Reason::Depth);
    assert!(Term::decode(&nested(Limits::DEEPEST + 1)).is_ok());
}

/// Every way to nest terms: what stands before and behind the inner one.
const WRAPS: [(&[u8], &[u8]); 7] = [
    (&[108, 0, 0, 0, 1], &[106]),
    (&[108, 0, 0, 0, 2, 97, 7], &[106]),
    (&[104, 1], &[]),
    (&[104, 2, 97, 1], &[]),
    // In tail position.
    (&[104, 1, 108, 0, 0, 0, 1, 97, 1], &[]),
    (&[116, 0, 0, 0, 1, 106], &[]),
    (&[116, 0, 0, 0, 1], &[106]),
];

#[test]
fn terms_of_any_depth_use_a_bounded_stack() {
    for (before, after) in WRAPS {
        for depth in [Deep::LEVELS - 1, Deep::LEVELS + 1, 1100, 100_000] {
            let mut bytes = vec![131];
            bytes.extend(before.repeat(depth));
            // An empty tuple, which is no list either.
            bytes.extend([104, 0]);
            bytes.extend(after.repeat(depth));
            // A thread with half the usual stack.
            let worker = std::thread::Builder::new().stack_size(1 << 20);
            let all = worker.spawn(move || {
                let term = Term::decode(&bytes).unwrap();
                let clone = term.clone();
                assert_eq!(clone, term);
                assert_ne!(Term::tuple([clone.clone()]), term);
                assert!(term.compare(&clone).is_eq());
                let hash = |term: &Term| {
                    let mut hasher = DefaultHasher::new();
                    term.hash(&mut hasher);
                    hasher.finish()
                };
                assert_eq!(hash(&term), hash(&clone));
                assert_eq!(term.phash2(), clone.phash2());
                assert_eq!(term.encode().unwrap(), bytes);
                assert!(format!("{term:?}").len() > depth);
                // The parts below other levels of another term are the same terms.
                let around = Term::tuple([term.clone()]).encode().unwrap();
                let Ok(Term::Tuple(within)) = Term::decode(&around) else { panic!("no tuple") };
                assert_eq!(within[0], term);
                assert_eq!(hash(&within[0]), hash(&term));
                let value: (u8, Term) = from_term(&to_term(&(1, &term)).unwrap()).unwrap();
                assert_eq!(value.1, term);
                // The last owner drops the parts, whichever it is.
                drop(term);
                assert_eq!(clone, within[0]);
            });
            all.unwrap().join().unwrap();
        }
    }
}

#[test]
fn a_smaller_limit_of_depth_holds() {
    let limits = Limits { depth: 3, ..Limits::default() };
    assert!(Decoder::new(&nested(4)).limits(limits).decode().is_ok());
    assert!(Decoder::new(&nested(5)).limits(limits).decode().is_err());
}

#[test]
fn lengths_beyond_the_input_are_rejected_before_allocation() {
    for tag in [105, 108, 109, 116] {
        assert_eq!(refused(&[131, tag, 255, 255, 255, 255, 106, 106]).reason, Reason::Ended);
    }
    assert_eq!(refused(&[131, 111, 255, 255, 255, 255, 0, 1]).reason, Reason::Ended);
    assert_eq!(refused(&[131, 77, 255, 255, 255, 255, 1, 1]).reason, Reason::Ended);
    // Each list announces all remaining bytes, and memory is allocated for the first only.
    let mut lists = vec![131];
    for _ in 0..1000 {
        lists.extend([108, 0, 15, 66, 64]);
    }
    lists.resize(1_000_100, 106);
    assert_eq!(refused(&lists), DecodeError { offset: 6, reason: Reason::Ended });
}

#[test]
fn memory_is_limited_for_every_kind_of_term() {
    let few = Limits { memory: 1000, ..Limits::default() };
    let decode = |bytes: &[u8]| Decoder::new(bytes).limits(few).decode();
    let string = [&[131, 107, 0, 40][..], &[7; 40]].concat();
    let binary = [&[131, 109, 0, 0, 4, 0][..], &[7; 1024]].concat();
    let big = [&[131, 111, 0, 0, 4, 0, 0][..], &[7; 1024]].concat();
    let local = [&[131, 121][..], &[7; 1024]].concat();
    let tuple = [&[131, 104, 40][..], &[106; 40]].concat();
    for bytes in [&string, &binary, &big, &local, &tuple] {
        assert_eq!(decode(bytes).unwrap_err().reason, Reason::Memory);
        assert!(Term::decode(bytes).is_ok());
    }
}

#[test]
fn memory_for_the_names_of_fields_is_counted_before_they_are_read() {
    // A native record with 100 fields, the last name of which is invalid.
    let mut record = vec![67, 0, 0, 0, 100, 1, 119, 1, b'm', 119, 1, b'n'];
    record.extend([119, 0].repeat(99));
    record.extend([200; 200]);
    let few = Limits { memory: 1000, ..Limits::default() };
    let refused = Decoder::new(&record).limits(few).decode_bare();
    assert_eq!(refused, Err(DecodeError { offset: 0, reason: Reason::Memory }));
    let tag = Err(DecodeError { offset: 0, reason: Reason::Tag(200) });
    assert_eq!(Decoder::new(&record).decode_bare(), tag);
    assert_eq!(Reader::new(&record).skip(), tag.map(|_| &[][..]));
}

#[test]
fn compressed_terms_expand_to_the_announced_size_only() {
    let list = [&[108, 0, 0, 4, 0][..], &[97, 1].repeat(1024), &[106]].concat();
    let bytes = compressed(list.len(), &list);
    assert!(bytes.len() < 100);
    assert_eq!(Term::decode(&bytes), Ok(Term::list(vec![Term::Integer(1); 1024])));
    let mut two = bytes.clone();
    two.extend([131, 106]);
    let mut decoder = Decoder::new(&two);
    assert!(decoder.decode().is_ok());
    assert_eq!(decoder.decode(), Ok(Term::NIL));

    for wrong in [list.len() - 1, list.len() + 1, 0] {
        assert_eq!(refused(&compressed(wrong, &list)).reason, Reason::Compressed);
    }
    let mut broken = bytes.clone();
    *broken.last_mut().unwrap() ^= 1;
    assert_eq!(refused(&broken).reason, Reason::Compressed);
    assert_eq!(refused(&bytes[..bytes.len() - 1]).reason, Reason::Compressed);
    assert_eq!(refused(&[131, 80, 0, 0]).reason, Reason::Ended);
    let trailing = [&list[..], &[106]].concat();
    assert_eq!(refused(&compressed(trailing.len(), &trailing)).reason, Reason::Compressed);
}

#[test]
fn a_compression_bomb_is_rejected_by_its_announced_or_actual_size() {
    let bomb = [&[109, 0, 32, 0, 0][..], &[0; 2 << 20]].concat();
    let small = Limits { memory: 1 << 20, ..Limits::default() };
    for (claimed, reason) in [(bomb.len(), Reason::Memory), (1000, Reason::Compressed)] {
        let bytes = compressed(claimed, &bomb);
        assert!(bytes.len() < 10_000);
        let error = Decoder::new(&bytes).limits(small).decode().unwrap_err();
        assert_eq!(error, DecodeError { offset: 0, reason });
    }
    assert_eq!(refused(&[131, 80, 255, 255, 255, 255, 0]).reason, Reason::Memory);
}

#[test]
fn an_error_names_the_place_and_the_reason_in_one_line() {
    let error = refused(&[131, 104, 2, 106, 200]);
    assert_eq!(error, DecodeError { offset: 4, reason: Reason::Tag(200) });
    assert_eq!(error.to_string(), "no Erlang term: no term begins with 200 here at byte 4");
    assert_eq!(refused(&[130, 106]).reason, Reason::Version(130));
    assert_eq!(refused(&[131, 106, 106]).reason, Reason::Trailing);
    assert_eq!(refused(&[]).reason, Reason::Ended);
    assert_eq!(refused(&[131]).reason, Reason::Ended);
}

proptest! {
    #[test]
    fn any_bytes_are_a_term_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut decoder = Decoder::new(&bytes);
        let decoded = decoder.decode_bare();
        let mut reader = Reader::new(&bytes);
        let skipped = reader.skip().is_ok();
        // Bytes that can be decoded can be skipped, and have the same length.
        prop_assert!(skipped || decoded.is_err());
        if let Ok(term) = decoded {
            prop_assert_eq!(decoder.position(), reader.position());
            prop_assert_eq!(Term::decode(&term.encode().unwrap()), Ok(term));
        }
    }
}
