//! Reader and writer for the text of OTP's parallel_messages_SUITE.

use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use purlin_lab::otp_text::{is_text, read, write};
use purlin_lab::stored::{Figures, figures};
use serde_json::{Value, json};

const FIXTURES: [&str; 6] =
    ["default.txt", "large.txt", "switching.txt", "both_modes.txt", "crlf.txt", "two_runs.txt"];

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/otp_text");
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn of_text(text: &str) -> Figures {
    figures(text, Path::new("otp.txt")).unwrap_or_else(|problem| panic!("{problem}"))
}

fn of_json(document: &Value) -> Figures {
    figures(&document.to_string(), Path::new("results.json"))
        .unwrap_or_else(|text| panic!("{text}"))
}

/// Returns the records of a text, without comments and blank lines, each joined to one line.
fn records(text: &str) -> String {
    let kept = text.lines().scan(false, |inside, line| {
        *inside =
            (*inside || line.starts_with("Scenario: ")) && !line.starts_with("#BENCHMARK ENDED");
        Some(if *inside && !line.starts_with('#') { line } else { "" })
    });
    let mut records = String::new();
    for line in kept {
        records.push_str(line);
        if line.ends_with('$') {
            records.push('\n');
        }
    }
    records
}

#[test]
fn records_of_the_suite_round_trip_byte_for_byte() {
    for name in FIXTURES {
        let text = fixture(name);
        let written = write(&of_text(&text)).unwrap();
        assert_eq!(records(&written), records(&text), "{name}");
        assert!(
            written.starts_with("#BENCHMARK STARTED$\nScenario: Send") || name == "switching.txt"
        );
        assert!(written.ends_with("$\n\n#BENCHMARK ENDED$\n"), "{name}");
        assert_eq!(read(&written).unwrap(), read(&text).unwrap(), "{name}");
    }
}

/// Returns what Erlang prints for a seed; `None` if Erlang is not installed and may not be.
fn printed(seed: u32) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/otp_text/print.escript");
    let output = match Command::new("escript").arg(script).arg(seed.to_string()).output() {
        Ok(output) => output,
        Err(_) if std::env::var_os("PURLIN_NO_INSTALL").is_some_and(|value| value == "1") => {
            println!("skipped: there is no escript, and PURLIN_NO_INSTALL=1 forbids installing it");
            return None;
        }
        Err(error) => panic!(
            "escript cannot be started ({error}): install Erlang, on Debian with `apt-get install erlang-base`, or run `make test`, which does"
        ),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("it writes text"))
}

#[test]
fn text_printed_by_erlang_round_trips_byte_for_byte() {
    for seed in 1..=3 {
        let Some(text) = printed(seed) else { return };
        let written = write(&of_text(&text)).unwrap();
        assert_eq!(records(&written), records(&text), "seed {seed}");
        assert_eq!(written.matches("Scenario: ").count(), 24);
    }
}

#[test]
fn line_becomes_figures_of_signals() {
    let document = read(&fixture("default.txt")).unwrap();
    assert_eq!((&document["schema"], &document["started"]), (&1.into(), &"".into()));
    assert_eq!(document["tool"]["name"], "parallel_messages_SUITE");
    assert_eq!(document["experiments"][0]["id"], "signals");
    assert_eq!(document["contenders"][0]["label"], "25");
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 18);
    let options = "[{message_queue_data,off_heap}]";
    assert_eq!(
        results[1],
        json!({
            "experiment": "signals", "contender": "25", "variant": "off_heap",
            "graph": "Send Throughput, send_duration=500 ms,  100.000000% {message_size,1}",
            "params": {"senders": 2, "ms": 500, "mode": "send", "spawn_options": options},
            "x": 2, "metric": "send throughput, as OTP computes it", "unit": "signals/s",
            "better": "higher", "samples": [3_478_835.182_096], "median": 3_478_835.182_096,
            "low": 3_478_835.182_096, "high": 3_478_835.182_096, "principal": false
        })
    );
    let graph = results[12]["graph"].as_str().unwrap();
    assert_eq!(
        graph,
        "Send Throughput, send_duration=500 ms,  50.000000% {exit_signal_size,1},  50.000000% {message_size,1}"
    );
    assert_eq!(results[17]["metric"], "receive throughput, as OTP computes it");
}

#[test]
fn crlf_and_blank_lines_change_nothing() {
    assert_eq!(read(&fixture("crlf.txt")).unwrap(), read(&fixture("default.txt")).unwrap());
}

