//! Property tests: every authorized request gets an answer or a one-line error.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::support::{Answer, Seen};

/// Read endpoints and their parameters.
const ASKED: [(&str, &[&str]); 4] = [
    (
        "/api/processes",
        &["sort", "order", "offset", "limit", "text", "state", "mailbox", "parent", "services"],
    ),
    ("/api/process", &["pid"]),
    ("/api/trace", &["pid", "last"]),
    ("/api/nothing", &["pid"]),
];
/// Endpoints that change something, and their fields.
const DONE: [(&str, &[&str]); 3] = [
    ("/api/process/exit", &["pid", "reason"]),
    ("/api/trace/start", &["processes"]),
    ("/api/trace/stop", &[]),
];

/// Runs `judge` on generated cases, all against one node.
fn try_all<S: Strategy>(cases: u32, strategy: S, judge: impl Fn(&Seen, S::Value) -> Answer) {
    let seen = Seen::start_with(|observer| observer.allow_exit(true));
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) });
    let judged = runner.run(&strategy, |asked| {
        let answer = judge(&seen, asked);
        prop_assert!([200, 400, 404].contains(&answer.status), "{}", answer.body);
        prop_assert!(serde_json::from_str::<Value>(&answer.body).is_ok());
        let error = answer.error();
        prop_assert_eq!(answer.status == 200, error.is_empty());
        prop_assert!(!error.contains(char::is_control), "{error:?}");
        Ok(())
    });
    judged.unwrap_or_else(|failed| panic!("{failed}"));
}

/// Generates a nonexistent pid or a near miss.
fn pid() -> impl Strategy<Value = String> {
    let near = "<?[01]?\\.[0-9+-]{0,11}\\.?[0-9]{0,11}>?";
    prop_oneof!["<0\\.[1-9][0-9]{4,6}\\.[0-9]{1,10}>", near, "\\PC{0,9}"]
}

/// Generates the value of a query parameter.
fn value() -> impl Strategy<Value = String> {
    let words =
        ["pid", "mailbox", "age", "asc", "desc", "running", "receiving", "true", "false", "all"];
    let pid = pid().prop_map(|pid| pid.bytes().map(|byte| format!("%{byte:02X}")).collect());
    prop_oneof![
        3 => select(words.to_vec()).prop_map(str::to_owned),
        3 => "-?[0-9]{1,3}",
        1 => "[0-9]{17,21}",
        2 => pid,
        1 => "(%[0-9a-fA-F]{0,2}|%0[AD]|[a-z+&=;.,~]){0,20}",
    ]
}

/// Generates fields with some of these names, at least `least`, and sometimes an extra one.
fn fields(
    known: &'static [&str],
    least: usize,
    value: impl Strategy<Value = String>,
) -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let odd = prop_oneof![9 => Just(None), 1 => select(vec!["", "x", "pid"]).prop_map(Some)];
    let values = proptest::collection::vec(value, known.len() + 1);
    let some = proptest::sample::subsequence(known, least..=known.len());
    (some, odd, values)
        .prop_map(|(some, odd, values)| some.into_iter().chain(odd).zip(values).collect())
}

#[test]
fn every_query_is_answered_or_refused_in_one_line() {
    let asked =
        select(&ASKED[..]).prop_flat_map(|(path, known)| (Just(path), fields(known, 0, value())));
    try_all(300, asked, |seen, (path, query)| {
        let query: Vec<_> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        seen.get(&format!("{path}?{}", query.join("&")))
    });
}

#[test]
fn every_command_is_executed_or_refused_in_one_line() {
    let asked = select(&DONE[..]).prop_flat_map(|(path, known)| {
        let list = proptest::collection::vec(pid(), 0..23);
        let value = prop_oneof![
            3 => pid().prop_map(|pid| json!(pid).to_string()),
            2 => list.prop_map(|pids| json!(pids).to_string()),
            3 => select(vec![r#""kill""#, r#""shutdown""#, r#""kill\n""#]).prop_map(str::to_owned),
            1 => "[\\[{]{0,40}|[0-9]{1,30}|null",
        ];
        let said = fields(known, known.len(), value).prop_map(|fields| {
            let fields = fields.iter().map(|(key, value)| format!("{key:?}:{value}"));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        });
        (Just(path), prop_oneof![4 => said, 1 => "\\PC{1,40}"])
    });
    try_all(300, asked, |seen, (path, body)| seen.post(path, &body));
}
