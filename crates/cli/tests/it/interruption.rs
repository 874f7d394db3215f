//! An interrupted run keeps its samples, leaves no process running, and can be resumed.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::support::{contender, json, list, principals, purlin, quick, samples};
use serde_json::Value;

/// Starts a run whose contender hangs in its second experiment, and stops it there by a signal to
/// the process group, as Ctrl-C in a terminal does.
fn stopped_by(signal: &str, folder: &Path) -> Child {
    let hanging = contender("hanging", "--pid-file pid hangs@throughput");
    let mut run = quick(folder)
        .args(["-e", "ping-pong,throughput", "--limit", "600", "-c", &hanging])
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("purlin runs");
    let mut lines = BufReader::new(run.stderr.take().expect("it is piped")).lines();
    let first_done =
        lines.any(|line| line.is_ok_and(|line| line.starts_with("ping-pong: 6 rounds")));
    assert!(first_done, "the first experiment came to its end");
    let printed = go_on(folder).stderr;
    assert!(String::from_utf8_lossy(&printed).contains("is in progress"), "{printed:?}");
    let sent = Command::new("kill").args([signal, "--", &format!("-{}", run.id())]).status();
    assert!(sent.expect("there is kill").success());
    // Until the end of the output: a full pipe could block the run.
    lines.for_each(drop);
    run
}

fn first_experiment_is_on_disk(folder: &Path) {
    let stored = samples(&folder.join("run/samples.jsonl"));
    let of_first = stored
        .iter()
        .filter(|sample| sample["experiment"] == "ping-pong" && sample["kind"] == "sample");
    assert_eq!(of_first.count(), 6);
}

#[test]
fn samples_survive_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    stopped_by("-KILL", folder.path()).wait().unwrap();
    first_experiment_is_on_disk(folder.path());
}

#[test]
fn ctrl_c_ends_the_run_and_its_contenders_and_keeps_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let status = stopped_by("-INT", folder.path()).wait().unwrap();
    assert_eq!(status.code(), Some(130));
    first_experiment_is_on_disk(folder.path());
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap();
    let stored = samples(&folder.path().join("run/samples.jsonl"));
    assert!(stored.iter().all(|sample| sample.get("problem").is_none()), "it was blamed for it");
    let alive = Command::new("kill").args(["-0", &pid]).stderr(Stdio::null()).status();
    assert!(!alive.unwrap().success(), "the contender {pid} still runs");
}

/// Experiments whose samples are the same in every run.
const EXPERIMENTS: &str = "ping-pong,fan-in,hog,idle-memory";

/// Starts a run of seven rounds on two contenders, one of which ends the lab as the file `ends`
/// specifies.
///
/// A sample takes a second of simulated time, so that the lab's clock changes no answer.
fn begin(folder: &Path) -> Command {
    let mut run = purlin(folder);
    run.args([
        "lab",
        "run",
        "--dir",
        "run",
        "--samples",
        "7",
        "--sample-ms",
        "1000",
        "--seed",
        "3",
    ]);
    run.args(["-e", EXPERIMENTS, "-c", &contender("ender", "--end-lab ends")]);
    run.args(["-c", &contender("other", "--cost 2 loses@hog")]);
    run
}

fn go_on(folder: &Path) -> Output {
    purlin(folder).args(["lab", "run", "--resume", "run"]).output().expect("purlin runs")
}

/// Returns the results without values that depend on the clock or the machine.
fn timeless(folder: &Path) -> Value {
    let mut results = json(&folder.join("run/results.json"));
    for clocked in ["started", "seconds", "host", "warnings", "instrument"] {
        results.as_object_mut().expect("an object").remove(clocked);
    }
    for contender in results["contenders"].as_array_mut().expect("a list") {
        contender.as_object_mut().expect("an object").remove("notes");
    }
    for result in results["results"].as_array_mut().expect("a list") {
        // Measured from outside, so it differs between runs.
        if result["experiment"] == "idle-memory" || result["metric"] == "resident memory" {
            let samples = list(result, "samples").len();
            *result = format!("{samples} samples").into();
        }
    }
    let ratios = results["ratios"].as_array_mut().expect("a list");
    ratios.retain(|ratio| ratio["experiment"] != "idle-memory");
    results
}

/// Returns the samples that count, in order, without clock values.
fn counted(folder: &Path) -> Vec<Value> {
    let mut stored = samples(&folder.join("run/samples.jsonl"));
    stored.retain(|sample| sample["kind"] == "sample");
    for sample in &mut stored {
        let fields = sample.as_object_mut().expect("an object");
        let times = [fields.remove("at_ms"), fields.remove("wall_ns")];
        assert!(times.iter().all(Option::is_some), "{times:?}");
        fields.remove("stolen_ms");
        if fields["experiment"] == "idle-memory" {
            fields.remove("reply");
        }
        if let Some(reply) = fields.get_mut("reply").and_then(Value::as_object_mut) {
            reply.remove("resident_peak");
        }
    }
    stored
}