#[test]
fn comments_within_records_are_ignored() {
    let text = fixture("large.txt");
    assert!(text.contains("costs 5 $\n"), "a $ that ends nothing");
    assert_eq!(of_text(&text).results.len(), 6 * 12);
}

#[test]
fn repeated_scenario_is_another_run_and_an_unrepeated_one_keeps_its_label() {
    let figures = of_text(&fixture("two_runs.txt"));
    let labels: Vec<_> = figures.contenders.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["25", "Ver: 2 26", "26"]);
    let lines = |label: &str, word: &str| {
        let own = figures.results.iter().filter(|one| one.contender == label);
        own.filter(|one| one.graph.as_ref().is_some_and(|graph| graph.contains(word))).count()
    };
    assert_eq!(lines("Ver: 2 26", "100.000000% {message_size,1}"), 2 * 4);
    assert_eq!((lines("26", "{exit_signal_size,10}"), lines("26", "")), (2 * 4, 2 * 4));
    assert_eq!(lines("25", "{exit_signal_size,3}"), 2 * 3);
    // Three runs of the same scenarios.
    let thrice = fixture("default.txt").repeat(3);
    let last = of_text(&thrice).contenders.last().unwrap().label.clone();
    assert_eq!(last, "Ver: 3 25");
}

#[test]
fn both_modes_are_variants_of_the_same_graphs() {
    let figures = of_text(&fixture("both_modes.txt"));
    let variants: Vec<_> =
        figures.results.iter().step_by(6).map(|one| one.variant.as_deref()).collect();
    assert_eq!(variants, [Some("off_heap"), Some("on_heap")]);
    assert_eq!(figures.results[0].graph, figures.results[6].graph);
    assert_eq!(figures.contenders.len(), 1, "and no other run");
}

/// A scenario with two lines, which tests modify.
const GOOD: [&str; 4] = [
    "Scenario: Send Throughput, send_duration=500 ms,  100.000000% {message_size,1}, Spawn Options=[]$",
    "; 1; 2$",
    "25; 1.000000; 2.000000$",
    "26; 3.000000; 4.000000$",
];

/// Malformed texts, each with the beginning of the expected error.
fn malformed() -> Vec<(String, &'static str)> {
    let long = "7".repeat(5000);
    let spoiled = [
        (0, "", "line 2: a record that belongs to no scenario; copy from the line"),
        (0, "Scenario: 50% insert | 8 keys$", "line 1: no scenario of parallel_messages_SUITE"),
        (0, "Scenario: Send Throughput, send_duration=500 ms,", "line 1: the title has no $"),
        (1, "", "line 3: the numbers of senders are due here"),
        (1, "$", "line 2: the numbers of senders are due here"),
        (1, "; 1; x$", "line 2: \"x\" is no number of senders"),
        (1, "; 1; 1$", "line 2: \"1\" is no number of senders, or is there twice"),
        (1, "; 1; -1$", "line 2: \"-1\" is no number of senders"),
        (1, "; 1; 2$ 25; 1.0; 2.0$", "line 2: a $ within the line"),
        (1, "; 1; 2", "line 3: the line before it has no $ at its end"),
        (2, "25; 1.000000$", "line 3: \"25\" has 1 values and 2 are due"),
        (2, "25; 1.000000; 2.000000; 3.000000$", "line 3: \"25\" has 3 values and 2 are due"),
        (2, "25; 1.000000; 2.00", "line 4: the line before it has no $ at its end"),
        (2, "25; 1.000000; NaN$", "line 3: \"NaN\" is no throughput"),
        (2, "25; 1.000000; 1e3$", "line 3: \"1e3\" is no throughput"),
        (2, "25; 1.000000; $", "line 3: \"\" is no throughput"),
        (2, "; 1.000000; 2.0$", "line 3: \"\" cannot be a label (it has 1 to 200 characters"),
        (2, "25;\n\n#Name:\n\n 1.000000; two$", "line 7: \"two\" is no throughput"),
        (3, "25; 3.000000; 4.000000$", "line 4: \"25\" is in this graph already"),
        (3, "26; 3.000000; 4.0000", "line 4: the record that begins in line 4 breaks off"),
        (3, "26; 3.0;\n#BENCHMARK ENDED$", "line 5: the record that begins in line 4 breaks off"),
        (3, GOOD[0], "line 4: the scenario has no line of values"),
        (3, &long, "line 4: too long"),
    ];
    let spoiled = spoiled.map(|(place, line, due)| {
        let mut lines = GOOD;
        lines[place] = line;
        (lines.join("\n"), due)
    });
    let good = GOOD.join("\n");
    let between = good.replace("2.000000$", "2.000000") + "\n" + &good;
    let cut = format!("{}\n25; 1.0\n{good}", GOOD[..2].join("\n"));
    let mut texts = vec![
        (fixture("broken_off.txt"), "line 18: the record that begins in line 18 breaks off"),
        (between, "line 4: the line before it"),
        (cut, "line 4: the record that begins in line 3 breaks off"),
    ];
    texts.extend(spoiled);
    texts
}

