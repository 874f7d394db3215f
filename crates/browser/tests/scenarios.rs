//! Failing scenarios are reported, and requests of scenarios are carried out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use purlin_browser::{Browser, nothing};
use serde_json::{Value, json};

static BROWSER: Browser = Browser::new(
    env!("CARGO_TARGET_TMPDIR"),
    "scenarios",
    &[("scenarios.mjs", include_str!("scenarios.mjs"))],
);

/// Runs a scenario on a page that is ready immediately. Returns its result, or `None` if it was
/// skipped.
fn judged(scenario: &str, about: &Value, act: impl FnMut(&str)) -> Option<Result<(), String>> {
    let text = "<!doctype html><html data-ready><main>a till</main>";
    let page = BROWSER.write(&format!("{scenario} #1.html"), text);
    let page = page.to_str().expect("cargo's paths are text");
    let judge = AssertUnwindSafe(|| BROWSER.operate(scenario, page, about, act));
    let judged = catch_unwind(judge).map_err(|words| *words.downcast::<String>().expect("a text"));
    let left_out = std::env::var_os("PURLIN_SKIP_BROWSER").is_some_and(|value| value == "1");
    (!left_out).then_some(judged)
}

#[test]
fn a_request_is_carried_out_before_the_scenario_continues() {
    let mut done = Vec::new();
    let judged = judged("asks", &json!(["first", "second"]), |wish| done.push(wish.to_owned()));
    if let Some(judged) = judged {
        assert_eq!((judged, done), (Ok(()), vec!["first".to_owned(), "second".to_owned()]));
    }
}

#[test]
fn a_failing_scenario_reports_the_reason_and_the_page() {
    for (scenario, words) in [
        ("wrong", "a shop"),
        ("wrong", "a till"),
        ("complains", "console: too much to do"),
        ("throws", "page: Error: too little"),
        ("strays", "request: http://127.0.0.1:9/"),
        ("reads", "request: file:///"),
        ("none", "there is no scenario none"),
    ] {
        let Some(judged) = judged(scenario, &Value::Null, nothing) else { return };
        assert!(judged.is_err_and(|said| said.contains(words)), "{scenario}: {words}");
    }
}

#[test]
fn a_test_that_fails_a_request_does_not_affect_the_next() {
    let asks = json!(["first"]);
    if let Some(judged) = judged("asks", &asks, nothing) {
        assert_eq!(judged, Err("no handler for first here".to_owned()));
    }
    let next = judged("expects", &Value::Null, nothing);
    assert!(next.is_none_or(|next| next == Ok(())));
}
