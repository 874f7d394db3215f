//! Tests of `purlin lab export`, and of OTP's text in all commands that read results.

use crate::support;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Bench, contender, drawn, json as read, purlin};
use serde_json::{Value, json};

/// Returns the folder of the document on OTP's text, with its example.
fn documented() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab/otp")
}

/// Copies the example's files to a temporary folder.
fn example() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["results.json", "parallel_messages.txt"] {
        std::fs::copy(documented().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

fn lab(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).arg("lab").args(words).output().expect("purlin runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the output of a successful command.
fn output_of(folder: &Path, words: &[&str]) -> String {
    let output = lab(folder, words);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{words:?}");
    stdout(&output)
}

/// Returns the one line with which a command is refused.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = lab(folder, words);
    let line = stderr(&output);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{line}");
    assert!(line.starts_with("purlin: ") && line.lines().count() == 1, "{line}");
    line
}

#[test]
fn every_command_in_the_document_on_otps_text_works_as_described() {
    let folder = example();
    let page = std::fs::read_to_string(documented().join("README.md")).unwrap();
    let commands = page.lines().filter_map(|line| line.strip_prefix("purlin lab "));
    let mut count = 0;
    for command in commands.map(|line| line.split(" #").next().unwrap_or_default().trim()) {
        let (words, to) = command.split_once('>').unwrap_or((command, ""));
        let printed = output_of(folder.path(), &words.split_whitespace().collect::<Vec<_>>());
        if !to.is_empty() {
            std::fs::write(folder.path().join(to.trim()), printed).unwrap();
        }
        count += 1;
    }
    assert!(count >= 6, "{count} commands");
    let otp = output_of(folder.path(), &["export", "results.json", "--format", "otp"]);
    assert!(page.contains(otp.lines().take(6).collect::<Vec<_>>().join("\n").as_str()), "{otp}");
    let csv = output_of(folder.path(), &["export", "results.json", "--format", "csv"]);
    assert!(page.contains(csv.lines().take(3).collect::<Vec<_>>().join("\n").as_str()), "{csv}");
    let markdown = output_of(folder.path(), &["export", "results.json", "--format", "markdown"]);
    for row in markdown.lines().filter(|line| line.starts_with('|')) {
        assert!(page.contains(row), "{markdown}");
    }
}

#[test]
fn a_page_of_a_run_and_otps_text_shows_both_in_the_same_experiment() {
    let folder = example();
    let words = ["report", "results.json", "parallel_messages.txt", "--html", "both.html"];
    assert_eq!(output_of(folder.path(), &words), "both.html\n");
    let data = drawn(&folder.path().join("both.html"));
    assert_eq!(data[0]["profile"], "quick");
    assert_eq!(data[1]["tool"]["name"], "parallel_messages_SUITE");
    assert_eq!(data[1]["results"][0]["experiment"], "signals");
    assert_eq!(data[1]["results"].as_array().unwrap().len(), 18);
    // For a single file the page is written next to it.
    assert_eq!(output_of(folder.path(), &["report", "parallel_messages.txt"]), "report.html\n");
}

#[test]
fn otps_text_survives_a_round_trip_through_json_byte_for_byte() {
    let folder = example();
    output_of(folder.path(), &["export", "parallel_messages.txt", "-o", "otp.json"]);
    assert_eq!(read(&folder.path().join("otp.json"))["contenders"][0]["label"], "25");
    let text = output_of(folder.path(), &["export", "otp.json", "--format", "otp"]);
    let original = std::fs::read_to_string(folder.path().join("parallel_messages.txt")).unwrap();
    let (_, records) = original.split_once("#BENCHMARK STARTED$\n").unwrap();
    assert_eq!(text.trim_end(), format!("#BENCHMARK STARTED$\n{records}").trim_end());
    assert_eq!(
        output_of(folder.path(), &["export", "parallel_messages.txt", "--format", "otp"]),
        text
    );
}

#[test]
fn exported_json_is_the_stored_file_byte_for_byte() {
    let bench = Bench::of("ping-pong", &[contender("one", "")]);
    let stored = std::fs::read_to_string(bench.path("run/results.json")).unwrap();
    assert_eq!(output_of(&bench.path(""), &["export", "run"]), stored);
    assert_eq!(output_of(&bench.path(""), &["export", "run/results.json", "-o", "out.json"]), "");
    assert_eq!(std::fs::read_to_string(bench.path("out.json")).unwrap(), stored);
}

#[test]
fn csv_has_a_row_for_every_sample_of_a_run() {
    let bench = Bench::of("fan-in,message-size", &[contender("one", "")]);
    let mut results = bench.results();
    for result in results["results"].as_array_mut().unwrap() {
        result["contender"] = "one, \"two\"".into();
    }
    std::fs::write(bench.path("awkward.json"), results.to_string()).unwrap();
    let csv = output_of(&bench.path(""), &["export", "awkward.json", "--format", "csv"]);
    let samples = |result: &Value| result["samples"].as_array().unwrap().len();
    let due: usize = support::list(&results, "results").iter().map(samples).sum();
    assert_eq!(csv.lines().count(), 1 + due);
    assert!(csv.lines().skip(1).all(|row| row.contains(",\"one, \"\"two\"\"\",")), "{csv}");
    let mut values = csv.lines().skip(1).map(|row| row.rsplit(',').nth(1).unwrap().parse::<f64>());
    for sample in
        support::list(&results, "results").iter().flat_map(|one| support::list(one, "samples"))
    {
        assert_eq!(values.next().unwrap().ok(), sample.as_f64());
    }
}

#[test]
fn markdown_has_primary_metrics_with_intervals_and_ratios() {
    let bench =
        Bench::of("ping-pong,fan-in", &[contender("one", ""), contender("two", "--cost 2")]);
    let text = output_of(&bench.path(""), &["export", "run", "--format", "markdown"]);
    assert!(text.contains("| times worse than one |"), "{text}");
    let row = |start: &str| {
        text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"))
    };
    assert!(row("| ping-pong | one |").ends_with("| — |"), "{text}");
    assert!(row("| ping-pong | two |").contains("| 2.00 (2.00–2.00) |"), "{text}");
    assert!(row("| fan-in | two |").contains(": at 64 |"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("| ")).count(), 1 + 4, "{text}");
}

#[test]
fn markdown_marks_a_ratio_that_may_be_one_as_indistinguishable() {
    let contenders = ["one", "same", "twice"].map(|name| match name {
        "twice" => contender(name, "--cost 2"),
        _ => contender(name, ""),
    });
    let bench = Bench::of("ping-pong", &contenders);
    let markdown = |name| output_of(&bench.path(""), &["export", name, "--format", "markdown"]);
    let text = markdown("run");
    assert!(text.contains("| 1.00 (1.00–1.00), indistinguishable |"), "{text}");
    assert!(text.contains("| 2.00 (2.00–2.00) |"), "{text}");
    assert!(!text.contains("stopped before its end"), "{text}");
    let mut stopped = bench.results();
    stopped["interrupted"] = true.into();
    std::fs::write(bench.path("stopped.json"), stopped.to_string()).unwrap();
    let text = markdown("stopped.json");
    assert!(text.lines().next().unwrap().ends_with(", stopped before its end"), "{text}");
}

#[test]
fn markdown_of_otps_text_has_a_table_per_graph() {
    let folder = example();
    let text =
        output_of(folder.path(), &["export", "parallel_messages.txt", "--format", "markdown"]);
    assert_eq!(text.matches("### ").count(), 6, "{text}");
    let row = "| signals | 25 | send throughput, as OTP computes it: off\\_heap at 2 | signals/s | 3.48M | 3.48M–3.48M |";
    assert!(text.contains(row), "{text}");
}

#[test]
fn two_otp_texts_are_compared_metric_by_metric() {
    let folder = example();
    let words = ["compare", "parallel_messages.txt", "parallel_messages.txt"];
    let text = output_of(folder.path(), &words);
    assert!(text.starts_with("old: parallel_messages.txt\n"), "{text}");
    assert!(text.contains("18 not judged") && text.contains("have fewer than"), "{text}");
    assert!(text.contains("not known on which machine"), "{text}");
    let graph = "Send Throughput, send_duration=500 ms,  100.000000% {message_size,1}";
    assert!(text.contains(&format!("signals/s\n{graph}\n  contender  point")), "{text}");
    let wide = text.lines().filter(|line| line.chars().count() > 100);
    assert!(wide.clone().all(|line| line.contains("send_duration=")), "{text}");
}

#[test]
fn results_without_signals_cannot_be_exported_as_otps_text() {
    let bench = Bench::of("ping-pong", &[contender("one", "")]);
    let line = refused(&bench.path(""), &["export", "run", "--format", "otp"]);
    assert!(line.contains("run/results.json: no figures of the experiment signals"), "{line}");
}

#[test]
fn malformed_text_is_refused_by_file_and_line_by_every_command() {
    let folder = example();
    let broken = "../../crates/lab/tests/it/otp_text/broken_off.txt";
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join(broken),
        folder.path().join("broken.txt"),
    )
    .unwrap();
    for words in [
        &["report", "broken.txt"][..],
        &["report", "results.json", "broken.txt"],
        &["compare", "broken.txt", "results.json"],
        &["export", "broken.txt"],
        &["export", "broken.txt", "--format", "otp"],
    ] {
        let line = refused(folder.path(), words);
        assert!(line.contains("broken.txt, line 18: ") && line.contains("copy it again"), "{line}");
    }
    assert!(!folder.path().join("report.html").exists(), "nothing was drawn");
}

#[test]
fn invalid_exports_are_refused_in_one_line() {
    let folder = example();
    std::fs::write(folder.path().join("note.txt"), "nothing of either\n").unwrap();
    std::fs::write(folder.path().join("old.json"), json!({"schema": 7}).to_string()).unwrap();
    for (words, due) in [
        (&["export", "none"][..], "cannot read none"),
        (&["export", ".."], "cannot read ../results.json"),
        (&["export", "note.txt"], "or the text of OTP's parallel_messages_SUITE"),
        (&["export", "old.json"], "schema 7"),
        (&["export", "results.json", "--format", "xml"], "json, csv, markdown, otp"),
        (&["export", "results.json", "-o", "no/such/out"], "cannot write no/such/out"),
        (&["export"], "<PATH>"),
    ] {
        let line = refused(folder.path(), words);
        assert!(line.contains(due), "{line}");
    }
}

#[test]
fn the_help_lists_every_format() {
    let folder = example();
    let text = output_of(folder.path(), &["export", "--help"]);
    // The help wraps at the width of a terminal.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in ["Examples:", "- json: ", "- csv: ", "- markdown: ", "- otp: ", "--output <FILE>"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_existing_file_is_kept_if_the_new_one_cannot_be_written() {
    let folder = example();
    let output = folder.path().join("out.json");
    std::fs::write(&output, "old").unwrap();
    let program = purlin(folder.path()).get_program().to_owned();
    // No file may exceed 512 bytes, as if the disk were full. WHY the trap: the signal would end the program.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" lab export results.json -o out.json";
    let mut command = std::process::Command::new("sh");
    let refused = command.args(["-c", script]).arg(program).current_dir(&folder).output().unwrap();
    let line = support::line(&refused, 2);
    assert!(line.starts_with("purlin: cannot write out.json: "), "{line}");
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no draft is left");
}
