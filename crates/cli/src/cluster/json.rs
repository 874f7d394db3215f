//! Terms as JSON, for scripts. Pure.

use purlin_term::Term;
use serde_json::{Value, json};

/// Converts a term. The conversion loses types: tuples become arrays, atoms become strings. What JSON has no form for, such
/// as a pid, becomes a string in Erlang's syntax.
pub(super) fn json(term: &Term) -> Value {
    let array = |terms: &[Term]| terms.iter().map(json).collect();
    match term {
        Term::Integer(number) => json!(number),
        Term::Float(number) => json!(number.get()),
        Term::Atom(atom) => match atom.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            "nil" | "null" | "undefined" => Value::Null,
            name => name.into(),
        },
        Term::Binary(binary) => match binary.as_str() {
            Some(text) => text.into(),
            None => term.to_string().into(),
        },
        Term::Tuple(terms) | Term::List(terms) => array(terms),
        Term::Map(map) => {
            map.pairs().iter().map(|(name, value)| (key(name), json(value))).collect()
        }
        _ => term.to_string().into(),
    }
}

/// Converts the key of a map. Of two keys that become equal, such as `a` and `<<"a">>`, one is left.
fn key(term: &Term) -> String {
    match term {
        Term::Atom(atom) => atom.as_str().to_owned(),
        Term::Binary(binary) => binary.as_str().map_or_else(|| term.to_string(), str::to_owned),
        _ => term.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use purlin_term::Term;
    use serde_json::json;

    #[test]
    fn each_type_has_its_form() {
        for (text, due) in [
            ("42", json!(42)),
            ("-1.5", json!(-1.5)),
            ("1208925819614629174706176", json!("1208925819614629174706176")),
            ("[true, false, undefined, ok]", json!([true, false, null, "ok"])),
            ("<<\"text\">>", json!("text")),
            ("<<255>>", json!("<<\"ÿ\">>")),
            ("{ok, \"ab\"}", json!(["ok", [97, 98]])),
            ("[1 | 2]", json!("[1|2]")),
            ("#{a => 1, <<\"b\">> => [], {c} => #{}}", json!({"a": 1, "b": [], "{c}": {}})),
        ] {
            let term: Term = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(super::json(&term), due, "{text}");
        }
    }
}
