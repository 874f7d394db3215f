//! Conversion between Rust values and Erlang terms: written forms, and accepted forms.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use purlin_term::{
    Absent, Atom, Binary, Encoder, Options, Pid, Reader, Reference, Strings, Structs, Term,
    ValueError, from_bytes, from_reader, from_term, to_bytes, to_term, with,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Asserts that the value is written as this term and read from it.
fn is<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, text: &str) {
    assert_eq!(to_term(&value).unwrap().to_string(), text);
    reads(text, value);
}

fn reads<T: DeserializeOwned + PartialEq + Debug>(text: &str, value: T) {
    assert_eq!(from_term(&text.parse().unwrap()), Ok(value), "{text}");
}

fn refuses<T: DeserializeOwned + Debug>(text: &str, why: &str) {
    let refused: Result<T, _> = from_term(&text.parse().unwrap());
    assert_eq!(refused.unwrap_err().to_string(), why, "{text}");
}

fn written<T: Serialize>(value: &T, options: Options) -> String {
    options.to_term(value).unwrap().to_string()
}

#[test]
fn numbers_and_booleans() {
    is(7_u8, "7");
    is(-7_i32, "-7");
    is(u64::MAX, "18446744073709551615");
    is(i128::MIN, "-170141183460469231731687303715884105728");
    is(u128::MAX, "340282366920938463463374607431768211455");
    is(1.5_f64, "1.5");
    is(1.5_f32, "1.5");
    is(true, "true");
    is('a', "97");
    reads("3", 3.0_f64);
    refuses::<u8>("256", "invalid value: integer `256`, expected u8");
    refuses::<u64>("-1", "invalid value: integer `-1`, expected u64");
    refuses::<u8>("a", "invalid type: string \"a\", expected u8");
    refuses::<bool>("yes", "invalid type: string \"yes\", expected a boolean");
    refuses::<char>("55296", "55296 is no character");
    let error = to_bytes(&f64::NAN).unwrap_err();
    assert_eq!(error.to_string(), "a float of Erlang's is finite");
}

#[test]
fn text_and_bytes() {
    is("héllo".to_owned(), "<<\"héllo\"/utf8>>");
    is(Binary::from("x"), "<<\"x\">>");
    is(serde_bytes::ByteBuf::from([1, 2]), "<<1,2>>");
    for text in ["\"abc\"", "abc", "<<\"abc\">>"] {
        reads(text, "abc".to_owned());
    }
    reads("[960,97]", "πa".to_owned());
    reads("[]", String::new());
    for text in ["[1,2]", "<<1,2>>", "{1,2}"] {
        reads(text, vec![1_u8, 2]);
    }
    refuses::<String>("<<255>>", "invalid type: a binary, expected a string");
    refuses::<String>("[97|b]", "invalid type: b, expected a string");
    let list = Options { strings: Strings::List, ..Options::default() };
    assert_eq!(written(&"ab", list), "\"ab\"");
    let atom = Options { strings: Strings::Atom, ..Options::default() };
    assert_eq!(written(&"ab", atom), "ab");
    assert!(atom.to_bytes(&"a".repeat(256)).is_err());
}

#[test]
fn values_may_borrow_from_the_bytes() {
    #[derive(Deserialize)]
    struct Borrowed<'b> {
        text: &'b str,
        #[serde(with = "serde_bytes")]
        bytes: &'b [u8],
    }
    let term: Term = "#{text => <<\"abc\">>, bytes => <<1, 2, 255>>}".parse().unwrap();
    let bytes = term.encode().unwrap();
    let read: Borrowed<'_> = from_bytes(&bytes).unwrap();
    assert_eq!((read.text, read.bytes), ("abc", &[1, 2, 255][..]));
    assert!(bytes.as_ptr_range().contains(&read.text.as_ptr()));
}

#[test]
fn sequences_and_maps() {
    is(vec![1000, 2], "[1000,2]");
    is(Vec::<u32>::new(), "[]");
    is((1, "a".to_owned()), "{1,<<\"a\">>}");
    is((), "{}");
    is(BTreeMap::from([("a".to_owned(), 1)]), "#{<<\"a\">> => 1}");
    reads("#{a => 1}", BTreeMap::from([("a".to_owned(), 1)]));
    reads("[{a, 1}, {b, 2}]", BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]));
    reads("[a]", BTreeMap::from([("a".to_owned(), true)]));
    refuses::<Vec<u8>>("[1|2]", "a list with a tail");
    refuses::<(u8, u8)>("{1,2,3}", "1 elements too many");
    refuses::<(u8, u8)>("{1}", "invalid length 1, expected a tuple of size 2");
    refuses::<BTreeMap<u16, u8>>("[1000]", "a list of what is neither pair nor atom");
    reads("\"ab\"", vec![Some(97), Some(98)]);
    reads("\"ab\"", vec![Term::from(97), Term::from(98)]);
    let large: Vec<u8> = vec![7; 70_000];
    assert_eq!(from_bytes(&to_bytes(&large).unwrap()), Ok(large));
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
#[serde(rename = "point")]
struct Point {
    x: i32,
    y: Option<i32>,
}

