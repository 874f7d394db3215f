//! Tests of `purlin lab compare`: output and exit status.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Bench, contender, json as read, purlin};
use serde_json::{Value, json};

/// Returns the folder of the document on comparing, with its example.
fn documented() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab/compare")
}

fn compare(folder: &Path, words: &[&str]) -> Output {
    purlin(folder).args(["lab", "compare"]).args(words).output().expect("purlin runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Copies the example's runs to a temporary folder and changes the new one.
fn changed(change: impl Fn(&mut Value)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut after = read(&documented().join("after.json"));
    change(&mut after);
    std::fs::copy(documented().join("before.json"), folder.path().join("before.json")).unwrap();
    std::fs::write(folder.path().join("after.json"), after.to_string()).unwrap();
    folder
}

const BOTH: [&str; 2] = ["before.json", "after.json"];

#[test]
fn the_document_on_comparing_shows_the_actual_output() {
    let page = std::fs::read_to_string(documented().join("README.md")).unwrap();
    let output = compare(&documented(), &BOTH);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(page.contains(&stdout(&output)), "{}", stdout(&output));
    let markdown = compare(&documented(), &["before.json", "after.json", "--markdown"]);
    let row =
        stdout(&markdown).lines().find(|line| line.contains("**slower**")).unwrap().to_owned();
    assert!(page.contains(&row), "{row}");
}

#[test]
fn comparison_as_json_has_the_ratio_and_the_verdict_of_each_figure() {
    let output = compare(&documented(), &["before.json", "after.json", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figures = compared["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 5);
    let one = &figures[0];
    assert_eq!((&one["experiment"], &one["contender"]), (&"ping-pong".into(), &"purlin".into()));
    assert_eq!((&one["verdict"], &one["primary"]), (&"slower".into(), &true.into()));
    let [estimate, low, high] =
        ["estimate", "low", "high"].map(|field| one["times_worse"][field].as_f64().unwrap());
    assert!(1.0 < low && low < estimate && estimate < high && high < 1.2, "{one}");
    assert!(compared["not_compared"][0].as_str().unwrap().contains("only in the old run"));
}

#[test]
fn output_is_deterministic() {
    let [one, other] = [(); 2].map(|()| stdout(&compare(&documented(), &BOTH)));
    assert_eq!(one, other);
}

#[test]
fn a_primary_metric_worse_than_the_bound_gives_status_1_and_is_named() {
    for (bound, status) in [("0", 1), ("5", 1), ("10", 0), ("50", 0)] {
        let output = compare(&documented(), &["before.json", "after.json", "--fail-above", bound]);
        assert_eq!(output.status.code(), Some(status), "{bound}: {}", stderr(&output));
        let line = format!("purlin: worse by more than {bound} %: ping-pong purlin\n");
        assert_eq!(stderr(&output), if status == 1 { line } else { String::new() });
        assert!(stdout(&output).contains("slower"), "the table is printed all the same");
    }
    // In the other direction it improved.
    let output = compare(&documented(), &["after.json", "before.json", "--fail-above", "5"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(stderr(&output), "purlin: worse by more than 5 %: serial-spawn purlin\n");
}

#[test]
fn a_run_compared_with_itself_by_file_and_by_folder_shows_no_change() {
    let bench =
        Bench::of("ping-pong,fan-in", &[contender("one", ""), contender("two", "--cost 2")]);
    let output =
        compare(&bench.path(""), &["run", "run/results.json", "--all", "--fail-above", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        !text.contains("slower") && !text.contains("faster") && text.contains("at 16"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn a_different_machine_or_profile_gives_a_warning() {
    let folder = changed(|after| {
        after["host"]["cpu"] = "another".into();
        after["profile"] = "full".into();
    });
    for words in [&["before.json", "after.json"][..], &["before.json", "after.json", "--markdown"]]
    {
        let text = stdout(&compare(folder.path(), words));
        assert!(text.contains("the machines differ (cpu made up → another)"), "{text}");
        assert!(text.contains("the profiles differ (quick → full)"), "{text}");
        assert_eq!(text.to_lowercase().matches("warning:").count(), 2, "{text}");
    }
}

#[test]
fn an_interrupted_run_gives_a_warning_with_its_name_and_only_one_for_two_contenders() {
    let folder = changed(|after| after["interrupted"] = true.into());
    for (words, name) in [
        (&["before.json", "after.json"][..], "the new run"),
        (&["after.json", "before.json"], "the old run"),
        (&["after.json", "before.json", "--markdown"], "the old run"),
        (&["after.json", "-c", "purlin,tokio"], "the run"),
    ] {
        let text = stdout(&compare(folder.path(), words));
        assert!(text.contains(&format!("{name} was stopped before its end")), "{text}");
        assert_eq!(text.to_lowercase().matches("warning:").count(), 1, "{text}");
    }
}

#[test]
fn runs_with_nothing_in_common_are_refused() {
    let folder = changed(|after| after["results"] = json!([]));
    let output = compare(folder.path(), &BOTH);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()));
    let line = stderr(&output);
    assert!(line.lines().count() == 1 && line.contains("have no figure in common"), "{line}");
}

#[test]
fn an_unreadable_file_is_refused_in_one_line_with_its_name() {
    let folder = changed(|after| after["results"][0]["samples"] = json!(["fast"]));
    for (name, text) in [
        ("none.json", None),
        ("bad.json", Some("{")),
        ("empty.json", Some("")),
        ("old.json", Some(r#"{"schema":7}"#)),
    ] {
        if let Some(text) = text {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
    }
    for (name, due) in [
        ("none.json", "cannot read none.json"),
        (".", "cannot read ./results.json"),
        ("no\nne.json", "cannot read no ne.json"),
        ("bad.json", "bad.json is no JSON"),
        ("empty.json", "empty.json is no JSON"),
        ("old.json", "old.json has schema 7"),
        ("after.json", "after.json is not as its schema says: invalid type: string"),
    ] {
        for words in [[name, "before.json"], ["before.json", name]] {
            let output = compare(folder.path(), &words);
            let line = stderr(&output);
            assert_eq!((output.status.code(), stdout(&output)), (Some(2), String::new()), "{line}");
            assert!(line.starts_with("purlin: ") && line.lines().count() == 1, "{line}");
            assert!(line.contains(due), "{line}");
        }
    }
}

#[test]
fn the_help_explains_noise_and_exit_status() {
    let output = compare(&documented(), &["--help"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    for word in [
        "Examples:",
        "--fail-above 5 --markdown",
        "its lower end must lie above 1.05",
        "Exit status:",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn an_invalid_bound_is_refused() {
    for bound in ["-1", "five", "NaN"] {
        let output = compare(&documented(), &["before.json", "after.json", "--fail-above", bound]);
        let line = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.lines().count() == 1 && line.contains("a percentage from 0"), "{line}");
    }
}

#[test]
fn two_contenders_of_one_run_are_compared_by_label() {
    let fast = contender("fast", "--cost 1");
    let slow = contender("slow", "--cost 2");
    let bench = Bench::run(&["-e", "ping-pong,serial-spawn", "-c", &fast, "-c", &slow]);
    let folder = bench.path("");
    let output = compare(&folder, &["run", "-c", "fast,slow"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("old: fast in run, ") && text.contains("fast → slow"), "{text}");
    assert!(text.contains("2.000 (2.000–2.000)") && text.contains("both are of one run"), "{text}");
    for (words, reason) in [
        (&["run", "-c", "fast,lame"][..], "no figures of \"lame\"; it has those of fast, slow"),
        (&["run", "-c", "fast"][..], "give two contenders"),
        (&["run", "-c", "slow,slow"][..], "give two contenders"),
        (&["run", "run", "-c", "fast,slow"][..], "cannot be used with"),
        (&["run"][..], "NEW"),
    ] {
        let output = compare(&folder, words);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{printed}");
        assert!(printed.contains(reason) && printed.lines().count() == 1, "{printed}");
    }
}

/// The programs of the document are replaced by the fake contender, and samples are short.
#[test]
fn every_command_in_the_document_on_objections_works() {
    let page = documented().join("../object.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [before, after] = ["before", "after"].map(|name| contender(name, ""));
    let mut count = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("target/release/purlin ")) {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        for word in &mut words {
            match *word {
                "before=/tmp/before" => *word = &before,
                "after=target/release/contender-tokio" => *word = &after,
                _ => {}
            }
        }
        if words[1] == "run" {
            words.extend(["--sample-ms", "2"]);
        }
        let output = purlin(folder.path()).args(&words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
        count += 1;
    }
    assert_eq!(count, 4);
}
