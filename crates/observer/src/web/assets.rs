//! Static files of the page. They contain no data of the node and need no token: the script that reads the token has to
//! be loaded first.

use axum::extract::{OriginalUri, Path};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;

const PAGE: &str = include_str!("../page/page.html");
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! files {
    ($($kind:ident: $($name:literal),+;)+) => {
        /// Each file: name, content type and text.
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

/// Serves the page. Its links are relative, so a path without a final `/`, at which a program may have mounted the
/// router, is redirected.
pub(crate) async fn page(OriginalUri(uri): OriginalUri) -> Response {
    if let Some((_, last)) = uri.path().rsplit_once('/')
        && !last.is_empty()
    {
        let to = [(LOCATION, format!("./{last}/"))];
        return (StatusCode::PERMANENT_REDIRECT, to).into_response();
    }
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

/// Serves a file of the page.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    let (_, kind, text) = found.ok_or_else(|| Refusal::gone("the page has no such file"))?;
    Ok(([(CONTENT_TYPE, *kind)], *text).into_response())
}

#[cfg(test)]
mod tests {
    use super::{FILES, PAGE};

    #[test]
    fn every_file_that_another_file_imports_is_served() {
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
    fn nothing_is_loaded_from_another_origin_and_no_text_becomes_markup() {
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
