//! External term format byte by byte, as specified in the ERTS user's guide.

use purlin_term::{
    Atom, BigInt, Binary, BitString, Decoder, EncodeError, Encoder, Export, Fun, NativeRecord, Pid,
    Port, Reason, Reference, Term,
};

/// Asserts that the bytes decode to the term and the term encodes to the bytes.
fn is(bytes: &[u8], term: Term) {
    reads(bytes, term.clone());
    assert_eq!(term.encode().unwrap()[1..], *bytes, "{term:?}");
}

/// Asserts that the bytes decode to the term, which has another encoding.
fn reads(bytes: &[u8], term: Term) {
    let mut decoder = Decoder::new(bytes);
    assert_eq!(decoder.decode_bare(), Ok(term));
    assert!(decoder.rest().is_empty());
}

fn refuses(bytes: &[u8], reason: Reason) {
    let refused = Decoder::new(bytes).decode_bare();
    assert_eq!(refused.map_err(|error| error.reason), Err(reason), "{bytes:?}");
}

fn integers(numbers: &[i64]) -> Vec<Term> {
    numbers.iter().map(|n| Term::Integer(*n)).collect()
}

fn with(head: &[u8], rest: &[u8]) -> Vec<u8> {
    [head, rest].concat()
}

#[test]
fn integers_have_the_shortest_of_four_forms() {
    is(&[97, 0], Term::Integer(0));
    is(&[97, 255], Term::Integer(255));
    is(&[98, 0, 0, 1, 0], Term::Integer(256));
    is(&[98, 255, 255, 255, 255], Term::Integer(-1));
    is(&[98, 128, 0, 0, 0], Term::Integer(i32::MIN.into()));
    is(&[110, 4, 0, 0, 0, 0, 128], Term::Integer(1 << 31));
    is(&[110, 8, 1, 0, 0, 0, 0, 0, 0, 0, 128], Term::Integer(i64::MIN));
    is(&[110, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], Term::from(BigInt::from(1) << 64));
    let mut long = vec![111, 0, 0, 1, 0, 1];
    long.extend([1; 256]);
    let value = BigInt::from_bytes_le(purlin_term::Sign::Minus, &[1; 256]);
    is(&long, Term::from(value));
    reads(&[110, 3, 1, 5, 0, 0], Term::Integer(-5));
    reads(&[111, 0, 0, 0, 0, 0], Term::Integer(0));
}

#[test]
fn floats_are_written_as_eight_bytes_and_read_as_old_text_too() {
    let float = |value: f64| Term::try_from(value).unwrap();
    is(&with(&[70], &1.5_f64.to_be_bytes()), float(1.5));
    is(&with(&[70], &(-0.0_f64).to_be_bytes()), float(-0.0));
    let mut text = b"c1.50000000000000000000e+00".to_vec();
    text.resize(32, 0);
    reads(&text, float(1.5));
    refuses(&with(&[70], &f64::NAN.to_be_bytes()), Reason::Float);
    refuses(&with(&[70], &f64::INFINITY.to_be_bytes()), Reason::Float);
    refuses(&with(b"cinf", &[0; 28]), Reason::Float);
    refuses(&with(b"c", &[0; 31]), Reason::Float);
}

#[test]
fn atoms_are_written_in_utf_8_and_read_in_latin_1_too() {
    is(&[119, 2, b'o', b'k'], Term::atom("ok"));
    is(&[119, 0], Term::atom(""));
    let long = Atom::new(&"ö".repeat(200)).unwrap();
    is(&with(&[118, 1, 144], long.as_str().as_bytes()), Term::Atom(long));
    reads(&[118, 0, 2, b'o', b'k'], Term::atom("ok"));
    reads(&[100, 0, 2, b'o', b'k'], Term::atom("ok"));
    reads(&[115, 1, 0xe5], Term::atom("å"));
    reads(&[100, 0, 2, 0xc3, 0xa5], Term::atom("Ã¥"));
    refuses(&[119, 1, 0xe5], Reason::Atom);
    refuses(&with(&[118, 1, 0], &[b'a'; 256]), Reason::Atom);
    refuses(&with(&[100, 1, 0], &[b'a'; 256]), Reason::Atom);
    refuses(&[82, 0], Reason::AtomCache(0));
}