#[test]
fn malformed_text_is_refused_with_line_number_and_advice() {
    assert_eq!(of_text(&GOOD.join("\n")).results.len(), 4);
    for (text, due) in malformed() {
        let refused = read(&text).expect_err(&text).to_string();
        assert!(refused.starts_with(due), "{text}: {refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
        assert!(refused.contains("; ") && refused.len() < 300, "and what to do: {refused}");
    }
}

#[test]
fn shell_output_around_a_benchmark_is_skipped() {
    let text =
        format!("1> x:y().\n{}\n#BENCHMARK ENDED$\nResult Location: /x\nok\n", GOOD.join("\n"));
    assert_eq!(of_text(&format!("\u{feff}{text}{text}")).results.len(), 8);
}

/// Figures of `signals` as a run of the lab stores them, with both computations of each.
fn ours() -> Value {
    let graph = |way: &str| {
        format!("{way} Throughput, send_duration=50 ms,  100.000000% {{message_size,1}}")
    };
    let mut results = Vec::new();
    for (contender, variant, factor) in [
        ("beam", Some("off_heap"), 1.0),
        ("beam", Some("on_heap"), 0.5),
        ("purlin", Some("adaptive"), 10.0),
        ("tokio", None, 20.0),
    ] {
        for (way, metric) in [("Send", "send throughput"), ("Receive", "receive throughput")] {
            for x in [1, 2] {
                for (how, share) in [("", 1.0), (", as OTP computes it", 1.25)] {
                    let value = 1e6 * factor * share * f64::from(x);
                    let mut result = json!({
                        "experiment": "signals", "contender": contender, "graph": graph(way),
                        "params": {"senders": x, "ms": 50}, "x": x, "metric": format!("{metric}{how}"),
                        "unit": "signals/s", "better": "higher", "samples": [value],
                        "median": value, "low": value, "high": value, "principal": false
                    });
                    if let Some(variant) = variant {
                        result["variant"] = variant.into();
                    }
                    results.push(result);
                }
                let mut memory = results.last().unwrap().clone();
                memory["metric"] = "resident memory".into();
                results.push(memory);
            }
        }
    }
    json!({"schema": 1, "started": "", "profile": "quick", "contenders": [], "results": results})
}

#[test]
fn beam_variant_is_written_under_its_options_and_others_under_all() {
    let written = write(&of_json(&ours())).unwrap();
    let scenario = |way: &str, mode: &str, lines: &str| {
        format!(
            "Scenario: {way} Throughput, send_duration=50 ms,  100.000000% {{message_size,1}}, \
             Spawn Options=[{{message_queue_data,{mode}}}]$\n; 1; 2$\n{lines}"
        )
    };
    let others = "purlin adaptive; 12500000.000000; 25000000.000000$\n\
                  tokio; 25000000.000000; 50000000.000000$\n";
    for way in ["Send", "Receive"] {
        let off = format!("beam; 1250000.000000; 2500000.000000$\n{others}");
        assert!(written.contains(&scenario(way, "off_heap", &off)), "{written}");
        let on = format!("beam; 625000.000000; 1250000.000000$\n{others}");
        assert!(written.contains(&scenario(way, "on_heap", &on)), "{written}");
    }
    assert_eq!(written.matches("Scenario: ").count(), 4, "{written}");
    assert_eq!(of_text(&written).results.len(), 4 * 3 * 2);
}

#[test]
fn graph_without_the_beam_has_the_suites_options() {
    let mut document = ours();
    let results = document["results"].as_array_mut().unwrap();
    results.retain(|result| result["contender"] == "purlin");
    let written = write(&of_json(&document)).unwrap();
    assert_eq!(written.matches(", Spawn Options=[{message_queue_data,off_heap}]$").count(), 2);
}

#[test]
fn labs_computation_is_written_if_it_is_the_only_one() {
    let mut document = ours();
    let results = document["results"].as_array_mut().unwrap();
    results.retain(|result| !result["metric"].as_str().unwrap().ends_with("OTP computes it"));
    let written = write(&of_json(&document)).unwrap();
    assert!(written.contains("\ntokio; 20000000.000000; 40000000.000000$\n"), "{written}");
}

#[test]
fn line_with_other_sender_counts_repeats_the_title() {
    let mut document = ours();
    let results = document["results"].as_array_mut().unwrap();
    results.retain(|result| result["contender"] != "tokio" || result["x"] == 1);
    let labels: Vec<String> = of_text(&write(&of_json(&document)).unwrap())
        .contenders
        .into_iter()
        .map(|one| one.label)
        .collect();
    assert_eq!(labels, ["beam", "purlin adaptive", "Ver: 2 tokio"]);
}

#[test]
fn labels_cannot_break_the_format() {
    let mut document = ours();
    for result in document["results"].as_array_mut().unwrap() {
        let label = match result["contender"].as_str().unwrap() {
            "purlin" => "# a; b$\nc",
            "tokio" => "# a, b",
            _ => "Scenario: ",
        };
        result["contender"] = label.into();
        result.as_object_mut().unwrap().remove("variant");
    }
    let written = write(&of_json(&document)).unwrap();
    let labels: Vec<String> =
        of_text(&written).contenders.into_iter().map(|one| one.label).collect();
    assert_eq!(labels, ["contender Scenario:", "contender # a  b  c", "contender # a, b"]);
}

#[test]
fn results_without_signals_are_refused_in_one_line() {
    let document =
        json!({"schema": 1, "started": "", "profile": "", "contenders": [], "results": []});
    let refused = write(&of_json(&document)).unwrap_err().to_string();
    assert!(
        refused.contains("no figures of the experiment signals") && refused.contains("-e signals")
    );
    let mut document = ours();
    document["results"][0]["graph"] = "messages$".into();
    let refused = write(&of_json(&document)).unwrap_err().to_string();
    assert!(refused.contains("\"messages$") && refused.lines().count() == 1, "{refused}");
}

/// Generates nearly valid lines in any order.
fn nearly() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => (0..4usize).prop_map(|place| GOOD[place].to_owned()),
        2 => Just("#BENCHMARK ENDED$".to_owned()),
        2 => Just("#Name: x $\n".to_owned()),
        4 => "[a-z#]{0,3}(; ?-?[0-9]{1,12}(\\.[0-9]{0,7})?){1,3}\\$?",
        1 => "\\PC{0,12}\\$?",
        1 => "(Scenario: )?(Send|Receive) Throughput, send_duration=[0-9]{1,3} ms, [%a, ]{1,9}, Spawn Options=\\[[a{},]{0,8}\\]\\$?",
    ];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\r\n"))
}