#[test]
fn a_struct_is_written_in_the_selected_form_and_read_from_every_form() {
    let point = Point { x: 1, y: None };
    let with = |structs| Options { structs, ..Options::default() };
    for (options, text) in [
        (Options::default(), "#{x => 1,y => undefined}"),
        (with(Structs::MapOfBinaries), "#{<<\"x\">> => 1,<<\"y\">> => undefined}"),
        (with(Structs::Tuple), "{1,undefined}"),
        (with(Structs::Record), "{point,1,undefined}"),
        (with(Structs::Keyword), "[{x,1},{y,undefined}]"),
        (Options::ELIXIR, "#{'__struct__' => 'Elixir.point',x => 1,y => nil}"),
        (Options { absent: Absent::Nil, ..with(Structs::Tuple) }, "{1,nil}"),
    ] {
        assert_eq!(written(&point, options), text);
        reads(text, point.clone());
    }
    reads("#{x => 1}", point.clone());
    reads("#{x => 1, other => #{a => [1]}}", point);
    refuses::<Point>("#{}", "missing field `x`");
    refuses::<Point>("{line,1,2}", "invalid type: line, expected struct Point");
    refuses::<Point>("{1,2,3,4}", "invalid type: a tuple, expected struct Point");
}

#[test]
fn a_field_selects_its_own_form() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct All {
        #[serde(with = "with::tuple")]
        tuple: Point,
        #[serde(with = "with::record")]
        records: Vec<Point>,
        #[serde(with = "with::nil")]
        nil: Option<u8>,
        #[serde(with = "with::list")]
        list: String,
        #[serde(with = "with::atom")]
        atom: String,
        plain: Point,
    }
    let point = Point { x: 1, y: Some(2) };
    is(
        All {
            tuple: point.clone(),
            records: vec![point.clone()],
            nil: None,
            list: "ab".into(),
            atom: "cd".into(),
            plain: point,
        },
        "#{atom => cd,list => \"ab\",nil => nil,plain => #{x => 1,y => 2},\
         records => [{point,1,2}],tuple => {1,2}}",
    );
}

#[test]
fn a_field_that_is_left_out_keeps_its_place_in_a_tuple() {
    #[derive(Serialize)]
    struct Some {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<u8>,
        b: u8,
    }
    let value = Some { a: None, b: 1 };
    assert_eq!(written(&value, Options::default()), "#{b => 1}");
    let tuple = Options { structs: Structs::Tuple, ..Options::default() };
    assert_eq!(written(&value, tuple), "{undefined,1}");
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename_all = "snake_case")]
enum Command {
    Stop,
    Get(String),
    Put(u8, u8),
    Move { by: u8, to: Option<u8> },
}

#[test]
fn enums_are_written_as_atoms_and_tagged_tuples() {
    is(Command::Stop, "stop");
    is(Command::Get("a".into()), "{get,<<\"a\">>}");
    is(Command::Put(1, 2), "{put,1,2}");
    is(Command::Move { by: 1, to: None }, "{move,#{by => 1,to => undefined}}");
    let record = Options { structs: Structs::Record, ..Options::default() };
    assert_eq!(written(&Command::Move { by: 1, to: None }, record), "{move,1,undefined}");
    for text in ["{move,1,undefined}", "{move,[{by,1}]}", "{move,#{by => 1}}"] {
        reads(text, Command::Move { by: 1, to: None });
    }
    reads("{stop}", Command::Stop);
    reads("<<\"stop\">>", Command::Stop);
    refuses::<Command>("{put,1}", "`put` takes 2 arguments, not 1");
    refuses::<Command>("{get,a,b}", "`get` takes 1 argument, not 2");
    refuses::<Command>("get", "`get` takes 1 argument, not 0");
    refuses::<Command>("{stop,now}", "`stop` takes 0 arguments, not 1");
    for text in ["move", "{move}"] {
        refuses::<Command>(text, "`move` takes 2 arguments, not 0");
    }
    refuses::<Command>("{move,1}", "`move` takes 2 arguments, not 1");
    refuses::<Command>("{1,2}", "a tuple that does not begin with an atom");
    refuses::<Command>(
        "start",
        "unknown variant `start`, expected one of `stop`, `get`, `put`, `move`",
    );
}

#[test]
fn terms_inside_of_values_are_unchanged() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(rename_all = "snake_case")]
    enum Message {
        Call(Pid, Reference, Term),
        Named { name: Atom },
    }
    let node = Atom::from_static("a@b");
    let pid = Pid { node: node.clone(), id: 1, serial: 0, creation: 2 };
    let reference = Reference::new(node, 2, &[1, 2, 3]).unwrap();
    let any: Term = "[#{1 => 2.0} | tail]".parse().unwrap();
    let term = Term::tuple([
        Term::atom("call"),
        Term::from(pid.clone()),
        Term::from(reference.clone()),
        any.clone(),
    ]);
    let call = Message::Call(pid, reference, any);
    assert_eq!(to_term(&call), Ok(term.clone()));
    assert_eq!(from_term::<Message>(&term), Ok(call));
    is(Message::Named { name: Atom::OK }, "{named,#{name => ok}}");
    refuses::<Atom>("<<\"ok\">>", "not an atom");

    // Between nodes, atoms may be atom cache references.
    let table = [Atom::from_static("named"), Atom::from_static("name"), Atom::OK];
    let mut index = |atom: &Atom| table.iter().position(|a| a == atom).map(|at| at as u8);
    let mut bytes = Vec::new();
    let named: Term = "{named, #{name => ok}}".parse().unwrap();
    Encoder::bare(&named).index(&mut index).write(&mut bytes).unwrap();
    let read = from_reader(&mut Reader::with_atoms(&bytes, &table));
    assert_eq!(read, Ok(Message::Named { name: Atom::OK }));
}

