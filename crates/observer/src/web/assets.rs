//! The page's own files. They hold nothing of the node, so they need no token: the script has to be there
//! before it can read one.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::answer::Refusal;

const PAGE: &str = include_str!("../page/page.html");
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($kind:ident: $($name:literal),+;)+) => {
        /// Each file by its name, with its type.
        const FILES: &[(&str, &str, &str)] = &[
            $($(($name, $kind, include_str!(concat!("../page/", $name)))),+),+
        ];
    };
}

const IMAGE: &str = "image/svg+xml";

files! {
    STYLE: "page.css", "views.css";
    IMAGE: "icon.svg";
    SCRIPT: "api.js", "chart.js", "dom.js", "format.js", "graph.js", "main.js", "sequence.js", "table.js",
        "theme.js", "view_cluster.js", "view_overview.js", "view_process.js", "view_processes.js",
        "view_servers.js", "view_trace.js", "view_tree.js", "view_warnings.js";
}

/// The page itself.
pub(crate) async fn page() -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

/// One of its files.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    let (_, kind, text) = found.ok_or_else(|| Refusal::gone("the page has no such file"))?;
    Ok(([(CONTENT_TYPE, *kind)], *text).into_response())
}

#[cfg(test)]
mod tests {
    use super::{FILES, PAGE};

    #[test]
    fn every_file_that_another_names_is_there() {
        let known = |name: &str| FILES.iter().any(|(known, _, _)| *known == name);
        for (file, _, text) in FILES {
            for part in text.split("from \"./").skip(1) {
                let name = part.split('"').next().unwrap_or_default();
                assert!(known(name), "{file} needs {name}");
            }
        }
        for part in PAGE.split("\"page/").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            assert!(known(name), "the page needs {name}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere_and_nothing_becomes_markup() {
        let sinks =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "url("];
        for (file, _, text) in FILES.iter().copied().chain([("page.html", "", PAGE)]) {
            let text = text.replace("http://www.w3.org/2000/svg", "");
            for needle in ["http://", "https://", "//cdn", "@import"].into_iter().chain(sinks) {
                assert!(!text.contains(needle), "{needle} is in {file}");
            }
        }
    }
}