/// Returns the page reader's result for each text; `None` if browser tests are skipped.
fn read_on_page(texts: &[String]) -> Option<Vec<Value>> {
    if std::env::var_os("PURLIN_SKIP_BROWSER").is_some_and(|value| value == "1") {
        eprintln!("skipped: PURLIN_SKIP_BROWSER=1, so the page's reader has read nothing");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node")
        .arg(folder.join("tests/it/otp_text/on_page.mjs"))
        .args(["otp_records.js", "otp_text.js"].map(|name| folder.join("src/page").join(name)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|problem| {
            panic!(
                "node did not start ({problem}): on Debian `apt-get install nodejs`, or \
                 PURLIN_SKIP_BROWSER=1 to leave the tests of the page out"
            )
        });
    // The script reads all input before it writes.
    serde_json::to_writer(node.stdin.take().expect("its input is a pipe"), texts)
        .expect("it reads");
    let output = node.wait_with_output().expect("it ends");
    assert!(output.status.success(), "its words are above");
    Some(serde_json::from_slice(&output.stdout).expect("it answers in JSON"))
}

/// Converts numbers to floats and drops null fields, which the script writes for absent values.
fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, plain(value)))
            .collect(),
        other => other,
    }
}

/// Checks that both readers agree on these texts, except for the quoting of unusual characters.
fn same_on_page(texts: &[String]) {
    let Some(on_page) = read_on_page(texts) else { return };
    assert_eq!(on_page.len(), texts.len());
    for (text, on_page) in texts.iter().zip(on_page) {
        assert_eq!(on_page["is"], is_text(text), "{text:?}");
        match read(text) {
            Ok(document) => {
                assert_eq!(plain(on_page["document"].clone()), plain(document), "{text:?}")
            }
            Err(refused) => {
                let refused = refused.to_string();
                let there = on_page["refused"].as_str().unwrap_or("nothing");
                if text.chars().all(|letter| matches!(letter, ' '..='~' | '\r' | '\n')) {
                    assert_eq!(there, refused, "{text:?}");
                } else {
                    let unquoted = |text: &str| text.split('"').step_by(2).collect::<String>();
                    assert_eq!(unquoted(there), unquoted(&refused), "{text:?}");
                }
            }
        }
    }
}

