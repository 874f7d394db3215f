//! Strategies for random terms of every kind; small and unusual ones come first.

use proptest::prelude::*;
use purlin_term::{
    Atom, BigInt, Binary, BitString, Export, Fun, NativeRecord, Pid, Port, Reference, Sign, Term,
};

/// Configuration of the property tests: 64 cases unless `PROPTEST_CASES` is set.
pub(crate) fn config() -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(64),
    }
}

/// Maximum number of pairs of a map that a node keeps in the order of their keys.
pub(crate) const ORDERED: usize = 32;

pub(crate) fn atoms() -> impl Strategy<Value = Atom> {
    prop_oneof![
        4 => proptest::sample::select(&["a", "b", "ok", "true", "nil", "if", "A", "", "a b"][..])
            .prop_map(Atom::from_static),
        2 => "[a-zA-Z0-9_@ß-ÿ.' ]{0,8}".prop_map(|text| Atom::new(&text).unwrap()),
        1 => proptest::collection::vec(any::<char>(), 0..6)
            .prop_map(|text| Atom::new(&String::from_iter(text)).unwrap()),
        1 => "[a-zö]{200,255}".prop_map(|text| Atom::new(&text).unwrap()),
    ]
}

fn nodes() -> impl Strategy<Value = Atom> + Clone {
    proptest::sample::select(&["a@b", "c@d", "a-name-that-is-long@a.host.of.some.domain"][..])
        .prop_map(Atom::from_static)
}

fn integers() -> impl Strategy<Value = Term> {
    let edges = (0..68_u32, -2..3_i128, any::<bool>()).prop_map(|(bits, near, negative)| {
        let value = (1_i128 << bits) + near;
        Term::from(if negative { -value } else { value })
    });
    let large = (any::<bool>(), proptest::collection::vec(any::<u8>(), 0..400)).prop_map(
        |(minus, digits)| {
            let sign = if minus { Sign::Minus } else { Sign::Plus };
            Term::from(BigInt::from_bytes_le(sign, &digits))
        },
    );
    prop_oneof![
        4 => (-3..260_i64).prop_map(Term::from),
        3 => edges,
        1 => any::<i64>().prop_map(Term::from),
        1 => large,
    ]
}

/// WHY without -0.0: nodes before OTP 27 treat it as the same map key as 0.0.
fn floats() -> impl Strategy<Value = Term> {
    let finite = |value: f64| Term::try_from(value + 0.0).ok();
    prop_oneof![
        2 => (-3..260_i32).prop_map(|n| Term::try_from(f64::from(n)).unwrap()),
        2 => any::<f64>().prop_filter_map("finite", finite),
        1 => (any::<i32>(), -330..310_i32).prop_filter_map("finite", move |(digits, exponent)| {
            finite(format!("{digits}e{exponent}").parse().unwrap())
        }),
        1 => (40..70_i32, -3..4_i32)
            .prop_map(|(bits, near)| Term::try_from(2_f64.powi(bits) + f64::from(near)).unwrap()),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => proptest::collection::vec(any::<u8>(), 0..30),
        2 => "[ -~\n\t]{0,30}".prop_map(String::into_bytes),
        1 => "[a-zÀ-ÿ]{0,12}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<char>(), 0..8)
            .prop_map(|text| String::from_iter(text).into_bytes()),
    ]
}

fn pids() -> impl Strategy<Value = Pid> + Clone {
    (nodes(), 0..4_u32, 0..3_u32, 1..4_u32, 0..32_u32).prop_map(
        |(node, id, serial, creation, wide)| Pid {
            node,
            id: id << (wide % 30),
            serial: serial << (wide / 2),
            creation,
        },
    )
}

fn references() -> impl Strategy<Value = Reference> {
    let words = (any::<u32>(), proptest::collection::vec(0..3_u32, 2..5));
    (nodes(), 1..4_u32, words).prop_map(|(node, creation, (first, mut words))| {
        // A node accepts 18 bits of the first word.
        words.insert(0, first % (1 << 18));
        Reference::new(node, creation, &words).unwrap()
    })
}