#[test]
fn atoms_may_be_indices_of_a_table() {
    let table = [Atom::OK, Atom::from_static("a@b")];
    let pid = Pid { node: table[1].clone(), id: 1, serial: 2, creation: 3 };
    let term = Term::tuple([Term::Atom(Atom::OK), Term::from(pid), Term::atom("other")]);
    let mut index = |atom: &Atom| table.iter().position(|a| a == atom).map(|at| at as u8);
    let mut bytes = Vec::new();
    Encoder::bare(&term).index(&mut index).write(&mut bytes).unwrap();
    assert_eq!(bytes[..6], [104, 3, 82, 0, 88, 82]);
    assert_eq!(Decoder::with_atoms(&bytes, &table).decode_bare(), Ok(term));
}

#[test]
fn binaries_and_bit_strings() {
    is(&[109, 0, 0, 0, 0], Term::from(""));
    is(&[109, 0, 0, 0, 2, 1, 2], Term::Binary(Binary::copy(&[1, 2])));
    is(&[77, 0, 0, 0, 2, 3, 1, 0xa0], Term::from(BitString::new(&[1, 0xa0], 3).unwrap()));
    reads(&[77, 0, 0, 0, 1, 8, 7], Term::Binary(Binary::copy(&[7])));
    reads(&[77, 0, 0, 0, 0, 0], Term::from(""));
    refuses(&[77, 0, 0, 0, 1, 0, 7], Reason::BitString);
    refuses(&[77, 0, 0, 0, 1, 9, 7], Reason::BitString);
    refuses(&[77, 0, 0, 0, 0, 3], Reason::BitString);
}

#[test]
fn tuples_lists_and_maps() {
    is(&[104, 0], Term::Tuple(vec![]));
    is(&[104, 2, 97, 1, 97, 2], Term::Tuple(integers(&[1, 2])));
    is(&with(&[105, 0, 0, 1, 0], &[97, 1].repeat(256)), Term::Tuple(integers(&[1; 256])));
    reads(&[105, 0, 0, 0, 1, 106], Term::tuple([Term::NIL]));
    is(&[106], Term::NIL);
    is(&[108, 0, 0, 0, 1, 98, 0, 0, 1, 0, 106], Term::List(integers(&[256])));
    is(&[108, 0, 0, 0, 1, 97, 1, 97, 2], Term::list_with_tail(integers(&[1]), Term::Integer(2)));
    is(&[116, 0, 0, 0, 1, 97, 1, 106], Term::map([(Term::Integer(1), Term::NIL)]));
    is(&[116, 0, 0, 0, 0], Term::map([]));
    reads(
        &[116, 0, 0, 0, 2, 97, 2, 106, 97, 1, 106],
        Term::map([1, 2].map(|n| (Term::Integer(n), Term::NIL))),
    );
    refuses(&[116, 0, 0, 0, 2, 97, 1, 106, 97, 1, 106], Reason::EqualKeys);
}

#[test]
fn a_list_of_bytes_is_written_as_bytes_while_its_length_fits() {
    is(&[107, 0, 2, 0, 255], Term::List(integers(&[0, 255])));
    is(&with(&[107, 255, 255], &[7; 65535]), Term::List(integers(&[7; 65535])));
    let bytes = Term::List(integers(&[7; 65536])).encode().unwrap();
    assert_eq!(bytes[1..6], [108, 0, 1, 0, 0]);
    reads(&[107, 0, 0], Term::NIL);
}

