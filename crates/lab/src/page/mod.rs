//! The report page: stored results in, one self-contained HTML file out.
//!
//! The commands that run experiments and draw stored ones again call [`render`].
//! The page carries its data, its style, its script and the charting library,
//! opens from disk and asks for nothing over a network. This module never reads
//! or writes a file and never judges the results: what is missing or odd in
//! them is the script's to leave out, so that a damaged file still gives a page.
//!
//! # The files beside this one
//!
//! | file | role |
//! |---|---|
//! | `page.html`, `page.css` | the frame and its look |
//! | `packed.rs` | packs the library and the results |
//! | `dom.js`, `format.js`, `palette.js` | elements and what they carry packed, numbers, colours and symbols |
//! | `model.js`, `series.js`, `graphs.js` | results as read, made whole; their lines; their graphs |
//! | `view.js`, `links.js`, `theme.js` | what the reader chose, and the link that keeps it |
//! | `otp_records.js`, `otp_text.js`, `others.js` | text of OTP's suite; results that a reader adds |
//! | `relative.js` | figures as shares of the worst and of the best |
//! | `chart_parts.js`, `chart_sweep.js`, `chart_groups.js`, `chart_axes.js`, `chart_bars.js` | the pictures |
//! | `toolbar.js`, `fullscreen.js`, `describe.js`, `chart.js` | a chart with its controls and its description |
//! | `spread.js`, `facts.js`, `matrix.js` | samples as a strip, facts in words, all ratios at a glance |
//! | `ladder.js` | servers that acknowledge, in 2015 and now |
//! | `table.js`, `summary.js`, `section.js`, `printing.js`, `main.js` | the tables, the top, an experiment, paper, the whole |
//!
//! Apache ECharts comes out of the package `charming` by way of `build.rs`.

mod packed;

use serde_json::Value;

use packed::packed;

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.min.js.gz.base64"));

/// The script's files in the order in which they need one another.
const SCRIPT: [&str; 31] = [
    include_str!("dom.js"),
    include_str!("format.js"),
    include_str!("palette.js"),
    include_str!("model.js"),
    include_str!("otp_records.js"),
    include_str!("otp_text.js"),
    include_str!("view.js"),
    include_str!("relative.js"),
    include_str!("series.js"),
    include_str!("graphs.js"),
    include_str!("chart_parts.js"),
    include_str!("chart_sweep.js"),
    include_str!("chart_groups.js"),
    include_str!("chart_axes.js"),
    include_str!("chart_bars.js"),
    include_str!("describe.js"),
    include_str!("toolbar.js"),
    include_str!("links.js"),
    include_str!("fullscreen.js"),
    include_str!("chart.js"),
    include_str!("spread.js"),
    include_str!("facts.js"),
    include_str!("table.js"),
    include_str!("matrix.js"),
    include_str!("ladder.js"),
    include_str!("summary.js"),
    include_str!("section.js"),
    include_str!("theme.js"),
    include_str!("printing.js"),
    include_str!("others.js"),
    include_str!("main.js"),
];

/// Renders the page for one or more stored results.
///
/// With several runs each contender's name is preceded by the time of its run;
/// the labels of OTP's text, which has none, stay as they are. Any JSON value is
/// accepted: what does not follow the schema of a result is left out of the
/// page, and none at all gives a page that says so.
///
/// COST: half a megabyte for the library and the script; the results as JSON, packed, and before that
/// once as text.
#[must_use]
pub fn render(results: &[Value]) -> String {
    let data = packed(&serde_json::to_vec(results).expect("values are JSON"));
    let mut page =
        String::with_capacity(FRAME.len() + STYLE.len() + LIBRARY.len() + data.len() + 65_536);
    let mut rest = FRAME;
    // WHY: one pass over the frame alone. Replacing in the finished text would
    // also find a mark that happens to stand in somebody's results.
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "style" => page.push_str(STYLE),
            "results" => page.push_str(&data),
            "library" => page.push_str(LIBRARY),
            "script" => push_script(&mut page),
            _ => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// The script's files as one function, so that their names stay their own.
fn push_script(page: &mut String) {
    page.push_str("(() => {\n\"use strict\";\n");
    for file in SCRIPT {
        page.push_str(file);
    }
    page.push_str("})();");
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use flate2::read::GzDecoder;
    use serde_json::json;

    use super::*;

    /// What the page's script will find in an element.
    fn unpacked(page: &str, id: &str) -> String {
        let (_, after) = page.split_once(&format!(r#"id="{id}">"#)).expect("the page has it");
        let (text, _) = after.split_once("</script>").expect("the element ends");
        let bytes = STANDARD.decode(text).expect("it is base64");
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("it is gzip of text");
        text
    }

    /// What the page's script will parse.
    fn data_of(page: &str) -> Value {
        serde_json::from_str(&unpacked(page, "purlin-results")).expect("the data are JSON")
    }

    #[test]
    fn no_results_still_give_a_whole_page() {
        let page = render(&[]);
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert_eq!(data_of(&page), json!([]));
        assert!(!FRAME.split("{{").skip(1).any(|mark| !mark.contains("}}")));
    }

    #[test]
    fn every_mark_of_the_frame_is_replaced() {
        let page = render(&[]);
        for name in ["style", "results", "library", "script"] {
            assert!(FRAME.contains(&format!("{{{{{name}}}}}")), "{name} is in the frame");
            assert!(!page.contains(&format!("{{{{{name}}}}}")), "{name} is left in the page");
        }
    }

    #[test]
    fn several_results_come_back_as_they_went_in() {
        let results = [json!({"schema": 1, "seed": 7}), json!({"schema": 1, "seed": 8})];
        assert_eq!(data_of(&render(&results)), json!(results));
    }

    #[test]
    fn text_that_would_end_the_script_stays_text() {
        let hostile = json!({"contenders": [{"notes": ["</script><img src=x onerror=alert(1)><!--<script>"]}]});
        let page = render(std::slice::from_ref(&hostile));
        assert!(!page.contains("<img src=x"));
        assert_eq!(page.matches("</script").count(), render(&[]).matches("</script").count());
        assert_eq!(data_of(&page), json!([hostile]));
    }

    #[test]
    fn a_mark_in_the_results_is_not_replaced() {
        let page = render(&[json!({"profile": "{{library}}"})]);
        assert_eq!(data_of(&page), json!([{"profile": "{{library}}"}]));
    }

    #[test]
    fn nothing_in_the_page_is_loaded_from_elsewhere() {
        let page = render(&[]);
        for reference in
            ["src=\"", "@import", "url(", "http://", "https://", "fetch(", "XMLHttpRequest"]
        {
            // The name of the SVG language is an identifier that happens to look like an address.
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(reference);
            assert!(!found, "{reference} is in the page");
        }
    }

    #[test]
    fn the_library_is_whole_and_keeps_its_notice() {
        let library = unpacked(&render(&[]), "purlin-library");
        assert!(library.trim_start().starts_with("/*") && library.len() > 1_000_000);
        assert!(library.contains("Licensed to the Apache Software Foundation"));
    }

    #[test]
    fn a_page_with_ten_thousand_samples_stays_under_a_megabyte() {
        let samples: Vec<f64> = (0..10_000).map(|at| f64::from(at * 7919 % 10_007) / 7.0).collect();
        let page = render(&[json!({"results": [{"experiment": "ping-pong", "samples": samples}]})]);
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
}
