//! Opens the report page in a real Chromium and uses it.
//!
//! Rust renders the pages from the stored results beside this file; the script
//! `page/drive.mjs` opens them from disk and checks one thing each. Node and
//! Chromium must be installed; `PURLIN_CHROMIUM` names another browser, and
//! `PURLIN_SKIP_BROWSER=1` leaves these tests out, aloud.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::{Value, json};

const STORED: &str = include_str!("page/results.json");

/// The files that the script needs around it.
const FILES: [(&str, &str); 7] = [
    ("package.json", include_str!("page/package.json")),
    ("package-lock.json", include_str!("page/package-lock.json")),
    (".npmrc", include_str!("page/.npmrc")),
    ("drive.mjs", include_str!("page/drive.mjs")),
    ("look.mjs", include_str!("page/look.mjs")),
    ("scenarios.mjs", include_str!("page/scenarios.mjs")),
    ("results.json", STORED),
];

/// Text that runs or shows up as elements wherever it is taken for markup.
const HOSTILE: &str = r#"</script><img src=x onerror="window.hostile=1"><!--<script>{a|b}"#;

fn stored() -> Value {
    serde_json::from_str(STORED).expect("the stored results are JSON")
}

/// The folder with the script and its one package; made once in a run.
fn workshop() -> &'static Path {
    static WORKSHOP: OnceLock<PathBuf> = OnceLock::new();
    WORKSHOP.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page-in-browser");
        fs::create_dir_all(&folder).expect("the target folder is writable");
        let fresh = fs::read_to_string(folder.join("package-lock.json")).ok().as_deref()
            == Some(FILES[1].1)
            && folder.join("node_modules/playwright-core/package.json").exists();
        for (name, text) in FILES {
            fs::write(folder.join(name), text).expect("the target folder is writable");
        }
        if !fresh {
            let mut install = Command::new("npm");
            install.args(["ci", "--no-audit", "--no-fund", "--omit=optional"]);
            let output = run(install.current_dir(&folder), "npm");
            assert!(
                output.status.success(),
                "npm could not install playwright-core: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        folder
    })
}

fn run(command: &mut Command, program: &str) -> Output {
    command.output().unwrap_or_else(|problem| match problem.kind() {
        ErrorKind::NotFound => panic!(
            "{program} is not installed: on Debian `apt-get install nodejs npm chromium`, \
             or PURLIN_SKIP_BROWSER=1 to leave the browser tests out"
        ),
        _ => panic!("{program} did not start: {problem}"),
    })
}

fn chromium() -> OsString {
    let path = env::var_os("PURLIN_CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    assert!(
        Path::new(&path).exists(),
        "no Chromium at {}: on Debian `apt-get install chromium`, set PURLIN_CHROMIUM to another, \
         or PURLIN_SKIP_BROWSER=1 to leave the browser tests out",
        path.to_string_lossy()
    );
    path
}

/// Renders the results and has the script's `scenario` judge the page.
fn drive(scenario: &str, results: &[Value]) {
    if env::var_os("PURLIN_SKIP_BROWSER").is_some_and(|value| value == "1") {
        eprintln!("skipped: PURLIN_SKIP_BROWSER=1, so no browser has seen the page ({scenario})");
        return;
    }
    let browser = chromium();
    let folder = workshop();
    let page = folder.join(format!("{scenario}-{}.html", results.len()));
    fs::write(&page, purlin_lab::page::render(results)).expect("the target folder is writable");
    let mut script = Command::new("node");
    script.arg("drive.mjs").arg(scenario).arg(&page).current_dir(folder);
    let output = run(script.env("PURLIN_CHROMIUM", browser), "node");
    assert!(
        output.status.success(),
        "{scenario}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Puts the hostile text in place of every string that a reader may see.
fn poison(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                // Units, scales and directions have their meaning in their exact words.
                if !matches!(name.as_str(), "scale" | "better" | "started") {
                    poison(&mut fields[name.as_str()]);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_chart_is_drawn_and_names_every_contender_in_its_legend() {
    drive("drawn", &[stored()]);
}

#[test]
fn a_click_in_the_legend_hides_a_contender_and_another_brings_it_back() {
    drive("legend", &[stored()]);
}

#[test]
fn the_switches_make_the_axes_logarithmic_and_say_what_cannot_be_shown() {
    drive("switches", &[stored()]);
}

#[test]
fn a_point_tells_its_figures_under_the_pointer() {
    drive("tooltip", &[stored()]);
}

#[test]
fn the_keyboard_alone_reaches_and_sorts_the_table_of_ratios() {
    drive("keyboard", &[stored()]);
}

#[test]
fn problems_void_samples_and_equal_contenders_are_said_in_words() {
    drive("words", &[stored()]);
}

#[test]
fn at_phone_width_nothing_scrolls_sideways() {
    drive("phone", &[stored()]);
}

#[test]
fn dark_and_light_differ_by_preference_and_by_switch() {
    drive("themes", &[stored()]);
}

#[test]
fn on_paper_everything_is_unfolded_and_light() {
    drive("paper", &[stored()]);
}

#[test]
fn the_raw_results_can_be_saved_as_they_came() {
    drive("download", &[stored()]);
}

#[test]
fn a_chart_fills_the_screen_and_comes_back() {
    drive("fullscreen", &[stored()]);
}

#[test]
fn hostile_text_in_the_results_stays_text() {
    let mut results = stored();
    poison(&mut results);
    drive("hostile", &[results]);
}

#[test]
fn several_runs_share_the_charts_under_names_of_their_own() {
    let mut second = stored();
    second["started"] = json!("2026-11-22T17:30:00Z");
    drive("several", &[stored(), second]);
}

#[test]
fn a_page_without_any_result_says_so() {
    drive("empty", &[]);
}

#[test]
fn results_without_purlin_or_with_one_contender_are_drawn_without_ratios() {
    let mut results = stored();
    for list in ["contenders", "results", "ratios"] {
        let kept: Vec<Value> = results[list]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|entry| {
                entry["id"] == "beam" || (entry["contender"] == "beam" && list == "results")
            })
            .cloned()
            .collect();
        results[list] = json!(kept);
    }
    drive("alone", &[results]);
}

#[test]
fn odd_and_missing_data_leave_the_rest_of_the_page_whole() {
    let odd = json!({
        "schema": 1, "started": "not a date", "host": null, "seconds": "long", "contenders": [null, {"id": "go"}],
        "experiments": [{"id": "known", "x": {"param": "n"}, "y": null}, 7, {"title": "without an id"}],
        "results": [
            {"experiment": "unknown", "contender": "nobody", "samples": [1, null, 3], "principal": true},
            {"experiment": "known", "contender": "go", "x": 0, "median": -4, "unit": "ns", "samples": []},
            {"experiment": "known", "contender": "go", "x": 10, "median": 0, "unit": "parsecs"},
            {"experiment": "known", "contender": "go", "fit": {"slope": 1, "intercept": null}},
            {"experiment": "one-point", "contender": "go", "x": 5, "median": 12, "unit": "ns",
             "fit": {"slope": 2, "intercept": 2}},
            {}, "rubbish", null
        ],
        "ratios": [{"experiment": "unknown", "contender": "nobody", "against": "purlin", "ratio": 2}, {"ratio": 0}],
        "void": [{}], "problems": [{"experiment": "gone"}]
    });
    drive("odd", &[odd, json!("not a result"), json!({"results": {}})]);
}