#[test]
fn a_list_as_a_tail_continues_its_list() {
    reads(&[108, 0, 0, 0, 1, 97, 1, 107, 0, 1, 2], Term::List(integers(&[1, 2])));
    reads(&[108, 0, 0, 0, 1, 97, 1, 108, 0, 0, 0, 1, 97, 2, 106], Term::List(integers(&[1, 2])));
    reads(
        &[108, 0, 0, 0, 1, 97, 1, 108, 0, 0, 0, 1, 97, 2, 97, 3],
        Term::list_with_tail(integers(&[1, 2]), Term::Integer(3)),
    );
    reads(&[108, 0, 0, 0, 0, 97, 1], Term::Integer(1));
    let cells = [108, 0, 0, 0, 1, 97, 1].repeat(100_000);
    reads(&with(&cells, &[106]), Term::List(integers(&[1; 100_000])));
}

#[test]
fn identifiers_are_read_in_old_forms_and_written_in_the_newest() {
    let node = || Atom::from_static("a@b");
    let name = [119, 3, b'a', b'@', b'b'];
    let numbers = [0, 0, 0, 1, 0, 0, 0, 2];
    let creation = [0, 0, 1, 3];
    let pid = |creation| Term::from(Pid { node: node(), id: 1, serial: 2, creation });
    is(&[&[88], &name[..], &numbers, &creation].concat(), pid(259));
    reads(&[&[103], &name[..], &numbers, &[3]].concat(), pid(3));

    let port = |id, creation| Term::from(Port { node: node(), id, creation });
    is(&[&[89], &name[..], &numbers[..4], &creation].concat(), port(1, 259));
    is(&[&[120], &name[..], &[0, 0, 0, 0, 16, 0, 0, 0], &creation].concat(), port(1 << 28, 259));
    reads(&[&[120], &name[..], &[0, 0, 0, 0], &numbers[..4], &creation].concat(), port(1, 259));
    reads(&[&[102], &name[..], &numbers[..4], &[3]].concat(), port(1, 3));

    let reference =
        |creation, words: &[u32]| Term::from(Reference::new(node(), creation, words).unwrap());
    is(&[&[90, 0, 2], &name[..], &creation, &numbers].concat(), reference(259, &[1, 2]));
    reads(&[&[114, 0, 2], &name[..], &[3], &numbers].concat(), reference(3, &[1, 2]));
    reads(&[&[101], &name[..], &numbers[..4], &[3]].concat(), reference(3, &[1]));
    refuses(&[&[90, 0, 0], &name[..], &creation].concat(), Reason::Reference);
    refuses(&[&[90, 0, 6], &name[..], &creation, &[0; 24]].concat(), Reason::Reference);
}

