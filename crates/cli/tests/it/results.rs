//! Output of a run: results as specified, samples, page and table.

use crate::honest::EXPERIMENTS;
use crate::support;
use crate::support::{Bench, contender, drawn, json, list, principals, purlin};
use serde_json::Value;

fn two() -> [String; 2] {
    [contender("one", ""), contender("two", "--cost 2")]
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn all_experiments_on_two_contenders_give_one_primary_result_each() {
    let bench = Bench::of("", &two());
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let results = bench.results();
    assert_eq!(list(&results, "experiments").len(), EXPERIMENTS.len());
    for experiment in EXPERIMENTS {
        for contender in ["one", "two"] {
            assert_eq!(principals(&results, experiment, contender), 1, "{experiment} {contender}");
        }
        let ratio = list(&results, "ratios").iter().find(|ratio| ratio["experiment"] == experiment);
        let ratio = ratio.unwrap_or_else(|| panic!("no ratio for {experiment}"));
        assert!((ratio["ratio"].as_f64().unwrap() - 2.0).abs() < 0.01, "{ratio}");
        assert_eq!((&ratio["contender"], &ratio["against"]), (&"two".into(), &"one".into()));
    }
    assert!(list(&results, "void").is_empty() && list(&results, "problems").is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_program_is_measured_from_outside_and_not_taken_from_its_answer() {
    let bench = Bench::of("throughput", &[contender("one", "")]);
    let results = bench.results();
    let memory = list(&results, "results").iter().find(|one| one["metric"] == "resident memory");
    let megabytes =
        memory.expect("the kernel reports it").get("median").and_then(Value::as_f64).unwrap();
    // The fake contender reports 5.
    assert!(megabytes > 0.1 && (megabytes - 5.0).abs() > 1e-6, "{megabytes}");
    assert!(bench.samples().iter().all(|sample| sample["reply"]["resident_peak"] != 5_000_000));
}

// Variation that is constant within a process must not look like a difference
#[cfg(unix)]
#[test]
fn fresh_gives_each_round_new_processes() {
    let counted =
        format!("one=sh -c \"echo started >> starts; exec '{}'\"", support::fake().display());
    let bench = Bench::run(&["--fresh", "-e", "tail-call,skynet", "-c", &counted]);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let starts = std::fs::read_to_string(bench.path("starts")).unwrap().lines().count();
    assert_eq!(starts, 1 + 2 * 6, "one for the greeting, and one for each round");
    let fresh = |sample: &Value| sample["afresh"] == (sample["kind"] == "sample");
    assert!(bench.samples().iter().all(fresh));
    assert_eq!(bench.results()["fresh"], true);
}

#[cfg(unix)]
#[test]
fn only_an_experiment_that_measures_memory_starts_with_a_fresh_process() {
    let counted =
        format!("one=sh -c \"echo started >> starts; exec '{}'\"", support::fake().display());
    for (experiments, due) in [("tail-call,skynet", 1), ("tail-call,throughput,fan-in", 3)] {
        let bench = Bench::of(experiments, std::slice::from_ref(&counted));
        assert_eq!(bench.status(), 0, "{}", bench.stderr());
        let starts = std::fs::read_to_string(bench.path("starts")).unwrap();
        assert_eq!(starts.lines().count(), due, "{experiments}");
    }
}

#[test]
fn the_results_have_the_fields_of_the_schema() {
    let bench = Bench::of("spawn-chain,ping-pong,signals", &two());
    let results = bench.results();
    assert_eq!(results["schema"], 2);
    assert_eq!(results["tool"]["name"], "purlin lab");
    assert_eq!((&results["seed"], &results["profile"]), (&1.into(), &"quick".into()));
    let started = results["started"].as_str().unwrap();
    assert!(started.len() == 20 && started.ends_with('Z') && started.contains('T'), "{started}");
    assert!(results["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(
        keys(&results["host"]),
        ["cores", "cpu", "fitness", "kernel", "load_before", "memory_bytes", "os", "virtual"]
    );
    assert!(results["host"]["cores"].as_u64().unwrap() > 0);
    // Facts that cannot be determined are null, but present.
    for fact in ["load", "busy_percent", "busiest", "steal_percent", "governors", "cores_usable"] {
        assert!(results["host"]["fitness"].get(fact).is_some(), "{fact}");
    }
    assert_eq!(
        keys(&results["instrument"]),
        [
            "clock_cost_ns",
            "clock_resolution_ns",
            "request_overhead_us",
            "requests",
            "smallest_sample"
        ]
    );
    assert!(results["instrument"]["clock_resolution_ns"].as_f64().unwrap() > 0.0);
    assert!(results["instrument"]["request_overhead_us"].as_f64().unwrap() > 0.0);
    assert_eq!(list(&results["instrument"], "requests").len(), 2);
    assert_eq!(
        keys(&results["ratios"][0]),
        ["against", "contender", "experiment", "high", "low", "ratio", "rounds", "verdict"]
    );
    assert_eq!(results["control"], Value::Null, "these programs are not in the table of sources");
    assert_eq!(keys(&results["contenders"][0]), ["id", "label", "notes", "variants", "version"]);
    assert_eq!(
        keys(&results["experiments"][0]),
        ["better", "id", "metric", "notes", "title", "unit", "what", "x", "y"]
    );
    let line = list(&results, "results").iter().find(|result| result.get("fit").is_some()).unwrap();
    assert_eq!(
        keys(line),
        [
            "better",
            "contender",
            "experiment",
            "fit",
            "high",
            "low",
            "median",
            "metric",
            "params",
            "principal",
            "rounds",
            "samples",
            "unit"
        ]
    );
    assert_eq!(
        keys(&line["fit"]),
        ["intercept", "intercept_high", "intercept_low", "r2", "slope", "slope_high", "slope_low"]
    );
    let point =
        list(&results, "results").iter().find(|result| result["variant"] == "on_heap").unwrap();
    assert_eq!(point["principal"], false);
    for result in list(&results, "results") {
        let (low, median, high) = (&result["low"], &result["median"], &result["high"]);
        assert!(low.as_f64() <= median.as_f64() && median.as_f64() <= high.as_f64(), "{result}");
        assert!(!list(result, "samples").is_empty());
    }
}

#[test]
fn the_table_lists_other_variants_below_with_value_and_ratio() {
    let bench = Bench::of("signals,ping-pong", &two());
    let ratios = bench.results()["ratios"].clone();
    let ratios: Vec<_> =
        ratios.as_array().unwrap().iter().map(|one| one["variant"].as_str()).collect();
    assert_eq!(ratios, [None, None, Some("on_heap")]);
    let stdout = bench.stdout();
    let (above, below) = stdout.split_once("\nin other variants\n").expect("they have a heading");
    let row = |text: &str| {
        let row = text.lines().rfind(|line| line.starts_with("signals ")).expect("a row");
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let others = row(below);
    assert_eq!(others[..4], ["signals", "two", "·", "on_heap"], "{stdout}");
    assert_eq!(others[others.len() - 2], row(above)[row(above).len() - 2], "the same ratio");
}

#[test]
fn the_table_lists_variants_of_the_baseline_and_of_a_single_contender() {
    for (contenders, rows) in [(&two()[..], 2), (&[contender("one", "")][..], 1)] {
        let stdout = Bench::of("signals", contenders).stdout();
        let (_, below) = stdout.split_once("\nin other variants\n").expect("they have a heading");
        let others: Vec<Vec<&str>> = below
            .lines()
            .filter(|line| line.starts_with("signals "))
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(others.len(), rows, "{stdout}");
        assert_eq!(others[0][..4], ["signals", "one", "·", "on_heap"], "{stdout}");
        assert_eq!(others[0].last(), Some(&"—"), "what it is compared with is itself: {stdout}");
    }
}

#[test]
fn warnings_are_printed_when_they_arise_listed_at_the_end_and_stored() {
    let contenders = [contender("one", ""), contender("two", "loses@call")];
    let bench = Bench::rounds("3", "ping-pong,call", &contenders);
    let results = bench.results();
    assert!(list(&results, "ratios").is_empty(), "fewer than six rounds have no ratio");
    let legend = "no ratio (—) for a figure that is missing";
    assert!(!bench.stdout().contains(legend), "{}", bench.stdout());
    for (kind, contender, words) in [
        ("few-samples", Value::Null, "with fewer than 6 samples"),
        ("void", "two".into(), "call two: 3 samples are invalid: received is"),
    ] {
        let of_kind = |warning: &&Value| warning["kind"] == kind;
        let stored: Vec<_> = list(&results, "warnings").iter().filter(of_kind).collect();
        let [stored] = stored.as_slice() else { panic!("{kind}: {stored:?}") };
        assert_eq!(stored["contender"], contender);
        assert_eq!(keys(stored), ["advice", "contender", "experiment", "kind", "message"]);
        let (message, advice) =
            (stored["message"].as_str().unwrap(), stored["advice"].as_str().unwrap());
        assert!(message.starts_with(words), "{message}");
        let said = format!("warning: {message}; {advice}");
        assert_eq!(bench.stderr().lines().filter(|line| *line == said).count(), 1, "{said}");
        let listed = bench
            .stdout()
            .lines()
            .filter(|line| line.starts_with(&format!("warning: {words}")))
            .count();
        assert_eq!(listed, 1, "{}", bench.stdout());
    }
}

#[test]
fn results_are_also_written_to_the_users_file() {
    let bench = Bench::run(&["-e", "ping-pong", "-c", &contender("one", ""), "--json", "out.json"]);
    assert_eq!(json(&bench.path("out.json")), bench.results());
}

#[test]
fn contenders_without_a_significant_difference_are_called_indistinguishable() {
    let three = [contender("one", ""), contender("same", ""), contender("slower", "--cost 2")];
    let bench = Bench::of("ping-pong", &three);
    let results = bench.results();
    let verdicts: Vec<_> = list(&results, "ratios")
        .iter()
        .map(|ratio| (ratio["contender"].as_str().unwrap(), ratio["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(verdicts, [("same", "indistinguishable"), ("slower", "worse")]);
    let stdout = bench.stdout();
    let row = stdout.lines().find(|line| line.starts_with("ping-pong ")).expect("a row");
    assert!(row.contains("indistinguishable  2.00 (2.00–2.00)"), "{stdout}");
    let instrument = stdout.lines().find(|line| line.starts_with("clock: ")).expect("a line");
    assert!(instrument.contains("; a request: ") && instrument.contains("; smallest sample: "));
}

#[test]
fn every_sample_is_a_line_on_disk() {
    let bench = Bench::of("fan-in", &two());
    let samples = bench.samples();
    let counted = samples.iter().filter(|sample| sample["kind"] == "sample");
    assert_eq!(counted.count(), 6 * 2 * 5);
    let warm_up = samples.iter().position(|sample| sample["kind"] == "warm-up");
    assert_eq!(warm_up, Some(0));
    let mut last = samples.last().unwrap().clone();
    // Present if the kernel reports it.
    let stolen = last.as_object_mut().and_then(|fields| fields.remove("stolen_ms"));
    assert_eq!(stolen.is_some_and(|ms| ms.is_u64()), cfg!(target_os = "linux"));
    assert_eq!(
        keys(&last),
        [
            "afresh",
            "at_ms",
            "contender",
            "experiment",
            "kind",
            "order",
            "params",
            "reply",
            "round",
            "wall_ns"
        ]
    );
    let of_last_round = samples.iter().filter(|sample| sample["round"] == 3);
    let order: Vec<_> = of_last_round.map(|sample| sample["order"].as_u64().unwrap()).collect();
    assert_eq!(order, (1..=10).collect::<Vec<_>>());
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let order = |seed: &str| -> Vec<_> {
        let (one, two) = (contender("one", ""), contender("two", ""));
        let bench = Bench::run(&["-e", "fan-in", "--seed", seed, "-c", &one, "-c", &two]);
        let asked =
            |sample: &Value| (sample["contender"].clone(), sample["params"]["senders"].clone());
        // The number of warm-ups depends on the clock, not on the seed.
        let samples = bench.samples();
        samples.iter().filter(|sample| sample["kind"] == "sample").map(asked).collect()
    };
    assert_eq!(order("11"), order("11"));
    assert_ne!(order("11"), order("12"));
}

#[test]
fn the_table_has_a_row_per_experiment_within_100_columns_and_the_page_is_last() {
    let bench =
        Bench::of("", &[contender("one", ""), contender("two", ""), contender("three", "")]);
    let stdout = bench.stdout();
    for experiment in EXPERIMENTS {
        let row = format!("{experiment} ");
        assert!(stdout.lines().any(|line| line.starts_with(&row)), "{stdout}");
    }
    let widest = stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{stdout}");
    assert!(stdout.trim_end().ends_with("run/report.html"), "{stdout}");
    assert_eq!(drawn(&bench.path("run/report.html")), Value::from(vec![bench.results()]));
}

#[test]
fn starvation_is_shown_in_the_table_and_the_page_and_is_no_failure() {
    let starving = contender("slow", "starves@hog");
    let bench = Bench::of("hog,ping-pong", &[contender("one", ""), starving]);
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    let stdout = bench.stdout();
    let row = stdout.lines().find(|line| line.starts_with("hog")).expect("a row");
    assert!(row.contains("starves") && row.contains("20.0"), "{stdout}");
    let results = bench.results();
    assert_eq!((principals(&results, "hog", "one"), principals(&results, "hog", "slow")), (1, 0));
    assert_eq!(principals(&results, "ping-pong", "slow"), 1);
    let [absence] = list(&results, "absences") else { panic!("{}", results["absences"]) };
    assert_eq!((&absence["contender"], &absence["word"]), (&"slow".into(), &"starves".into()));
    let page = drawn(&bench.path("run/report.html")).to_string();
    assert!(page.contains("starves: 0 of "));
    assert_eq!(bench.lines_about("slow").len(), 1, "{}", bench.stderr());
}

#[test]
fn an_experiment_a_contender_does_not_offer_is_left_out_with_a_line() {
    let partial = contender("partial", "lacks@selective");
    let bench = Bench::of("selective,ping-pong", &[contender("one", ""), partial.clone()]);
    // Both were requested by name.
    assert_eq!(bench.status(), 1, "{}", bench.stderr());
    assert_eq!(bench.lines_about("partial"), ["selective partial: does not offer this experiment"]);
    let results = bench.results();
    assert_eq!(principals(&results, "selective", "one"), 1);
    assert_eq!(principals(&results, "ping-pong", "partial"), 1);
    assert!(list(&results, "problems").is_empty());
    assert_eq!(list(&results, "absences")[0]["word"], "not offered");
    assert_eq!(Bench::of("", &[partial]).status(), 0);
}

#[test]
fn the_memory_of_idle_processes_is_measured_in_a_separate_process() {
    let bench = Bench::of("idle-memory", &two());
    assert_eq!(bench.status(), 0, "{}", bench.stderr());
    // The fake contender touches a hundred bytes per process, times its cost.
    for (contender, due) in [("one", 100.0), ("two", 200.0)] {
        let results = bench.results();
        let mut all = list(&results, "results").iter();
        let own = all.find(|result| result["contender"] == contender).expect("a result");
        let found = own["median"].as_f64().unwrap();
        assert!((found / due - 1.0).abs() < 0.01, "{contender}: {found} bytes");
    }
    let samples = bench.samples();
    assert!(samples.iter().all(|sample| sample["kind"] == "sample"), "no warm-up outside of them");
    let before = samples.iter().map(|sample| sample["reply"]["resident_before"].as_u64().unwrap());
    // In the same process, the second sample would begin with the memory of the first.
    assert!(before.max() < Some(40_000_000));
}

#[test]
fn a_page_is_redrawn_from_one_run_and_from_two() {
    let bench = Bench::of("ping-pong", &[contender("one", "")]);
    let folder = bench.path("");
    std::fs::remove_file(bench.path("run/report.html")).unwrap();
    let report =
        |words: &[&str]| purlin(&folder).args(["lab", "report"]).args(words).output().unwrap();
    let output = report(&["run"]);
    assert!(output.status.success());
    assert!(bench.path("run/report.html").is_file());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "run/report.html");
    let output = report(&["run", "run/results.json", "--html", "both.html"]);
    assert!(output.status.success() && bench.path("both.html").is_file());
}

#[test]
fn without_a_folder_a_run_creates_one_named_after_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let one = contender("one", "");
    let words = ["lab", "run", "-e", "ping-pong", "--samples", "3", "--sample-ms", "1", "-c", &one];
    let output = purlin(folder.path()).args(words).output().unwrap();
    assert!(output.status.success());
    let page = String::from_utf8_lossy(&output.stdout).lines().last().unwrap().to_owned();
    assert!(page.starts_with("lab-results/20") && page.ends_with("Z/report.html"), "{page}");
    assert!(folder.path().join(page).is_file());
}
