//! Trace context of a peer: any text costs no more than the parent, what is passed on is within the limits and
//! printable, and both forms of a context are parsed to the same one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use purlin_otel::TraceContext;

/// Trace id, span id and flags of a valid `traceparent`.
type Ids = (u128, u64, u8);

fuzz_target!(|input: (&str, &str, Option<Ids>)| {
    let (text, state, ids) = input;
    let valid = |(trace, span, flags): Ids| format!("00-{trace:032x}-{span:016x}-{flags:02x}");
    let parent = ids.map_or(text.to_owned(), valid);
    let context = TraceContext::extract(|name| match name {
        "traceparent" => Some(parent.as_str()),
        "tracestate" => Some(state),
        _ => None,
    });
    let passed: Vec<(&str, String)> = context.fields().collect();
    for (name, value) in &passed {
        let longest = if *name == "traceparent" { 110 } else { 512 };
        assert!(value.len() <= longest && value.bytes().all(|byte| matches!(byte, b' '..=b'~')));
    }
    let again = TraceContext::extract(|name| {
        passed.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str())
    });
    assert_eq!(again.span_context().trace_id(), context.span_context().trace_id());
    assert_eq!(again.span_context().span_id(), context.span_context().span_id());
    let json = serde_json::to_string(&context).expect("it is a list of pairs");
    let sent: TraceContext = serde_json::from_str(&json).expect("it was a context");
    assert_eq!(sent.span_context(), again.span_context());
    // The form of a peer, which may be anything.
    let _ = serde_json::from_str::<TraceContext>(text);
});
