//! Opens the report page in Chromium and operates it.
//!
//! The pages are rendered from the stored results in `page`; the scenarios in the same folder open
//! them from disk and check one behaviour each.

use purlin_browser::{Browser, nothing};
use serde_json::{Value, json};

const STORED: &str = include_str!("page/results.json");

/// Files the scenarios need, including the scenarios themselves.
const FILES: &[(&str, &str)] = &[
    ("look.mjs", include_str!("page/look.mjs")),
    ("scenarios.mjs", include_str!("page/scenarios.mjs")),
    ("scenarios_views.mjs", include_str!("page/scenarios_views.mjs")),
    ("scenarios_access.mjs", include_str!("page/scenarios_access.mjs")),
    ("scenarios_tables.mjs", include_str!("page/scenarios_tables.mjs")),
    ("scenarios_others.mjs", include_str!("page/scenarios_others.mjs")),
    ("default.txt", include_str!("otp_text/default.txt")),
    ("crlf.txt", include_str!("otp_text/crlf.txt")),
    ("two_runs.txt", include_str!("otp_text/two_runs.txt")),
    ("large.txt", include_str!("otp_text/large.txt")),
    ("switching.txt", include_str!("otp_text/switching.txt")),
    ("broken_off.txt", include_str!("otp_text/broken_off.txt")),
    ("results.json", STORED),
];

/// Text that executes or creates elements if it is interpreted as markup.
const HOSTILE: &str = r#"</script><img src=x onerror="window.hostile=1"><!--<script>{a|b}"#;

fn stored() -> Value {
    serde_json::from_str(STORED).expect("the stored results are JSON")
}

/// Returns the stored results of these experiments only: a page with few charts renders much
/// faster.
fn only(experiments: &[&str]) -> Value {
    let mut results = stored();
    let kept = |id: &Value| id.as_str().is_some_and(|id| experiments.contains(&id));
    for list in ["results", "ratios", "absences"] {
        results[list].as_array_mut().expect("a list").retain(|one| kept(&one["experiment"]));
    }
    let list = results["experiments"].as_array_mut().expect("a list");
    list.retain(|experiment| kept(&experiment["id"]));
    results
}

/// Renders the results and runs a scenario on the page.
fn drive(scenario: &str, results: &[Value]) {
    static BROWSER: Browser = Browser::new(env!("CARGO_TARGET_TMPDIR"), "report-page", FILES);
    let page = BROWSER.write(&format!("{scenario}.html"), &purlin_lab::page::render(results));
    let page = page.to_str().expect("cargo's paths are text");
    BROWSER.operate(scenario, page, &Value::Null, nothing);
}