fn leaves() -> impl Strategy<Value = Term> {
    let ports = (nodes(), 0..3_u64, 1..4_u32, 0..40_u32)
        .prop_map(|(node, id, creation, wide)| Port { node, id: id << wide, creation });
    let exports = (atoms(), atoms(), any::<u8>()).prop_map(|(module, function, arity)| Export {
        module,
        function,
        arity,
    });
    let bits = (proptest::collection::vec(any::<u8>(), 1..26), 1..8_u8)
        .prop_map(|(bytes, last)| Term::from(BitString::new(&bytes, last).unwrap()));
    prop_oneof![
        4 => integers(),
        3 => floats(),
        3 => atoms().prop_map(Term::from),
        4 => bytes().prop_map(|bytes| Term::Binary(Binary::from(bytes))),
        1 => bits,
        2 => bytes().prop_map(|bytes| Term::list(bytes.into_iter().map(Term::from))),
        1 => ".{0,8}".prop_map(|text| Term::string(&text)),
        1 => Just(Term::NIL),
        1 => pids().prop_map(Term::from),
        1 => ports.prop_map(Term::from),
        1 => references().prop_map(Term::from),
        1 => exports.prop_map(Term::from),
    ]
}

/// Terms without funs.
fn plain() -> impl Strategy<Value = Term> {
    leaves().prop_recursive(4, 60, 8, |inner| {
        let some = |most| proptest::collection::vec(inner.clone(), 0..most);
        let few = some(6);
        let pairs = proptest::collection::vec((inner.clone(), inner.clone()), 0..6);
        let keys = proptest::collection::vec((leaves(), inner.clone()), 0..ORDERED + 8);
        prop_oneof![
            4 => few.prop_map(Term::Tuple),
            3 => some(8).prop_map(Term::List),
            2 => (some(4), inner.clone())
                .prop_map(|(elements, tail)| Term::list_with_tail(elements, tail)),
            2 => pairs.prop_map(Term::map),
            1 => keys.prop_map(Term::map),
        ]
    })
}

/// Terms of every kind, native records of OTP 29 included.
pub(crate) fn terms_of_otp_29() -> impl Strategy<Value = Term> {
    terms_of_otp_27().prop_recursive(3, 60, 4, |inner| {
        let fields = proptest::collection::vec((atoms(), inner.clone()), 0..4);
        let records = (atoms(), atoms(), any::<bool>(), fields).prop_map(
            |(module, name, exported, mut fields)| {
                // A node accepts no two fields of one name.
                fields.sort_by(|(a, _), (b, _)| a.cmp(b));
                fields.dedup_by(|(a, _), (b, _)| a == b);
                Term::from(NativeRecord { module, name, exported, fields })
            },
        );
        prop_oneof![2 => records, 1 => proptest::collection::vec(inner, 0..4).prop_map(Term::Tuple)]
    })
}

/// Terms of every kind that OTP 27 has; it does not keep the creator of a fun.
pub(crate) fn terms_of_otp_27() -> impl Strategy<Value = Term> {
    let node = Atom::from_static("nonode@nohost");
    terms_by(Just(Pid { node, id: 0, serial: 0, creation: 0 }))
}

/// Terms of every kind that OTP 25 has.
pub(crate) fn terms() -> impl Strategy<Value = Term> {
    terms_by(pids())
}

/// Terms of every kind, with funs created by these processes.
fn terms_by(creators: impl Strategy<Value = Pid> + Clone + 'static) -> impl Strategy<Value = Term> {
    plain().prop_recursive(2, 60, 4, move |inner| {
        let free = proptest::collection::vec(inner.clone(), 0..3);
        let fun = (atoms(), any::<u8>(), any::<[u8; 16]>(), any::<u16>(), free, creators.clone());
        let funs = fun.prop_map(|(module, arity, uniq, number, free, pid)| {
            // A node accepts only values of the old fields that it could have created.
            let (index, old_index, old_uniq) =
                (number.into(), number.into(), i64::from(number) * 2047);
            Term::from(Fun { module, arity, uniq, index, old_index, old_uniq, pid, free })
        });
        prop_oneof![funs, proptest::collection::vec(inner, 0..4).prop_map(Term::Tuple)]
    })
}

fn parts(term: &Term) -> Vec<&Term> {
    match term {
        Term::Tuple(elements) | Term::List(elements) => elements.iter().collect(),
        Term::ImproperList(list) => list.elements().iter().chain([list.tail()]).collect(),
        Term::Fun(fun) => fun.free.iter().collect(),
        Term::Map(map) => map.pairs().iter().flat_map(|(key, value)| [key, value]).collect(),
        Term::NativeRecord(record) => record.fields.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether the predicate holds for a term or any part of it.
pub(crate) fn has(term: &Term, test: &dyn Fn(&Term) -> bool) -> bool {
    test(term) || parts(term).into_iter().any(|part| has(part, test))
}
