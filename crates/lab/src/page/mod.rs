//! Report page: renders stored results as one self-contained HTML file.
//!
//! The commands that run experiments, and those that draw stored results, call [`render`]. The page
//! embeds its data, style, script and charting library; it opens from disk and makes no network
//! requests. This module neither reads nor writes files, and does not validate the results: the
//! script omits missing or malformed data, so a damaged file still gives a page.
//!
//! # Files of this folder
//!
//! | file | role |
//! |---|---|
//! | `page.html`, `page.css` | frame and style |
//! | `packed.rs` | compresses the library and the results |
//! | `dom.js`, `format.js`, `palette.js` | elements and their compressed data, numbers, colours and symbols |
//! | `model.js`, `series.js`, `graphs.js` | normalised results, their series, their graphs |
//! | `view.js`, `links.js`, `theme.js` | the reader's settings, and the link that stores them |
//! | `otp_records.js`, `otp_text.js`, `others.js` | text of OTP's suite; results added by the reader |
//! | `relative.js` | figures relative to the worst and to the best |
//! | `chart_parts.js`, `chart_sweep.js`, `chart_groups.js`, `chart_axes.js`, `chart_bars.js` | charts |
//! | `toolbar.js`, `fullscreen.js`, `describe.js`, `chart.js` | a chart with its controls and text description |
//! | `spread.js`, `facts.js`, `matrix.js` | strip plot of samples, facts in words, overview of all ratios |
//! | `ladder.js` | acknowledging servers, published in 2015 and measured now |
//! | `standing.js` | where the reference is behind and ahead, sources, control |
//! | `table.js`, `summary.js`, `section.js`, `printing.js`, `main.js` | tables, header, sections, printing, assembly |
//!
//! `build.rs` takes Apache ECharts from the package `charming`.

mod packed;

use serde_json::Value;

use packed::packed;

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const LIBRARY: &str = include_str!(concat!(env!("OUT_DIR"), "/echarts.min.js.gz.base64"));

/// The script's files, in dependency order.
const SCRIPT: [&str; 32] = [
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
    include_str!("standing.js"),
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
/// With several runs, each contender's name is preceded by the start time of its run; labels of
/// OTP's text, which has no start time, are unchanged. Any JSON value is accepted: data that does
/// not follow the result schema is omitted, and a page without results says so.
///
/// COST: 0.5 MB for library and script, plus the results as JSON, compressed; during rendering the
/// results are also held once as text.
pub fn render(results: &[Value]) -> String {
    let data = packed(&serde_json::to_vec(results).expect("values are JSON"));
    let mut page =
        String::with_capacity(FRAME.len() + STYLE.len() + LIBRARY.len() + data.len() + 65_536);
    let mut rest = FRAME;
    // WHY: a single pass over the frame. Replacing in the finished text would also replace marks
    // that occur in the results.
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

/// Appends the script's files as one function, which keeps their names out of the global scope.
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

    /// Returns the decompressed content of a script element.
    fn unpacked(page: &str, id: &str) -> String {
        let (_, after) = page.split_once(&format!(r#"id="{id}">"#)).expect("the page has it");
        let (text, _) = after.split_once("</script>").expect("the element ends");
        let bytes = STANDARD.decode(text).expect("it is base64");
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("it is gzip of text");
        text
    }

    /// Returns the results embedded in the page.
    fn data_of(page: &str) -> Value {
        serde_json::from_str(&unpacked(page, "purlin-results")).expect("the data are JSON")
    }

    #[test]
    fn page_without_results_is_complete() {
        let page = render(&[]);
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert_eq!(data_of(&page), json!([]));
        assert!(!FRAME.split("{{").skip(1).any(|mark| !mark.contains("}}")));
    }

    #[test]
    fn all_marks_of_the_frame_are_replaced() {
        let page = render(&[]);
        for name in ["style", "results", "library", "script"] {
            assert!(FRAME.contains(&format!("{{{{{name}}}}}")), "{name} is in the frame");
            assert!(!page.contains(&format!("{{{{{name}}}}}")), "{name} is left in the page");
        }
    }

    #[test]
    fn several_results_round_trip() {
        let results = [json!({"schema": 1, "seed": 7}), json!({"schema": 1, "seed": 8})];
        assert_eq!(data_of(&render(&results)), json!(results));
    }

    #[test]
    fn results_cannot_end_the_script_element() {
        let hostile = json!({"contenders": [{"notes": ["</script><img src=x onerror=alert(1)><!--<script>"]}]});
        let page = render(std::slice::from_ref(&hostile));
        assert!(!page.contains("<img src=x"));
        assert_eq!(page.matches("</script").count(), render(&[]).matches("</script").count());
        assert_eq!(data_of(&page), json!([hostile]));
    }

    #[test]
    fn mark_in_the_results_is_not_replaced() {
        let page = render(&[json!({"profile": "{{library}}"})]);
        assert_eq!(data_of(&page), json!([{"profile": "{{library}}"}]));
    }

    #[test]
    fn page_references_no_external_resources() {
        let page = render(&[]);
        for reference in
            ["src=\"", "@import", "url(", "http://", "https://", "fetch(", "XMLHttpRequest"]
        {
            // The namespace name of SVG is an identifier, not a reference.
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(reference);
            assert!(!found, "{reference} is in the page");
        }
    }

    #[test]
    fn library_is_complete_and_keeps_its_licence_notice() {
        let library = unpacked(&render(&[]), "purlin-library");
        assert!(library.trim_start().starts_with("/*") && library.len() > 1_000_000);
        assert!(library.contains("Licensed to the Apache Software Foundation"));
    }

    #[test]
    fn page_with_ten_thousand_samples_is_smaller_than_a_megabyte() {
        let samples: Vec<f64> = (0..10_000).map(|at| f64::from(at * 7919 % 10_007) / 7.0).collect();
        let page = render(&[json!({"results": [{"experiment": "ping-pong", "samples": samples}]})]);
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }
}