/// Appends the hostile text to every string that a reader may see.
fn poison(value: &mut Value) {
    match value {
        Value::String(text) => text.push_str(HOSTILE),
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                // Scales, directions and times are parsed, so they are left unchanged.
                if !matches!(name.as_str(), "scale" | "better" | "started") {
                    poison(&mut fields[name.as_str()]);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_chart_is_drawn_with_every_contender_in_its_legend() {
    drive("drawn", &[stored()]);
}

#[test]
fn axis_numbers_are_not_clipped_at_the_edge_of_a_chart() {
    let point = |experiment, x: Option<u32>, value: u32| {
        json!({"experiment": experiment, "contender": "beam", "params": {}, "x": x, "metric": "rate", "unit": "restarts/s",
               "better": "higher", "samples": [value], "median": value, "low": value, "high": value, "principal": false})
    };
    let results = [
        point("bars", None, 1_490_000),
        point("sweep", Some(1), 700_000),
        point("sweep", Some(1_500_000), 1_490_000),
    ];
    drive("edges", &[json!({"schema": 1, "results": results})]);
}

#[test]
fn legend_click_toggles_a_contender() {
    drive("legend", &[only(&["spawn-chain", "ping-pong", "fork-join"])]);
}

#[test]
fn switches_make_axes_logarithmic_and_report_omitted_points() {
    drive("switches", &[only(&["spawn-chain", "exchange", "serial-spawn", "ping-pong"])]);
}

#[test]
fn tooltip_shows_the_figures_of_a_point() {
    drive("tooltip", &[only(&["spawn-chain"])]);
}

#[test]
fn table_of_ratios_is_reached_and_sorted_by_keyboard() {
    drive("keyboard", &[stored()]);
}

#[test]
fn problems_invalid_samples_and_indistinguishable_contenders_are_listed() {
    drive("words", &[stored()]);
}

#[test]
fn at_phone_width_nothing_scrolls_sideways() {
    drive("phone", &[stored()]);
}

#[test]
fn dark_and_light_differ_by_preference_and_by_switch() {
    drive("themes", &[only(&["spawn-chain"])]);
}

#[test]
fn print_is_unfolded_and_light() {
    drive("paper", &[only(&["spawn-chain", "ping-pong"])]);
}

#[test]
fn raw_results_can_be_downloaded_unchanged() {
    drive("download", &[stored()]);
}

#[test]
fn chart_enters_and_leaves_full_screen() {
    drive("fullscreen", &[only(&["spawn-chain"])]);
}

#[test]
fn chart_covers_the_page_if_full_screen_is_unavailable_and_escape_leaves() {
    drive("covering", &[only(&["spawn-chain"])]);
}

#[test]
fn figures_are_shown_relative_to_the_worst_and_the_best_at_each_point() {
    drive("percentages", &[only(&["serial-spawn", "spawn-chain", "ping-pong"])]);
}

#[test]
fn sweep_is_drawn_as_lines_or_as_bars() {
    drive("kinds", &[only(&["spawn-chain"])]);
}

#[test]
fn points_are_spaced_by_x_or_equally() {
    drive("spacing", &[only(&["serial-spawn"])]);
}

#[test]
fn raw_samples_can_be_shown_as_dots() {
    drive("samples", &[only(&["spawn-chain", "ping-pong"])]);
}

#[test]
fn secondary_figure_of_a_run_can_be_drawn() {
    let mut results = only(&["serial-spawn"]);
    let list = results["results"].as_array_mut().expect("a list");
    list.extend([(1, 21), (10, 22)].map(|(x, p99)| {
        json!({"experiment": "serial-spawn", "contender": "beam", "params": {"m": x}, "x": x, "metric": "latency p99",
               "unit": "µs", "better": "lower", "samples": [p99], "median": p99, "low": p99, "high": p99, "principal": false})
    }));
    drive("figures", &[results]);
}

#[test]
fn link_stores_exactly_the_settings_changed() {
    drive("link", &[stored()]);
}

#[test]
fn invalid_link_opens_the_default_page() {
    drive("bad-links", &[only(&["spawn-chain"])]);
}

#[test]
fn link_scrolls_to_its_anchor_and_reload_keeps_the_position() {
    drive("places", &[stored()]);
}

#[test]
fn link_is_copied_or_shown_if_the_clipboard_is_refused() {
    drive("copy", &[only(&["ping-pong"])]);
}

#[test]
fn every_column_of_every_table_sorts_by_click_and_by_key() {
    drive("sorting", &[stored()]);
}

#[test]
fn samples_of_a_figure_are_shown_as_a_strip() {
    drive("strips", &[only(&["ping-pong"])]);
}

#[test]
fn matrix_shows_all_ratios_with_their_verdicts() {
    let mut results = stored();
    // The verdict stored in a file takes precedence over the interval.
    results["ratios"][0]["verdict"] = json!("indistinguishable");
    drive("glance", &[results]);
}

#[test]
fn warnings_machine_and_instrument_are_shown_at_the_top() {
    let mut results = stored();
    results["warnings"] = json!([
        {"kind": "machine-loaded", "experiment": null, "contender": null,
         "message": "the load was 3.2 on 2 cores.", "advice": "End what else runs."},
        {"kind": "drift", "experiment": "ping-pong", "contender": "beam", "message": "its later samples are slower.", "advice": ""},
    ]);
    let outliers = ["ping-pong", "throughput", "fan-in", "call"].map(|experiment| {
        json!({"kind": "outliers", "experiment": experiment, "contender": null,
               "message": format!("{experiment}: outliers: beam (1 of 11)"), "advice": "None is dropped."})
    });
    results["warnings"].as_array_mut().expect("a list").extend(outliers);
    results["host"]["fitness"] = json!({
        "load": [3.2, 2.0, 1.5], "busy_percent": 41.5, "busiest": [{"name": "rustc", "cores": 0.8}], "steal_percent": null,
        "turbo": true, "swap_used_bytes": 1_048_576
    });
    results["instrument"] = json!({
        "clock_resolution_ns": 20, "clock_cost_ns": 23.4, "request_overhead_us": 55,
        "requests": [{"contender": "beam", "overhead_us": 55}]
    });
    drive("top", &[results]);
}

#[test]
fn losses_are_listed_as_plainly_as_wins_with_sources_and_the_control_is_shown() {
    let mut results = only(&["ping-pong", "throughput"]);
    let mut ratios = results["ratios"].take();
    let find = |ratios: &mut Value, experiment, contender, verdict: &str| {
        let all = ratios.as_array_mut().expect("a list").iter_mut();
        let mut of =
            all.filter(|one| one["experiment"] == experiment && one["contender"] == contender);
        let ratio = of.next().expect("there is one");
        ratio["verdict"] = verdict.into();
        ratio.clone()
    };
    let equal = find(&mut ratios, "ping-pong", "tokio", "indistinguishable");
    let mut lost = find(&mut ratios, "throughput", "tokio", "better");
    (lost["ratio"], lost["low"], lost["high"]) = (json!(0.5), json!(0.48), json!(0.52));
    let won = ["ping-pong", "throughput"].map(|id| find(&mut ratios, id, "beam", "worse"));
    // The ratio is shown as it is, although the medians say the opposite.
    for result in results["results"].as_array_mut().expect("a list") {
        if result["experiment"] == "throughput" && result["contender"] == "tokio" {
            result["median"] = 1_000_000.into();
        }
    }
    let mut control = won[0].clone();
    (control["contender"], control["experiment"]) = ("tokio".into(), "tail-call".into());
    results["ratios"] = json!([equal, lost, won[0], won[1]]);
    results["control"] = json!({
        "experiment": "tail-call", "contenders": ["purlin", "tokio"], "spread": 1.5, "ratios": [control],
    });
    for contender in results["contenders"].as_array_mut().expect("a list") {
        let id = contender["id"].as_str().expect("a text").to_owned();
        contender["sources"] = json!({
            "throughput": format!("contenders/{id}/src/messages.rs"),
            "ping-pong": format!("contenders/../../{id}.rs"),
        });
    }
    drive("losses", &[results]);
}

#[test]
fn charts_and_controls_have_accessible_names() {
    drive("tree", &[stored()]);
}

#[test]
fn tab_key_reaches_every_control_once_with_visible_focus() {
    drive("keys", &[only(&["spawn-chain", "ping-pong"])]);
}

#[test]
fn page_has_no_animation() {
    drive("still", &[only(&["spawn-chain"])]);
}

#[test]
fn print_breaks_no_figure_or_row_and_has_no_controls() {
    drive("sheets", &[stored()]);
}

#[test]
fn nine_thousand_points_are_thinned_on_one_canvas_and_the_table_is_truncated() {
    // WHY 3000 each: the scenario hides one line, and the chart thins from 5001 points on.
    let lines = [("purlin", 1), ("beam", 7), ("tokio", 2)];
    let results: Vec<Value> = lines
        .iter()
        .flat_map(|(contender, factor)| {
            (1..=3000).map(move |x| {
                let value = f64::from(factor * (x + 200 + x * 7919 % 97));
                json!({"experiment": "many", "contender": contender, "params": {"n": x}, "x": x, "metric": "time",
                       "unit": "ns", "better": "lower", "samples": [value], "median": value,
                       "low": value * 0.98, "high": value * 1.02, "principal": false})
            })
        })
        .collect();
    drive("many", &[json!({"schema": 1, "results": results})]);
}

#[test]
fn pasted_otp_text_is_drawn_and_a_second_run_gets_distinct_labels() {
    drive("paste", &[only(&["ping-pong", "throughput"])]);
}

#[test]
fn comments_line_endings_and_blank_lines_in_pasted_text_are_ignored() {
    drive("forms", &[only(&["ping-pong"])]);
}

#[test]
fn malformed_pasted_text_is_refused_with_its_line_number() {
    drive("malformed", &[only(&["ping-pong"])]);
}

#[test]
fn dropped_and_chosen_files_are_added_to_the_charts_and_can_be_removed() {
    drive("files", &[only(&["spawn-chain"])]);
}

#[test]
fn file_dropped_on_a_covering_chart_uncovers_the_page() {
    drive("covered", &[only(&["spawn-chain"])]);
}

#[test]
fn otp_and_lab_lines_share_a_graph_and_their_common_figure() {
    let graph = "Send Throughput, send_duration=500 ms,  100.000000% {message_size,1}";
    let mut results = only(&["ping-pong"]);
    let list = results["results"].as_array_mut().expect("a list");
    for (metric, factor) in [("send throughput", 1), ("send throughput, as OTP computes it", 2)] {
        list.extend([1, 2, 4].map(|x| {
            let value = factor * x * 1_000_000;
            json!({"experiment": "signals", "contender": "beam", "variant": "off_heap", "graph": graph, "x": x,
                   "params": {"senders": x}, "metric": metric, "unit": "signals/s", "better": "higher",
                   "samples": [value], "median": value, "low": value, "high": value, "principal": false})
        }));
    }
    drive("shared", &[results]);
}

// The ladder from 22 thousand to 3 million, then and now
#[test]
fn ladder_shows_measured_servers_and_those_of_2015() {
    let mut results = only(&["ping-pong"]);
    let list = results["results"].as_array_mut().expect("a list");
    list.extend(
        [
            ("ack-request-reply", "purlin", 15e3),
            ("ack-sync-ack", "purlin", 20e6),
            ("ack-best", "purlin", 100e6),
            ("ack-request-reply", "beam", 14e3),
        ]
        .map(|(experiment, contender, rate)| {
            let (low, high) = (rate - rate / 10.0, rate + rate / 10.0);
            json!({"experiment": experiment, "contender": contender, "x": 1, "params": {"connections": 1},
                   "metric": "messages per second", "unit": "messages/s", "better": "higher",
                   "samples": [low, rate, high], "median": rate, "low": low, "high": high, "principal": true})
        }),
    );
    drive("ladder", &[results]);
}

#[test]
fn variants_are_shown_wherever_contenders_are_compared() {
    let mut results = only(&["ping-pong"]);
    let list = results["results"].as_array_mut().expect("a list");
    list.extend(
        [
            ("purlin", None, 24e6, true),
            ("beam", Some("default-buffer"), 12e6, true),
            ("beam", Some("buffer-64k"), 16e6, false),
        ]
        .map(|(contender, variant, rate, primary)| {
            json!({"experiment": "ack-sync-ack", "contender": contender, "variant": variant, "x": 1,
                   "params": {"connections": 1, "variant": variant},
                   "metric": "messages per second", "unit": "messages/s", "better": "higher",
                   "samples": [rate], "median": rate, "low": rate, "high": rate, "principal": primary})
        }),
    );
    let ratios = results["ratios"].as_array_mut().expect("a list");
    ratios.extend([(None, 2.0), (Some("buffer-64k"), 1.5)].map(|(variant, ratio)| {
        json!({"experiment": "ack-sync-ack", "contender": "beam", "variant": variant, "against": "purlin",
               "ratio": ratio, "low": ratio - 0.1, "high": ratio + 0.1, "verdict": "worse"})
    }));
    drive("variants", &[results]);
}

#[test]
fn hostile_text_in_the_results_stays_text() {
    let mut results = only(&["spawn-chain", "ping-pong"]);
    poison(&mut results);
    drive("hostile", &[results]);
}

#[test]
fn several_runs_share_charts_under_distinct_names() {
    let first = only(&["spawn-chain"]);
    let mut second = first.clone();
    second["started"] = json!("2026-11-22T17:30:00Z");
    drive("several", &[first, second]);
}

#[test]
fn a_page_without_any_result_says_so() {
    drive("empty", &[]);
}

#[test]
fn a_page_that_cannot_be_unpacked_says_so() {
    drive("packed", &[only(&["ping-pong"])]);
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
fn malformed_and_missing_data_do_not_affect_the_rest_of_the_page() {
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