#[test]
fn funs_and_exports() {
    let (module, function) = (Atom::from_static("m"), Atom::from_static("f"));
    let export = Export { module: module.clone(), function, arity: 3 };
    is(&[113, 119, 1, b'm', 119, 1, b'f', 97, 3], Term::from(export));
    refuses(&[113, 119, 1, b'm', 119, 1, b'f', 98, 0, 0, 1, 0], Reason::Fun);

    let pid = Pid { node: module.clone(), id: 1, serial: 2, creation: 3 };
    let fun = |free| {
        Term::from(Fun {
            module: module.clone(),
            arity: 1,
            uniq: [9; 16],
            index: 4,
            old_index: 4,
            old_uniq: 1 << 31,
            pid: pid.clone(),
            free,
        })
    };
    let mut bytes = vec![112, 0, 0, 0, 61, 1];
    bytes.extend([9; 16]);
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 2, 119, 1, b'm', 97, 4, 110, 4, 0, 0, 0, 0, 128]);
    bytes.extend([88, 119, 1, b'm', 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
    bytes.extend([97, 1, 106]);
    let size = bytes.len() as u8 - 1;
    bytes[4] = size;
    is(&bytes, fun(vec![Term::Integer(1), Term::NIL]));
    // A fun in a fun, and a term after both.
    let nested = Term::tuple([fun(vec![fun(vec![]), Term::from("x")]), Term::NIL]);
    assert_eq!(Term::decode(&nested.encode().unwrap()), Ok(nested));
}

#[test]
fn a_local_encoding_is_a_whole_message_and_kept_unchanged() {
    let local = Term::Local(Binary::copy(b"anything"));
    assert_eq!(Term::decode(b"\x83yanything"), Ok(local.clone()));
    assert_eq!(local.encode().unwrap(), b"\x83yanything");
    let inside = Term::tuple([local.clone()]);
    assert_eq!(inside.encode(), Err(EncodeError::LocalInside));
    assert_eq!(Encoder::bare(&local).write(&mut vec![131]), Err(EncodeError::LocalInside));
    let mut encoder = Encoder::new(&local);
    let mut portions = [const { Vec::new() }; 3];
    for portion in &mut portions {
        encoder.write_some(portion, 1).unwrap();
    }
    assert_eq!(portions.concat(), b"\x83ya");
    refuses(b"yanything", Reason::Tag(121));
}

#[test]
fn a_term_written_in_fragments_has_the_same_bytes() {
    let large = Term::from(vec![1; 1000].as_slice());
    let list = Term::list(vec![large; 10]);
    let map = Term::map([(Term::atom("key"), list.clone()), (list.clone(), Term::NIL)]);
    let term = Term::list_with_tail(vec![map, Term::from(u64::MAX)], list);
    for most in [1, 7, 1000, 1 << 20] {
        let mut encoder = Encoder::new(&term);
        let mut bytes = bytes::BytesMut::new();
        let mut all = Vec::new();
        while !encoder.write_some(&mut bytes, most).unwrap() {
            assert!(bytes.len() < most + 16);
            all.extend_from_slice(&bytes.split());
        }
        all.extend_from_slice(&bytes);
        assert_eq!(all, term.encode().unwrap());
    }
}

/// `#m:n{...}` with these fields.
fn native_record(fields: &[(&'static str, i64)], exported: bool) -> Term {
    let [module, name] = ["m", "n"].map(Atom::from_static);
    let fields = fields.iter().map(|(name, value)| (Atom::from_static(name), Term::from(*value)));
    Term::from(NativeRecord { module, name, exported, fields: fields.collect() })
}

#[test]
fn native_records_have_names_before_values() {
    let two =
        [67, 0, 0, 0, 2, 0, 119, 1, b'm', 119, 1, b'n', 119, 1, b'x', 119, 1, b'y', 97, 1, 97, 2];
    is(&two, native_record(&[("x", 1), ("y", 2)], false));
    is(&[67, 0, 0, 0, 0, 1, 119, 1, b'm', 119, 1, b'n'], native_record(&[], true));
    // A flag that OTP 29 refuses too, and more fields than the bytes can hold.
    refuses(&[67, 0, 0, 0, 0, 2, 119, 1, b'm', 119, 1, b'n'], Reason::NativeRecord);
    refuses(&[67, 255, 255, 255, 255, 0, 119, 1, b'm', 119, 1, b'n'], Reason::Ended);
}

/// The expected values are those of OTP 29.
#[test]
fn native_records_are_hashed_and_ordered_as_by_otp_29() {
    assert_eq!(native_record(&[], false).phash2(), 903_494_040 % (1 << 27));
    assert_eq!(native_record(&[], true).phash2(), 2_704_279_279_u32 % (1 << 27));
    assert_eq!(native_record(&[("a", 1)], false).phash2(), 94_514_731);
    let ascending = [
        Term::tuple([Term::from(1), Term::from(2), Term::from(3)]),
        native_record(&[], false),
        native_record(&[("a", 1)], false),
        native_record(&[("a", 2)], false),
        native_record(&[("b", 1)], false),
        native_record(&[("a", 0), ("b", 0)], false),
        native_record(&[("a", 0), ("c", -1)], false),
        native_record(&[("b", 0), ("a", 5)], false),
        native_record(&[], true),
        native_record(&[("a", 1)], true),
        Term::map([]),
    ];
    for pair in ascending.windows(2) {
        assert!(pair[0].compare(&pair[1]).is_lt(), "{} and {}", pair[0], pair[1]);
    }
}
