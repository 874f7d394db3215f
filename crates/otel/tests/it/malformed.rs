//! Fields that are malformed or too long.

use purlin_otel::TraceContext;
use purlin_term::{Term, from_term, to_term};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn context(parent: &str, state: &str) -> TraceContext {
    TraceContext::extract(|name| Some(if name == "traceparent" { parent } else { state }))
}

fn from_text(term: &str) -> Result<TraceContext, purlin_term::ValueError> {
    from_term(&term.parse::<Term>().expect("a term"))
}

#[test]
fn a_context_is_a_list_of_pairs_in_terms_and_in_json() {
    let whole = context(PARENT, "a=1,b=2");
    let term = to_term(&whole).expect("it is a term");
    let text = format!(
        "[{{<<\"traceparent\">>,<<\"{PARENT}\">>}},{{<<\"tracestate\">>,<<\"a=1,b=2\">>}}]"
    );
    assert_eq!(term.to_string(), text);
    assert_eq!(from_term::<TraceContext>(&term), Ok(whole.clone()));

    let json = serde_json::to_string(&whole).expect("it is JSON");
    assert_eq!(json, format!(r#"[["traceparent","{PARENT}"],["tracestate","a=1,b=2"]]"#));
    assert_eq!(serde_json::from_str::<TraceContext>(&json).ok(), Some(whole.clone()));
    let escaped = json.replace("a=1", "\\u0061=1");
    assert_eq!(serde_json::from_str::<TraceContext>(&escaped).ok(), Some(whole));

    let without_state = context(PARENT, "");
    let fields: Vec<_> = without_state.fields().collect();
    assert_eq!(fields, [("traceparent", PARENT.to_owned())]);
    assert_eq!(format!("{without_state:?}"), format!(r#"{{"traceparent": "{PARENT}"}}"#));

    let empty = TraceContext::default();
    assert_eq!(to_term(&empty).expect("it is a term"), Term::NIL);
    assert_eq!(from_term::<TraceContext>(&Term::NIL), Ok(empty));
}

#[test]
fn a_malformed_parent_makes_the_context_empty() {
    let zeros = |n| "0".repeat(n);
    let long = "x".repeat(1 << 20);
    let malformed = [
        "",
        "-",
        "---",
        "no trace",
        "é-é-é-é",
        &PARENT[3..],
        &PARENT[..52],
        &PARENT.to_uppercase(),
        &PARENT.replace("00-", "ff-"),
        &PARENT.replace("0a", "xy"),
        &format!("{PARENT}-00"),
        &format!("00-{}-b7ad6b7169203331-01", zeros(32)),
        &format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", zeros(16)),
        &format!("cc-{}-{long}", &PARENT[3..]),
        &long,
    ];
    for parent in malformed {
        let empty = context(parent, "a=1");
        assert_eq!(empty, TraceContext::default(), "{parent:.80}");
        assert_eq!(empty.fields().count(), 0);
        let term = Term::list([Term::tuple([Term::from("traceparent"), Term::from(parent)])]);
        assert_eq!(from_term::<TraceContext>(&term), Ok(empty), "{parent:.80}");
    }
}

#[test]
fn a_later_version_of_the_parent_may_have_more_fields() {
    let later = PARENT.replacen("00", "01", 1) + "-more-fields";
    assert_eq!(context(&later, ""), context(PARENT, ""));
}

#[test]
fn a_malformed_or_long_state_costs_only_the_state() {
    let two = |length: usize| format!("a={},b={}", "x".repeat(250), "x".repeat(length - 255));
    for state in ["a", "a=1,b", "é=1", "a=1\r\nHost: b", "a=\t", &two(513), &two(1 << 20)] {
        assert_eq!(context(PARENT, state), context(PARENT, ""), "{state:.80}");
    }
    let longest = context(PARENT, &two(500));
    assert_eq!(longest.span_context().trace_state().header(), two(500));
    let longest = context(PARENT, &(two(511) + ","));
    assert_eq!(longest.span_context().trace_state().header(), two(511));
}

#[test]
fn other_fields_are_ignored_and_the_first_of_two_counts() {
    let other = PARENT.replace("319c", "319d");
    let term = format!(
        "[{{<<\"baggage\">>,<<\"a=1\">>}},{{<<\"traceparent\">>,<<\"{PARENT}\">>}},\
         {{\"traceparent\",<<\"{other}\">>}},{{tracestate,[]}}]"
    );
    assert_eq!(from_text(&term), Ok(context(PARENT, "")));
}

#[test]
fn a_term_of_another_type_is_an_error() {
    for term in
        ["7", "undefined", "<<\"traceparent\">>", "#{}", "[7]", "[{a}]", "[{a,b,c}]", "[{a,7}]"]
    {
        assert!(from_text(term).is_err(), "{term}");
    }
}