#[test]
fn a_run_interrupted_and_killed_repeatedly_gives_the_same_results() {
    let whole = tempfile::tempdir().unwrap();
    let output = begin(whole.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));

    let folder = tempfile::tempdir().unwrap();
    let ends = folder.path().join("ends");
    fs::write(&ends, "KILL 3\nINT 9\nTERM 25\nINT 1\nKILL 6\n").unwrap();
    let mut output = begin(folder.path()).output().unwrap();
    let mut sittings = 1;
    while output.status.code() != Some(1) {
        assert!(matches!(output.status.code(), None | Some(130)), "{output:?}");
        assert!(sittings < 6, "it never ends");
        output = go_on(folder.path());
        sittings += 1;
    }
    assert_eq!((sittings, fs::read_to_string(&ends).unwrap().as_str()), (6, ""));
    assert_eq!(counted(folder.path()), counted(whole.path()));
    assert_eq!(timeless(folder.path()), timeless(whole.path()));
    let times = samples(&folder.path().join("run/samples.jsonl"));
    let times: Vec<_> = times.iter().map(|sample| sample["at_ms"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let plan = json(&folder.path().join("run/run.json"));
    let resumed: Vec<_> = list(&plan, "resumed").iter().map(|one| one["after"].as_u64()).collect();
    // Of the five resumptions, one made no progress.
    assert!(resumed.len() == 4 && resumed.is_sorted_by(|one, next| one < next), "{resumed:?}");
}

#[test]
fn complete_experiments_are_stored_and_marked_as_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    // In the last round of its second experiment.
    fs::write(folder.path().join("ends"), "INT 50\n").unwrap();
    let output = begin(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.trim_end().ends_with("go on with: purlin lab run --resume run/"), "{printed}");
    let results = json(&folder.path().join("run/results.json"));
    assert_eq!(results["interrupted"], true);
    let of_kind = |results: &Value, kind: &str| {
        let mut warnings = list(results, "warnings").iter();
        warnings.any(|warning| warning["kind"] == kind)
    };
    assert!(of_kind(&results, "interrupted"));
    assert_eq!(principals(&results, "ping-pong", "other"), 1);
    assert!(folder.path().join("run/report.html").is_file());
    assert!(go_on(folder.path()).status.code() == Some(1));
    let results = json(&folder.path().join("run/results.json"));
    assert_eq!(results.get("interrupted"), None);
    assert!(of_kind(&results, "resumed") && !of_kind(&results, "interrupted"));
    let stdout = go_on(folder.path()).stdout;
    assert!(String::from_utf8_lossy(&stdout).contains("came to its end"));
}

#[test]
fn a_contender_that_died_before_the_interruption_stays_excluded_from_its_experiment() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ends"), "KILL 30\n").unwrap();
    let mut run = quick(folder.path());
    run.args(["-e", "ping-pong,fan-in,thread-ring", "-c", &contender("ender", "--end-lab ends")]);
    run.args(["-c", &contender("mortal", "dies@ping-pong"), "-c", &contender("rude", "rude")]);
    assert_eq!(run.output().unwrap().status.code(), None);
    let output = go_on(folder.path());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let results = json(&folder.path().join("run/results.json"));
    let lost: Vec<_> = list(&results, "problems").iter().map(|one| &one["contender"]).collect();
    assert_eq!(lost, ["rude", "mortal"]);
    assert_eq!(principals(&results, "ping-pong", "mortal"), 0);
    assert_eq!(principals(&results, "thread-ring", "mortal"), 1);
}

#[test]
fn an_incompatible_resumption_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ends"), "KILL 12\n").unwrap();
    assert_eq!(begin(folder.path()).output().unwrap().status.code(), None);
    let refused = |words: &[&str]| {
        let output = purlin(folder.path()).args(["lab", "run", "--resume"]).args(words).output();
        let output = output.unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines = printed.lines().filter(|line| !line.starts_with("warning: "));
        assert_eq!((output.status.code(), lines.count()), (Some(2), 1), "{printed}");
        printed
    };
    for other in
        [["-e", "call"], ["-c", "one"], ["--seed", "3"], ["--dir", "x"], ["--profile", "full"]]
    {
        let printed = refused(&["run", other[0], other[1]]);
        assert!(printed.contains("cannot be used with"), "{printed}");
    }
    assert!(refused(&["nowhere"]).contains("cannot read nowhere/samples.jsonl"));

    let [plan, samples] =
        ["run/run.json", "run/samples.jsonl"].map(|name| folder.path().join(name));
    let changed = |file: &Path, from: &str, to: &str, due: &str| {
        let kept = fs::read_to_string(file).unwrap();
        assert!(kept.contains(from), "{kept}");
        fs::write(file, kept.replacen(from, to, 1)).unwrap();
        let printed = refused(&["run"]);
        assert!(printed.contains(due), "{printed}");
        fs::write(file, kept).unwrap();
    };
    changed(&plan, "\"cores\": ", "\"cores\": 9", "another machine (cores 9");
    changed(
        &plan,
        "\"version\": \"fake 1\"",
        "\"version\": \"fake 0\"",
        "\"fake 0\" then, \"fake 1\" now",
    );
    let fewer = "\"ping-pong\",\n    \"fan-in\",\n    \"idle-memory\",\n    \"hog\"";
    changed(&plan, fewer, "\"ping-pong\"", "it ends before line");
    let kept = fs::read(&samples).unwrap();
    fs::write(&samples, "samples of another version\nand more\n").unwrap();
    changed(&plan, "\"schema\": 1", "\"schema\": 2", "begun by purlin");
    fs::write(&samples, kept).unwrap();
    changed(&samples, "\"n\":", "\"n\":1", "is not what it asks there");
    changed(&samples, "{", "[", "line 1 holds no sample");
    assert_eq!(go_on(folder.path()).status.code(), Some(1));
}