#[test]
fn untagged_and_internally_tagged_enums() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(untagged)]
    enum Any {
        Number(i64),
        Flag(bool),
        Text(String),
        List(Vec<Any>),
        Point(Point),
        Nothing,
    }
    is(Any::List(vec![Any::Number(1000), Any::Flag(true)]), "[1000,true]");
    is(Any::Text("x".into()), "<<\"x\">>");
    is(Any::Point(Point { x: 1, y: None }), "#{x => 1,y => undefined}");
    reads("nil", Any::Nothing);

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(tag = "type", rename_all = "snake_case")]
    enum Event {
        Moved { x: f64 },
    }
    is(Event::Moved { x: 1.5 }, "#{type => <<\"moved\">>,x => 1.5}");
    reads("#{type => moved, x => 1.5}", Event::Moved { x: 1.5 });
}

#[test]
fn bytes_that_do_not_match_the_type_are_rejected() {
    let refused = |bytes: &[u8]| from_bytes::<Term>(bytes).unwrap_err().to_string();
    assert_eq!(refused(&[]), "no Erlang term: the bytes end within a term at byte 0");
    assert_eq!(refused(&[130]), "no Erlang term: 130 instead of the version, 131 at byte 0");
    assert_eq!(refused(&[131, 106, 106]), "no Erlang term: bytes follow the term at byte 2");
    assert!(matches!(from_bytes::<u8>(&[131, 80, 0, 0]), Err(ValueError::Decode(_))));
}

#[test]
fn depth_has_a_limit() {
    #[derive(Deserialize, Debug)]
    #[allow(dead_code, reason = "it is only read")]
    struct Nested(Vec<Nested>);
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(from_term::<Nested>(&nested(60).parse().unwrap()).is_ok());
    let refused = from_term::<Nested>(&nested(200).parse().unwrap()).unwrap_err();
    assert!(refused.to_string().contains("deeper than allowed"), "{refused}");
    let deep: Term = nested(1000).parse().unwrap();
    assert!(from_term::<serde::de::IgnoredAny>(&deep).is_ok());
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Everything {
    number: i64,
    large: u128,
    float: f64,
    text: String,
    list: Vec<Option<u8>>,
    map: BTreeMap<String, (bool, char)>,
    nested: Option<Box<Everything>>,
}

fn everything() -> impl Strategy<Value = Everything> {
    let flat = (
        any::<i64>(),
        any::<u128>(),
        -1e9..1e9_f64,
        any::<String>(),
        proptest::collection::vec(any::<Option<u8>>(), 0..5),
        proptest::collection::btree_map(any::<String>(), any::<(bool, char)>(), 0..5),
    );
    let flat = flat.prop_map(|(number, large, float, text, list, map)| Everything {
        number,
        large,
        float,
        text,
        list,
        map,
        nested: None,
    });
    (flat.clone(), proptest::option::of(flat)).prop_map(|(mut outer, inner)| {
        outer.nested = inner.map(Box::new);
        outer
    })
}

proptest! {
    #[test]
    fn values_written_in_any_form_are_read_back_unchanged(
        value in everything(),
        structs in proptest::sample::select(&[
            Structs::Map,
            Structs::MapOfBinaries,
            Structs::Tuple,
            Structs::Record,
            Structs::Keyword,
            Structs::Elixir,
        ][..]),
        absent in proptest::sample::select(&[Absent::Undefined, Absent::Nil][..]),
        strings in proptest::sample::select(&[Strings::Binary, Strings::List][..]),
    ) {
        let options = Options { structs, absent, strings };
        let bytes = options.to_bytes(&value).unwrap();
        prop_assert_eq!(from_bytes(&bytes), Ok(value.clone()));
        let term = options.to_term(&value).unwrap();
        prop_assert_eq!(from_term(&term), Ok(value));
    }
}

#[test]
fn a_native_record_is_read_as_a_struct_or_a_map() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Point {
        x: i32,
        y: Option<i32>,
    }
    reads("#m:pt{y = undefined,x = 1}", Point { x: 1, y: None });
    reads("#m:pt{x = 1}", Point { x: 1, y: None });
    reads("#m:pt{x = 1,y = 2}", BTreeMap::from([("x".to_owned(), 1), ("y".to_owned(), 2)]));
    refuses::<Point>("#m:pt{y = 1}", "missing field `x`");
    refuses::<u8>("#m:pt{y = 1}", "invalid type: map, expected u8");
}
