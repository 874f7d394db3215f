//! Invalid requests are refused with one line and status 2, before anything is measured.

use crate::support;
use crate::support::{Bench, contender, purlin, quick};

/// Returns the printed line.
fn refused(bench: &Bench) -> String {
    assert_eq!(bench.status(), 2, "{}", bench.stderr());
    let stderr = bench.stderr();
    assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("purlin: "), "{stderr}");
    assert!(!bench.path("run").exists(), "nothing was begun");
    stderr
}

#[test]
fn an_unknown_experiment_is_named_with_the_known_ones() {
    let line = refused(&Bench::of("ping-pong,pingpong", &[contender("one", "")]));
    assert!(line.contains("\"pingpong\"") && line.contains("thread-ring"), "{line}");
}

#[test]
fn an_unknown_contender_is_named_with_the_known_ones() {
    let line = refused(&Bench::of("ping-pong", &["haskell".into()]));
    assert!(
        line.contains("\"haskell\"") && line.contains("purlin, beam, beam@27, beam@29, tokio"),
        "{line}"
    );
}

#[test]
fn a_contender_named_twice_is_refused() {
    let line = refused(&Bench::of("ping-pong", &[contender("one", ""), contender("one", "")]));
    assert!(line.contains("one is named twice"), "{line}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let line = refused(&Bench::of("ping-pong", &["mine=/nowhere/mine".into()]));
    assert!(line.contains("/nowhere/mine"), "{line}");
}

#[test]
fn a_built_in_contender_that_is_not_built_gives_the_build_command() {
    let line = refused(&Bench::of("ping-pong", &["tokio".into()]));
    assert!(line.contains("cargo build --release -p contender-tokio"), "{line}");
}

#[test]
fn the_beam_without_erlang_gives_the_install_command() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        quick(folder.path()).args(["-c", "beam"]).env("PATH", folder.path()).output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert!(
        line.contains("no erl on the path") && line.contains("apt-get install erlang-base"),
        "{line}"
    );
}

#[test]
fn by_default_contenders_that_cannot_run_are_left_out_with_a_line_each() {
    let folder = tempfile::tempdir().unwrap();
    // The fake contender under the name of a built-in one.
    let tokio = folder.path().join(format!("contender-tokio{}", std::env::consts::EXE_SUFFIX));
    std::fs::copy(support::fake(), tokio).unwrap();
    let output =
        quick(folder.path()).args(["-e", "ping-pong"]).env("PATH", folder.path()).output().unwrap();
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{lines}");
    for id in ["purlin", "beam", "go", "elixir", "pekko", "virtual-threads"] {
        let reports = lines.lines().filter(|line| line.starts_with(&format!("{id} is left out:")));
        assert_eq!(reports.count(), 1, "{lines}");
    }
}

#[test]
fn a_run_without_any_contender_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = quick(folder.path()).env("PATH", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no contender can run here"));
}

#[test]
fn the_list_shows_what_can_run_and_how_to_install_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let output =
        purlin(folder.path()).args(["lab", "list"]).env("PATH", folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success());
    for word in [
        "skynet",
        "apt-get install erlang-base",
        "apt-get install golang-go",
        "apt-get install elixir",
        "apt-get install maven",
        "apt-get install openjdk-21-jdk-headless",
        "-p contender-purlin",
        "NAME=COMMAND",
    ] {
        assert!(text.contains(word), "{text}");
    }
    assert!(text.lines().filter(|line| line.starts_with("  ") && line.contains(".")).count() >= 20);
}

#[test]
fn the_list_as_json_has_what_each_entry_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = purlin(folder.path());
    let output = command.args(["lab", "list", "--json"]).env("PATH", folder.path()).output();
    let list: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let find = |kind: &str, id: &str| {
        let all = list[kind].as_array().unwrap();
        all.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id} is listed")).clone()
    };
    assert!(find("contenders", "beam")["missing"].as_str().unwrap().contains("no erl"));
    assert!(find("contenders", "ergo")["missing"].is_string());
    assert!(find("experiments", "ping-pong")["missing"].is_null());
    assert!(find("experiments", "skynet")["what"].is_string());
}

#[test]
fn an_unwritable_output_is_refused_before_anything_is_measured() {
    let one = contender("one", "");
    let bench = Bench::run(&["-e", "ping-pong", "-c", &one, "--json", "no/such/folder/out.json"]);
    let line = refused(&bench);
    assert!(line.contains("no/such/folder/out.json"), "{line}");
}

#[test]
fn a_report_of_a_file_without_results_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.json"), "{}").unwrap();
    for (path, word) in
        [("none.json", "cannot read"), (".", "cannot read"), ("x.json", "holds no results")]
    {
        let output = purlin(folder.path()).args(["lab", "report", path]).output().unwrap();
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(line.lines().count() == 1 && line.contains(word), "{line}");
    }
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    for (words, due) in [
        (&["lab", "run", "--fast"][..], "'--fast'"),
        (&["lab", "run", "--samples", "0"], "from 1 to"),
        (&["lab", "run", "--samples", "-3"], "from 1 to"),
        (&["lab", "run", "--seed", "-1"], "from 0 to"),
        (&["lab", "run", "--limit", "-1"], "above 0"),
        (&["lab", "run", "--profile", "quik"], "quick, full"),
        (&["lab", "run", "--profile", "qu\nik"], "quick, full"),
        (&["lab", "time", "--warmup", "-1", "--", "true"], "from 0 to"),
        (&["lab", "report"], "<PATH>"),
        (&["lab", "measure"], "'measure'"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = purlin(folder.path()).args(words).output().unwrap();
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(line.starts_with("purlin: ") && line.lines().count() == 1, "{line}");
        assert!(line.contains(due), "{line}");
    }
}

#[test]
fn without_a_subcommand_the_help_is_shown_with_status_2() {
    for words in [&[][..], &["lab"]] {
        let folder = tempfile::tempdir().unwrap();
        let output = purlin(folder.path()).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("Usage:"));
    }
}

#[test]
fn an_option_unknown_to_gos_runtime_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // Not a compiler: options are checked first.
    let go = folder.path().join(format!("go{}", std::env::consts::EXE_SUFFIX));
    std::fs::copy(support::fake(), go).unwrap();
    let output =
        quick(folder.path()).args(["-c", "go:-race"]).env("PATH", folder.path()).output().unwrap();
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains("\"-race\"") && line.contains("go:GOMAXPROCS=1"), "{line}");
}