#[test]
fn page_and_lab_read_and_refuse_texts_alike() {
    let mut texts: Vec<String> = FIXTURES.map(fixture).into();
    texts.extend(malformed().into_iter().map(|(text, _)| text));
    let [title, senders, line, _] = GOOD;
    let long = "é".repeat(2040);
    for (part, odd) in [
        ("500 ms", "1234567890 ms"),
        ("500 ms", "0500 ms"),
        ("{message_size,1}", "\u{85}"),
        ("{message_size,1}", "a\u{2028}b"),
        ("[]$", "[{message_queue_data,}]$"),
        ("[]$", "[{message_queue_data,é}]$"),
        ("[]$", "[$"),
        ("[]$", "[], Spawn Options=[x]$"),
        ("; 1; 2$", "\u{feff}; 007; 2\u{a0}$"),
        ("; 1; 2$", "; 1; 7; 07$"),
        ("; 1; 2$", "; 1; 1234567890$"),
        ("25; 1.0", "Scenario:; 1.0"),
        ("25; 1.0", "a\u{7f}b; 1.0"),
        ("25; 1.0", "Ver: 2 25; -0.0"),
        ("25; 1.0", "\u{85}25; 1.0"),
        ("25; 1.0", "25; --1.0"),
        ("25; 1.0", "25; 1.; 1.0"),
        ("25; 1.0", "25; .1; 1.0"),
        ("25; 1.0", "a \\ \"b\"; 1.x"),
        ("25; 1.0", &long),
        ("25; 1.0", &format!("{}; 1.0", &long[..400])),
        ("25; 1.0", &format!("{}; 1.0", &long[..402])),
    ] {
        let good = [title, senders, line].join("\r\n");
        assert!(good.contains(part), "{part}");
        texts.push(good.replace(part, odd));
    }
    texts.push(format!("{title}\n{}$\n", (0..1025).map(|n| format!("; {n}")).collect::<String>()));
    texts.push(format!("{title}\n{}", "\n; 1".repeat(4097)));
    let mut runner = TestRunner::deterministic();
    texts.extend(
        (0..500).map(|_| nearly().new_tree(&mut runner).expect("it needs no luck").current()),
    );
    same_on_page(&texts);
}

proptest! {
    #[test]
    fn any_text_is_refused_in_one_line_or_round_trips(text in nearly()) {
        whole(&text)?;
    }

    #[test]
    fn damaged_text_is_refused_in_one_line_or_round_trips(
        name in prop::sample::select(&FIXTURES[..]), place in any::<prop::sample::Index>(), letter: char,
        kept in any::<prop::sample::Index>()
    ) {
        let mut letters: Vec<char> = fixture(name).chars().collect();
        let length = letters.len();
        letters[place.index(length)] = letter;
        // Half of the texts are truncated as well.
        letters.truncate(if u32::from(letter) % 2 == 0 { length } else { kept.index(length) });
        whole(&letters.into_iter().collect::<String>())?;
    }

    #[test]
    fn numbers_as_the_suite_prints_them_keep_every_digit(
        labels in prop::collection::vec("[a-z][a-z0-9.-]{0,20}", 1..4),
        values in prop::collection::vec(0u64..1_000_000_000_000_000, 1..20)
    ) {
        let mut text = format!("{}\n", GOOD[0]);
        for n in 1..=values.len() {
            text.push_str(&format!("; {n}"));
        }
        text.push_str("$\n");
        for (number, label) in labels.iter().enumerate() {
            text.push_str(&format!("{label}{number}"));
            for value in &values {
                text.push_str(&format!("; {}.{:06}", value / 1_000_000, value % 1_000_000));
            }
            text.push_str("$\n");
        }
        let written = write(&of_text(&text)).unwrap();
        prop_assert_eq!(written, format!("#BENCHMARK STARTED$\n{text}\n#BENCHMARK ENDED$\n"));
    }
}

/// Checks that a text is refused in one line with a line number, or that its written form
/// round-trips.
fn whole(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Err(refused) => {
            let refused = refused.to_string();
            prop_assert!(refused.starts_with("line ") && refused.lines().count() == 1, "{refused}");
        }
        Ok(document) => {
            let written = write(&of_json(&document)).unwrap();
            prop_assert_eq!(write(&of_text(&written)).unwrap(), written);
        }
    }
    Ok(())
}
